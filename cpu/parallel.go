package cpu

import (
	"sync"
	"sync/atomic"

	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// grain is the work, in multiply-adds or elements moved, that is worth a
// goroutine: some tens of microseconds.
const grain = 1 << 17

// parallel calls body once for each chunk, on up to d.threads goroutines that
// take the next chunk when they finish one. It is not fixed which goroutine runs
// a chunk, or when. So a result must depend on its chunk alone: partial sums are
// stored by chunk, and the caller adds them in order afterwards. work estimates the
// cost of all chunks together, in units of grain, to keep small calls on one
// goroutine.
func (d *device) parallel(chunks, work int, body func(chunk int)) {
	workers := min(d.threads, chunks, 1+work/grain)
	if workers <= 1 {
		for i := range chunks {
			body(i)
		}
		return
	}
	var next atomic.Int64
	loop := func() {
		for i := int(next.Add(1)) - 1; i < chunks; i = int(next.Add(1)) - 1 {
			body(i)
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(loop)
	}
	loop()
	wg.Wait()
}

// span returns the part lo to hi-1 of 0 to n-1 that chunk i of the given size covers.
func span(i, size, n int) (lo, hi int) { return i * size, min(n, (i+1)*size) }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// scratch keeps buffers between calls, so that the hot path allocates nothing.
type scratch struct {
	f32  vec.Buffers[float32]
	f64  vec.Buffers[float64]
	conv convSlab
}
