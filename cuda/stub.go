//go:build !linux || !cgo || !(amd64 || arm64)

package cuda

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// Open returns an error: this build has no CUDA.
func Open(Options) (backend.Device, error) {
	return nil, fmt.Errorf("cuda: %w: %w", backend.ErrUnavailable, nv.ErrUnsupported)
}

// Probe reports that this build has no CUDA.
func Probe(string) Report {
	_, err := Open(Options{})
	return Report{Err: err}
}
