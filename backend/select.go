package backend

import (
	"errors"
	"fmt"
)

// ErrUnavailable is wrapped by a constructor whose device this build or this
// machine does not have.
var ErrUnavailable = errors.New("not available")

// ErrNoDriver is ErrUnavailable on a machine without a driver for such devices, as most without such a device are.
var ErrNoDriver = fmt.Errorf("%w", ErrUnavailable)

// Open opens a device, or says why it cannot.
type Open func() (Device, error)

// Choice is a selected device and the reason for it.
type Choice struct {
	Device Device
	Reason string
}

// Select opens a device of the backend that name asks for. "cpu" and "cuda" open
// that one or fail. "auto" takes CUDA where it opens and otherwise the CPU; the reason
// then tells what CUDA said, in short where there is no driver. cuda may be nil in a build without it.
func Select(name string, cpu, cuda Open) (Choice, error) {
	if cuda == nil {
		cuda = func() (Device, error) {
			return nil, fmt.Errorf("cuda: %w: this build has no CUDA backend", ErrUnavailable)
		}
	}
	switch name {
	case "cpu":
		d, err := cpu()
		return Choice{d, "asked for"}, err
	case "cuda":
		d, err := cuda()
		return Choice{d, "asked for"}, err
	case "auto":
		d, cudaErr := cuda()
		if cudaErr == nil {
			return Choice{d, "a CUDA device works"}, nil
		}
		d, err := cpu()
		if errors.Is(cudaErr, ErrNoDriver) {
			return Choice{d, "no NVIDIA driver found"}, err
		}
		return Choice{d, cudaErr.Error()}, err
	}
	return Choice{}, fmt.Errorf("unknown backend %q: expected auto, cpu or cuda", name)
}
