package cpu

import (
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/internal/must"
)

// rounding is a device whose pseudo-inverses have singular values that are off by a factor.
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

// cases runs the pseudo-inverses of the suite alone, and notes how often they fail.
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

// TestCutoffRounding has singular values that are right but for their last digits, which may fall on either side of a
// cut-off where the suite is told of it, and not where values are off by more.
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
