package cpu

import (
	"sync"
	"sync/atomic"
)

// grain is the work, in multiply-adds or elements moved, that is worth a
// goroutine: some tens of microseconds.
const grain = 1 << 17

// parallel calls body once for each chunk, on up to d.threads goroutines that
// take the next chunk when they finish one. Which goroutine runs a chunk, and
// when, is open; so a result must depend on the chunk alone, partial sums are
// stored by chunk and added in order by the caller afterwards. work estimates
// the cost of all chunks together, to keep small calls on one goroutine.
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

// span is the part of 0..n that chunk i of the given size covers.
func span(i, size, n int) (lo, hi int) { return i * size, min(n, (i+1)*size) }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// scratch lends buffers between calls, so that the hot path allocates nothing.
type scratch struct {
	f32  slab[float32]
	f64  slab[float64]
	conv convSlab
}

type slab[E any] struct{ pool sync.Pool }

// get returns a buffer of n elements that hold anything.
func (s *slab[E]) get(n int) *[]E {
	buf, ok := s.pool.Get().(*[]E)
	if !ok {
		buf = new([]E)
	}
	if cap(*buf) < n {
		*buf = make([]E, n)
	}
	*buf = (*buf)[:n]
	return buf
}

func (s *slab[E]) put(buf *[]E) { s.pool.Put(buf) }
