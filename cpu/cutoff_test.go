package cpu

import (
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/internal/must"
)

// rounding is a device whose pseudo-inverses cut off as if every singular value were off by the factor.
type rounding struct {
	backend.Device
	factor float64
}

func (d *rounding) NewQueue() (backend.Queue, error) {
	q, err := d.Device.NewQueue()
	return &roundingQueue{q, d}, err
}

type roundingQueue struct {
	backend.Queue
	of *rounding
}

func (q *roundingQueue) Device() backend.Device { return q.of }

func (q *roundingQueue) Pinv(a backend.Matrix, rcond float64, dst backend.Matrix) (int, error) {
	return q.Queue.Pinv(a, rcond/q.of.factor, dst)
}

// cases runs only the groups of the suite that test pseudo-inverses, and counts the cases that fail.
type cases struct {
	*testing.T
	failed *int
}

type ended struct{}

func (c cases) Run(name string, f func(cases)) bool {
	if name == "Pinv" || name == "Cutoff" || name == "Boundary" {
		defer func() {
			if v := recover(); v != nil && v != (ended{}) {
				panic(v)
			}
		}()
		f(c)
	}
	return true
}

func (c cases) Failed() bool { return false }
func (c cases) Fatalf(string, ...any) {
	*c.failed++
	panic(ended{})
}

// TestCutoffRounding runs the suite on devices whose singular values are off. Values that are off in their last digits
// may fall on either side of a cut-off if the tolerance LAPACK allows for it; values that are off by more fail.
func TestCutoffRounding(t *testing.T) {
	for _, x := range []struct {
		off, lapack float64
		fails       bool
	}{
		{0, 0, false}, {0, 1, false}, {0x1p-51, 0, true}, {0x1p-51, 1, false}, {-0x1p-51, 1, false}, {0x1p-42, 1, true}, {-0x1p-42, 1, true},
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			failed := 0
			open := func() (backend.Device, error) { return &rounding{must.Get(Open(1))(t), 1 + x.off}, nil }
			backendtest.Run(cases{t, &failed}, open, backendtest.Tolerances{Float32: 1, Float64: 1, LAPACK: x.lapack})
			must.Equal(t, failed > 0, x.fails, "the suite fails")
		})
	}
}
