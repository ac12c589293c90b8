package vec

import "sync"

// Buffers keeps memory between calls, so that the hot path allocates nothing.
type Buffers[E any] struct{ pool sync.Pool }

var (
	scratch Buffers[float32]
	doubles Buffers[float64]
)

// Get returns a buffer of n elements of any value.
func (b *Buffers[E]) Get(n int) *[]E {
	buf, ok := b.pool.Get().(*[]E)
	if !ok {
		buf = new([]E)
	}
	if cap(*buf) < n {
		*buf = make([]E, n)
	}
	*buf = (*buf)[:n]
	return buf
}

// Put takes a buffer of Get back.
func (b *Buffers[E]) Put(buf *[]E) { b.pool.Put(buf) }

func getScratch(n int) *[]float32 { return scratch.Get(n) }

func putScratch(buf *[]float32) { scratch.Put(buf) }
