package vec

import (
	"sync"
	"testing"
)

// TestConcurrent checks that concurrent calls, which share the pooled scratch memory, give the bytes of a lone call.
func TestConcurrent(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		c, p := formatU8.chunk(a, 50, 301), newProduct(a, 40, 70, 90)
		q, z := dup(a, c.q), dup(a, p.c)
		loss, total := c.run(TaskGrad[uint8])
		p.run()
		var wg sync.WaitGroup
		for range 8 {
			chunk, prod := *c, *p
			chunk.q, prod.c = dup(a, q), dup(a, z)
			wg.Go(func() {
				for range 20 {
					copy(chunk.q, q)
					copy(prod.c, z)
					l, sum := chunk.run(TaskGrad[uint8])
					prod.run()
					if l != loss || sum != total || !sameBits(chunk.q, c.q) || !sameBits(prod.c, p.c) {
						t.Error("a concurrent call gave other bytes")
						return
					}
				}
			})
		}
		wg.Wait()
	})
}
