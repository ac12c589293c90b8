package vec

import (
	"math/rand/v2"
	"testing"
)

// At every level that has Dgemm, each element equals its equations to the bit.
func TestDgemm(t *testing.T) {
	normal64 := (*rand.Rand).NormFloat64
	eachLevel(t, func(t *testing.T, a *arena) {
		if HasDgemm() != (active.name != "generic") {
			t.Fatalf("level %s: %v", active.name, HasDgemm())
		}
		if !HasDgemm() {
			return
		}
		for range 200 {
			m, n, k, block := 1+a.rng.IntN(40), 1+a.rng.IntN(40), 1+a.rng.IntN(300), 1+a.rng.IntN(300)
			transA, transB := a.rng.IntN(2) == 0, a.rng.IntN(2) == 0
			operand := func(rows, cols int, trans bool) ([]float64, int, func(i, j int) int) {
				if trans {
					rows, cols = cols, rows
				}
				stride := cols + a.rng.IntN(2)*a.rng.IntN(9)
				return fill(a, (rows-1)*stride+cols, normal64), stride, func(i, j int) int {
					if trans {
						i, j = j, i
					}
					return i*stride + j
				}
			}
			x, xs, inX := operand(m, k, transA)
			y, ys, inY := operand(k, n, transB)
			got, gs, in := operand(m, n, false)
			want, alpha := dup(a, got), []float64{1, -1, normal64(a.rng)}[a.rng.IntN(3)]
			for i := range m {
				for j := range n {
					c := &want[in(i, j)]
					for p := 0; p < k && (transA || !transB); p++ {
						tmp := alpha * x[inX(i, p)]
						tmp = float64(tmp * y[inY(p, j)])
						*c += tmp
					}
					for from := 0; from < k && transB && !transA; from += block {
						var s [4]float64
						count := min(block, k-from)
						for p := range count {
							q := p % 4
							if p >= count/4*4 {
								q = 0
							}
							s[q] += float64(x[inX(i, from+p)] * y[inY(from+p, j)])
						}
						*c += float64(alpha * ((s[1] + s[3]) + (s[0] + s[2])))
					}
				}
			}
			Dgemm(transA, transB, m, n, k, block, alpha, x, xs, y, ys, got, gs)
			for at := range want {
				if got[at] != want[at] && at%gs < n {
					t.Fatalf("transA %v, transB %v, m %d, n %d, k %d, block %d, alpha %v: element %d is %v, expected %v",
						transA, transB, m, n, k, block, alpha, at, got[at], want[at])
				}
			}
			a.done()
		}
	})
}
