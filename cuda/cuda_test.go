//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda/standin"
)

// opener opens the backend on stand-in libraries.
func opener(c *standin.Control, v standin.Variant) func() (backend.Backend, error) {
	dir := c.Dir(v)
	return func() (backend.Backend, error) { return Open(Options{LibDir: dir}) }
}

func TestBackend(t *testing.T) {
	for _, family := range []int{12, 13} {
		t.Run(fmt.Sprint("CUDA ", family), func(t *testing.T) {
			c := standin.Open(t)
			backendtest.Run(t, opener(c, standin.Variant{Family: family}), backendtest.Tolerances{Float32: 1, Float64: 1})
		})
	}
}

// TestFamilies has the same bytes from the libraries of both.
func TestFamilies(t *testing.T) {
	c := standin.Open(t)
	backendtest.Identical(t, opener(c, standin.Variant{Family: 12}), opener(c, standin.Variant{Family: 13}))
}

// TestSteps trains ten steps beside the CPU.
func TestSteps(t *testing.T) {
	c := standin.Open(t)
	backendtest.Steps(t, 1, func() (backend.Backend, error) { return cpu.Open(1) }, opener(c, standin.Variant{Family: 12}))
}
