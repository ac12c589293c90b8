package cpu

import (
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/internal/must"
)

func open(threads int) backend.Open {
	return func() (backend.Device, error) { return Open(threads) }
}

// openQueue starts the queue of a device that is open for the time of a test.
func openQueue(t testing.TB, threads int) *queue {
	t.Helper()
	dev := must.Get(Open(threads))(t)
	t.Cleanup(func() { dev.Close() })
	q := must.Get(dev.NewQueue())(t)
	return q.(*queue)
}

func TestConformance(t *testing.T) {
	backendtest.Run(t, open(3), backendtest.Tolerances{Float32: 1, Float64: 1})
}

func TestThreads(t *testing.T) {
	backendtest.Identical(t, open(1), open(2), open(7))
}

func TestSteps(t *testing.T) { backendtest.Steps(t, 0, open(1), open(3)) }

func Benchmark(b *testing.B) { backendtest.Benchmark(b, open(0)) }
