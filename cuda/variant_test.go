//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// TestUnavailable opens libraries and devices that cannot work.
func TestUnavailable(t *testing.T) {
	for _, x := range []struct {
		name    string
		variant standin.Variant
		orders  []string
		want    error // an error in the chain
		text    string
	}{
		{"no cuSOLVER", standin.Variant{Absent: []string{"cusolver"}}, nil, nv.ErrNotFound, "libcusolver"},
		{"no driver function", standin.Variant{Without: []string{"cuLaunchKernel"}}, nil, nv.ErrLoad, "cuLaunchKernel"},
		{"no cuBLAS function", standin.Variant{Without: []string{"cublasDgeam"}}, nil, nv.ErrLoad, "cublasDgeam"},
		{"no cuSOLVER function", standin.Variant{Without: []string{"cusolverDnDgesvd"}}, nil, nv.ErrLoad, "cusolverDnDgesvd"},
		{"a stub", standin.Variant{Stub: true}, nil, nv.ErrStub, "stub"},
		{"an old cuBLAS", standin.Variant{Claims: map[string]int{"cublas": 11}}, nil, nv.ErrVersion, "11"},
		{"no device", standin.Variant{}, []string{"devices=0"}, nv.ErrNoDevice, "CUDA_VISIBLE_DEVICES"},
		{"an old driver", standin.Variant{}, []string{"driver=11080"}, nv.ErrVersion, "11.8"},
		{"an old device", standin.Variant{}, []string{"cc=3.5"}, nil, "3.5"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := standin.Open(t)
			dir := c.Dir(x.variant)
			c.Order(x.orders...)
			b, err := Open(Options{LibDir: dir})
			if err == nil {
				b.Close()
			}
			if !errors.Is(err, backend.ErrUnavailable) || x.want != nil && !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) {
				t.Errorf("found %v", err)
			}
			if r := Probe(dir); x.name != "an old device" && (!errors.Is(r.Err, backend.ErrUnavailable) || len(r.Search) == 0) {
				t.Errorf("Probe found %+v", r)
			}
		})
	}
	c := standin.Open(t)
	for _, ordinal := range []int{-1, 1, 1 << 40} {
		must.Is(t, must.Err(Open(Options{Device: ordinal, LibDir: c.Dir(standin.Variant{})})), nv.ErrNoDevice, "device %d of 1", ordinal)
	}
}

// TestTF32Override opens devices where the environment contradicts the options.
func TestTF32Override(t *testing.T) {
	dir := standin.Open(t).Dir(standin.Variant{})
	for _, x := range []struct {
		value string
		tf32  bool
		works bool
	}{{"", false, true}, {"", true, true}, {"0", false, true}, {"0", true, false}, {"1", false, false}, {"1", true, true}} {
		t.Setenv("NVIDIA_TF32_OVERRIDE", x.value)
		b, err := Open(Options{LibDir: dir, TF32: x.tf32})
		if err == nil {
			b.Close()
		}
		if x.works != (err == nil) || err != nil && !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// TestEmulation opens devices where the environment asks cuBLAS to emulate products.
func TestEmulation(t *testing.T) {
	dir := standin.Open(t).Dir(standin.Variant{})
	for _, name := range []string{"CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"} {
		for value, works := range map[string]bool{"": true, "0": true, "1": false, "true": false} {
			t.Setenv(name, value)
			for _, tf32 := range []bool{false, true} {
				b, err := Open(Options{LibDir: dir, TF32: tf32})
				if err == nil {
					b.Close()
				}
				if works != (err == nil) || err != nil && (!errors.Is(err, backend.ErrUnavailable) || !strings.Contains(err.Error(), name)) {
					t.Errorf("%s is %q, TF32 %v: %v", name, value, tf32, err)
				}
			}
		}
		t.Setenv(name, "")
	}
}

// TestWithoutGraphs runs programs with a driver that has no graphs.
func TestWithoutGraphs(t *testing.T) {
	c := standin.Open(t)
	with, without := opener(c, standin.Variant{}), opener(c, standin.Variant{Without: []string{"cuGraphLaunch"}})
	b := must.Get(scenario(without))(t)
	must.Equal(t, GraphsOf(b.dev), Graphs{}, "the counts")
	b.Close()
	must.Hold(t, c.Calls("cuStreamBeginCapture_v2") == 0, "a stream was captured")
	backendtest.Identical(t, with, without)
}

// TestOptionalFunctions opens libraries without their optional functions.
func TestOptionalFunctions(t *testing.T) {
	c := standin.Open(t)
	b, err := scenario(opener(c, standin.Variant{Without: []string{
		"cuDeviceGetUuid_v2", "cuDeviceGetUuid", "cuDeviceGetPCIBusId", "cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxSetFlags_v2",
		"cuModuleLoadDataEx", "cuStreamQuery", "nvrtcGetNumSupportedArchs", "nvrtcGetPTX",
	}}))
	must.Do(t, err)
	b.Close()
}

// TestNewerDevice opens a device that NVRTC does not know: the kernels are compiled to PTX.
func TestNewerDevice(t *testing.T) {
	c := standin.Open(t)
	c.Order("cc=99.0")
	b := must.Get(scenario(opener(c, standin.Variant{})))(t)
	b.Close()
	must.Hold(t, c.Calls("nvrtcGetPTX") != 0 || c.Calls("nvrtcCompileProgram") <= 0, "the code was not PTX")
}

func TestProbe(t *testing.T) {
	c := standin.Open(t)
	dir := c.Dir(standin.Variant{})
	c.Order("devices=2", "cc=8.6")
	r := Probe(dir)
	if r.Err != nil || r.Family != 13 || r.Driver != "13.0" || len(r.Devices) != 2 || len(r.Search) == 0 || len(r.Libraries) < 5 {
		t.Fatalf("Probe found %+v", r)
	}
	for i, d := range r.Devices {
		if d.Ordinal != i || d.Name == "" || d.ComputeCapability != "8.6" || d.MemoryBytes <= 0 || d.Multiprocessors <= 0 {
			t.Errorf("device %d is %+v", i, d)
		}
	}
	must.Equal(t, c.Live(), (standin.Live{}), "what Probe made")
	b := must.Get(Open(Options{Device: 1, LibDir: dir, TF32: true}))(t)
	defer b.Close()
	if i := b.Info(); i.Backend != "cuda" || i.Device != r.Devices[1].Name || i.MemoryBytes != r.Devices[1].MemoryBytes ||
		!strings.Contains(i.Detail, "TF32") || !strings.Contains(i.Detail, "cublas 13") || !strings.Contains(i.Detail, "CUDA 13.0") {
		t.Errorf("Info is %+v", i)
	}
}
