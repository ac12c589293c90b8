package vec

import (
	"math"
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
			m, n, k := 1+a.rng.IntN(40), 1+a.rng.IntN(90), 1+a.rng.IntN(300)
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
					for p := range k {
						*c = math.FMA(alpha*x[inX(i, p)], y[inY(p, j)], *c)
					}
				}
			}
			Dgemm(transA, transB, m, n, k, alpha, x, xs, y, ys, got, gs)
			for at := range want {
				if got[at] != want[at] && at%gs < n {
					t.Fatalf("transA %v, transB %v, m %d, n %d, k %d, alpha %v: element %d is %v, expected %v",
						transA, transB, m, n, k, alpha, at, got[at], want[at])
				}
			}
			a.done()
		}
	})
}
