package backend

import (
	"errors"
	"fmt"
)

// ErrUnavailable is wrapped by the error of a constructor where the build or the machine lacks the device.
var ErrUnavailable = errors.New("not available")

// ErrNoDriver is an [ErrUnavailable] for a machine without a driver for the device, as most machines without the device
// are.
var ErrNoDriver = fmt.Errorf("%w", ErrUnavailable)

// Open opens a device, or says why it cannot.
type Open func() (Device, error)

// Choice is a selected device and the reason for it.
type Choice struct {
	Device Device
	Reason string
}

// Select opens a device of the backend called name. "cpu" and "cuda" open that backend or fail. "auto" opens CUDA if it
// can and otherwise the CPU, with the error of CUDA as the reason, shortened if there is no driver. cuda may be nil in
// a build without CUDA.
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
