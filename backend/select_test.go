package backend_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
)

// opened is an open device, told from others by its name.
type opened struct {
	backend.Device
	name string
}

func TestSelect(t *testing.T) {
	cpu, cuda := &opened{name: "cpu"}, &opened{name: "cuda"}
	errCPU, errCUDA := errors.New("no memory"), fmt.Errorf("libcuda.so.1: %w", backend.ErrUnavailable)
	open := func(b backend.Device, err error) backend.Open {
		return func() (backend.Device, error) { return b, err }
	}
	never := func() (backend.Device, error) {
		t.Error("opened a backend that was not asked for")
		return nil, errors.New("not asked for")
	}
	for _, c := range []struct {
		name      string
		cpu, cuda backend.Open
		want      backend.Device
		err       error
		reason    string
	}{
		{"cpu", open(cpu, nil), never, cpu, nil, "asked for"},
		{"cpu", open(nil, errCPU), never, nil, errCPU, ""},
		{"cuda", never, open(cuda, nil), cuda, nil, "asked for"},
		{"cuda", never, open(nil, errCUDA), nil, errCUDA, ""},
		{"cuda", never, nil, nil, backend.ErrUnavailable, ""},
		{"auto", never, open(cuda, nil), cuda, nil, "CUDA"},
		{"auto", open(cpu, nil), open(nil, errCUDA), cpu, nil, "libcuda.so.1"},
		{"auto", open(cpu, nil), open(nil, fmt.Errorf("libcuda.so.1: %w", backend.ErrNoDriver)), cpu, nil, "no NVIDIA driver found"},
		{"cuda", never, open(nil, backend.ErrNoDriver), nil, backend.ErrUnavailable, ""},
		{"auto", open(cpu, nil), nil, cpu, nil, "no CUDA backend"},
		{"auto", open(nil, errCPU), open(nil, errCUDA), nil, errCPU, ""},
	} {
		got, err := backend.Select(c.name, c.cpu, c.cuda)
		if got.Device != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v, expected %v, %v", c.name, got.Device, err, c.want, c.err)
		}
		if c.err == nil && !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: reason %q, expected one with %q", c.name, got.Reason, c.reason)
		}
	}
}

func TestSelectUnknown(t *testing.T) {
	for _, name := range []string{"", "CPU", "rocm"} {
		_, err := backend.Select(name, nil, nil)
		must.Fail(t, fmt.Sprintf("%q", name), err, fmt.Sprintf("%q", name), "auto, cpu or cuda")
	}
}
