package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// At every level that has AddRows and DotRows, each element equals their equations to the bit.
func TestNarrow(t *testing.T) {
	normal64 := (*rand.Rand).NormFloat64
	eachLevel(t, func(t *testing.T, a *arena) {
		if !HasDgemm() {
			return
		}
		for range 200 {
			rows, n, apart := a.rng.IntN(40), a.rng.IntN(90), 1+a.rng.IntN(2)*a.rng.IntN(5)
			stride := n + a.rng.IntN(2)*a.rng.IntN(9)
			matrix := fill(a, max(0, (rows-1)*stride+n), normal64)
			if rows == 0 {
				matrix = nil
			}
			x, y := fill(a, rows, normal64), fill(a, n, normal64)
			want := dup(a, y)
			for i, v := range x {
				for j := range want {
					want[j] = math.FMA(v, matrix[i*stride+j], want[j])
				}
			}
			AddRows(x, matrix, stride, y)
			for j, v := range want {
				if y[j] != v {
					t.Fatalf("AddRows, %d rows of %d: element %d is %v, expected %v", rows, n, j, y[j], v)
				}
			}
			row, alpha := fill(a, n, normal64), []float64{1, -1, normal64(a.rng)}[a.rng.IntN(3)]
			sums := fill(a, max(0, (rows-1)*apart+1), normal64)
			want = dup(a, sums)
			for i := range rows {
				var s [4]float64
				for p, v := range row {
					q := p % 4
					if p >= n/4*4 {
						q = 0
					}
					s[q] = math.FMA(matrix[i*stride+p], v, s[q])
				}
				want[i*apart] += float64(alpha * ((s[1] + s[3]) + (s[0] + s[2])))
			}
			DotRows(alpha, matrix, stride, rows, row, sums, apart)
			for i, v := range want {
				if sums[i] != v {
					t.Fatalf("DotRows, %d rows of %d: sum %d is %v, expected %v", rows, n, i, sums[i], v)
				}
			}
			a.done()
		}
	})
}
