package vec

import "sync"

// scratchPool holds float32 buffers between calls.
var scratchPool = sync.Pool{New: func() any { return new([]float32) }}

// getScratch returns a buffer of at least n elements that hold anything.
func getScratch(n int) *[]float32 {
	buf := scratchPool.Get().(*[]float32)
	if cap(*buf) < n {
		*buf = make([]float32, n)
	}
	*buf = (*buf)[:cap(*buf)]
	return buf
}

func putScratch(buf *[]float32) { scratchPool.Put(buf) }
