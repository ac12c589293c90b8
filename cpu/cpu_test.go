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

// openQueue opens a device, which is closed when the test ends, and returns a queue of it.
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

// withoutLoans wraps a device so that its queues take no loans.
type withoutLoans struct{ backend.Device }

func (d withoutLoans) NewQueue() (backend.Queue, error) {
	q, err := d.Device.NewQueue()
	return struct{ backend.Queue }{q}, err
}

// A device whose queues take loans and one whose queues do not compute the same bytes.
func TestIdenticalWithoutLoans(t *testing.T) {
	bare := func() (backend.Device, error) {
		d, err := Open(2)
		return withoutLoans{d}, err
	}
	d := must.Get(bare())(t)
	defer d.Close()
	_, lends := must.Get(d.NewQueue())(t).(backend.Lender)
	must.Hold(t, !lends, "the device takes loans: the test tests nothing")
	backendtest.Identical(t, open(2), bare)
	backendtest.Identical(t, bare, open(1))
}

func TestSteps(t *testing.T) { backendtest.Steps(t, 0, open(1), open(3)) }

func Benchmark(b *testing.B) { backendtest.Benchmark(b, open(0)) }
