//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// Open opens a device and tests that it computes. Where the driver, a library or the device is
// missing, the error wraps [backend.ErrUnavailable] and tells what was found.
func Open(o Options) (backend.Device, error) {
	if err := o.overridden(); err != nil {
		return nil, unavailable(err)
	}
	lib, _, err := nv.Open(nv.Options{Dir: o.LibDir})
	if err != nil {
		return nil, unavailable(err)
	}
	d, err := newDevice(lib, o)
	if err != nil {
		return nil, unavailable(err)
	}
	if err := d.selfTest(); err != nil {
		return nil, errors.Join(unavailable(err), d.Close())
	}
	return d, nil
}

// selfTest compiles and loads a kernel, runs it on a queue and reads what it wrote, so that a
// device that does not work is not chosen.
func (d *device) selfTest() error {
	q, err := startQueue(d)
	if err != nil {
		return err
	}
	err = q.compute("Open", func(w *scratch) {
		at := w.floats(1)
		w.launch(kernels.Fill(kernels.Float64, 1, math.Pi, kernels.Ptr(at)))
		var got [1]float64
		w.read(bytesOf(got[:]), at)
		if w.err == nil && got[0] != math.Pi {
			w.err = fmt.Errorf("a kernel wrote %v, not %v", got[0], math.Pi)
		}
	})
	return errors.Join(err, q.close())
}

func unavailable(err error) error {
	what := backend.ErrUnavailable
	if errors.Is(err, nv.ErrNoDriver) {
		what = backend.ErrNoDriver
	}
	return fmt.Errorf("cuda: %w: %w", what, err)
}

// overridden returns an error where an environment variable makes cuBLAS compute in another
// precision than o asks for.
func (o Options) overridden() error {
	// With these, cuBLAS 13 composes a product from products in smaller formats.
	for _, name := range []string{"CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"} {
		if v := os.Getenv(name); v != "" && v != "0" {
			return fmt.Errorf("%s is %s, which lets cuBLAS emulate products instead of computing them: unset it", name, v)
		}
	}
	const name = "NVIDIA_TF32_OVERRIDE"
	switch v := os.Getenv(name); {
	case v == "" || (v != "0") == o.TF32:
		return nil
	case o.TF32:
		return fmt.Errorf("%s is %s, which keeps cuBLAS from TF32: unset it, or do not ask for TF32", name, v)
	default:
		return fmt.Errorf("%s is %s, which makes cuBLAS round to TF32: unset it, or ask for TF32", name, v)
	}
}

// newDevice returns the device of o, described and with its primary context retained.
func newDevice(lib *nv.Library, o Options) (*device, error) {
	driver := lib.Driver
	n, err := driver.DeviceGetCount()
	if err != nil {
		return nil, err
	}
	if o.Device < 0 || o.Device >= n {
		return nil, noDevice(o.Device, n)
	}
	d := &device{lib: lib, tf32: o.TF32, live: make(map[owned]int64)}
	if d.id, err = driver.DeviceGet(o.Device); err != nil {
		return nil, err
	}
	about, err := describe(lib, o.Device)
	if err != nil {
		return nil, err
	}
	d.about, d.counted.n.Supported = about, driver.HasGraphs
	d.info = backend.Info{
		Backend: "cuda", Device: about.Name, Detail: detail(lib, about, o.TF32), Precision: precision(o.TF32),
		Threads: o.Threads, MemoryBytes: about.MemoryBytes,
	}
	if err := d.kernels.prepare(lib, about); err != nil {
		return nil, err
	}
	d.slab = min(maxSlab, about.MemoryBytes/128)
	d.pool.cached = make(map[int64][]block)
	d.pool.alloc, d.pool.free = d.allocate, driver.MemFree
	d.ctx, err = retain(lib, d.id)
	return d, err
}

func noDevice(want, n int) error {
	if n == 0 {
		return fmt.Errorf("%w: the driver sees none; check nvidia-smi and CUDA_VISIBLE_DEVICES", nv.ErrNoDevice)
	}
	return fmt.Errorf("%w %d: the driver sees %d, numbered from 0", nv.ErrNoDevice, want, n)
}

func detail(lib *nv.Library, about DeviceInfo, tf32 bool) string {
	s := fmt.Sprintf("compute capability %s, driver for CUDA %s", about.ComputeCapability, version(lib.DriverVersion))
	for _, f := range lib.Files {
		if f.Version != "" && f.Name != "driver" {
			s += ", " + f.Name + " " + f.Version
		}
	}
	if tf32 {
		return s + ", TF32"
	}
	return s + ", float32"
}

func precision(tf32 bool) string {
	if tf32 {
		return "TF32 in matrix products and convolutions, else float32, float64 for reductions and solves"
	}
	return "float32, float64 for reductions and solves"
}

func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
