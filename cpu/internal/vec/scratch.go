package vec

import "sync"

// buffers hold scratch between calls.
type buffers[E any] struct{ sync.Pool }

var (
	scratch buffers[float32]
	doubles buffers[float64]
)

// get returns a buffer of at least n elements that hold anything.
func (b *buffers[E]) get(n int) *[]E {
	buf, _ := b.Get().(*[]E)
	if buf == nil {
		buf = new([]E)
	}
	if cap(*buf) < n {
		*buf = make([]E, n)
	}
	*buf = (*buf)[:cap(*buf)]
	return buf
}

func getScratch(n int) *[]float32 { return scratch.get(n) }

func putScratch(buf *[]float32) { scratch.Put(buf) }
