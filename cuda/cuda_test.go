//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// opener returns a function that opens a device on stand-in libraries.
func opener(c *standin.Control, v standin.Variant) backend.Open {
	dir := c.Dir(v)
	return func() (backend.Device, error) { return Open(Options{LibDir: dir}) }
}

// opened is a queue. Its Close closes the device, and with it the queue.
type opened struct {
	*queue
}

func (o opened) Close() error { return o.dev.Close() }

// open opens a device and starts a queue.
func open(dev backend.Open) (*opened, error) {
	d, err := dev()
	if err != nil {
		return nil, err
	}
	q, err := d.NewQueue()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &opened{q.(*queue)}, nil
}

// openQueue opens a device that is closed when the test ends, and returns a queue of it.
func openQueue(t *testing.T, dev backend.Open) *opened {
	t.Helper()
	o := must.Get(open(dev))(t)
	t.Cleanup(func() { o.Close() })
	return o
}

// another starts another queue of the device.
func (o *opened) another(t *testing.T) backend.Queue {
	t.Helper()
	return must.Get(o.dev.NewQueue())(t)
}

// full returns dev with no room for pools on the device, nor for the rows that are drawn from them.
func full(dev backend.Open) backend.Open {
	return func() (backend.Device, error) {
		d, err := dev()
		if err == nil {
			d.(*device).withheld = math.MaxInt32 << 20
		}
		return d, err
	}
}

// TestBackend runs the conformance suite: with the newer family rows are streamed from lent pools, with the other they
// are on the device.
func TestBackend(t *testing.T) {
	rng := testrand.New(t)
	for _, family := range must.Some(rng, 1, 12, 13) { // TestFamilies compares their bytes
		t.Run(fmt.Sprint("CUDA ", family), func(t *testing.T) {
			c := standin.Open(t)
			dev := opener(c, standin.Variant{Family: family})
			if family == 13 {
				dev = full(dev)
			}
			backendtest.Run(t, dev, backendtest.Tolerances{Float32: 1, Float64: 1})
		})
	}
}

// TestFamilies checks that the libraries of both families give the same bytes, wherever the rows are.
func TestFamilies(t *testing.T) {
	c := standin.Open(t)
	backendtest.Identical(t, opener(c, standin.Variant{Family: 12}), full(opener(c, standin.Variant{Family: 13})))
}

// TestSteps compares ten steps of training with the CPU.
func TestSteps(t *testing.T) {
	c := standin.Open(t)
	backendtest.Steps(t, 1, func() (backend.Device, error) { return cpu.Open(1) }, opener(c, standin.Variant{Family: 12}))
}

// With this seed two values of a window are the same up to rounding, on the processors where that was seen.
func TestStepsOfTies(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestSteps$")
	cmd.Env = append(os.Environ(), testrand.Variable+"=10865510640015886272")
	out, err := cmd.CombinedOutput()
	must.Hold(t, err == nil, "%v\n%s", err, out)
}
