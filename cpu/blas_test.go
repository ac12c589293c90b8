package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/amtrl/amtrl/internal/testrand"
)

// Dgemm gives gonum's results up to the rounding of each term, for shapes around all block sizes, with padding and any alpha
// and beta. They do not depend on the number of threads.
func TestBLAS(t *testing.T) {
	rng := testrand.New(t)
	size := func() int {
		return max(1, []int{rng.IntN(20), 64*rng.IntN(4) + rng.IntN(5) - 2, rng.IntN(300), 4 * rng.IntN(70)}[rng.IntN(4)])
	}
	flags := []blas.Transpose{blas.NoTrans, blas.Trans}
	for range 160 {
		m, n, k, tA, tB := size(), size(), size(), flags[rng.IntN(2)], flags[rng.IntN(2)]
		if rng.IntN(4) == 0 { // a narrow product, at times on several goroutines
			m, n, k = 1+rng.IntN(4), 1+rng.IntN(3000), 1+rng.IntN(400)
			if rng.IntN(2) == 0 {
				m, n = n, m
			}
		}
		operand := func(rows, cols int, trans blas.Transpose) ([]float64, int) {
			if trans == blas.Trans {
				rows, cols = cols, rows
			}
			stride := cols + rng.IntN(2)*rng.IntN(9)
			x := make([]float64, (rows-1)*stride+cols)
			for i := range x {
				x[i] = rng.NormFloat64() * math.Exp(3*rng.NormFloat64()) * float64(rng.IntN(4))
			}
			return x, stride
		}
		a, lda := operand(m, k, tA)
		b, ldb := operand(k, n, tB)
		c, ldc := operand(m, n, blas.NoTrans)
		finite := c
		alpha, beta := []float64{1, -1, rng.NormFloat64()}[rng.IntN(3)], []float64{0, 1, rng.NormFloat64()}[rng.IntN(3)]
		compute := func(by blas.Float64Level3, alpha, beta float64, a, b, c []float64) []float64 {
			out := slices.Clone(c)
			by.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, out, ldc)
			return out
		}
		if beta == 0 { // C is not read then
			c = spoiled(c, func(at int) bool { return at%ldc < n })
		}
		want := compute(gonum.Implementation{}, alpha, beta, a, b, c)
		sizes := compute(gonum.Implementation{}, math.Abs(alpha), math.Abs(beta), absolute(a), absolute(b), absolute(finite))
		one, threads := compute(BLAS{Threads: func() int { return 1 }}, alpha, beta, a, b, c), rng.IntN(4)
		got := compute(BLAS{Threads: func() int { return threads }}, alpha, beta, a, b, c)
		for i, v := range want {
			if padding := i%ldc >= n; !(math.Abs(got[i]-v) <= float64(k+2)*0x1p-52*sizes[i]) || padding && got[i] != v || got[i] != one[i] {
				t.Fatalf("%c %c, m %d, n %d, k %d, alpha %v, beta %v, %d threads: element %d is %v, with one thread %v, expected %v",
					tA, tB, m, n, k, alpha, beta, threads, i, got[i], one[i], v)
			}
		}
	}
}

func BenchmarkBLAS(b *testing.B) {
	for _, impl := range []struct {
		name string
		blas.Float64Level3
	}{{"gonum", gonum.Implementation{}}, {"amtrl", BLAS{}}} {
		for _, s := range [][3]int{{51, 51, 51}, {51, 51, 159}, {500, 51, 51}, {500, 500, 51}, {500, 500, 500}, {1, 500, 500}, {500, 1, 500}} {
			for _, f := range [][2]blas.Transpose{{blas.NoTrans, blas.NoTrans}, {blas.Trans, blas.NoTrans}, {blas.NoTrans, blas.Trans}} {
				b.Run(fmt.Sprintf("%d by %d over %d %c%c/%s", s[0], s[1], s[2], f[0], f[1], impl.name), func(b *testing.B) {
					m, n, k := s[0], s[1], s[2]
					x, y, c := make([]float64, m*k), make([]float64, k*n), make([]float64, m*n)
					for i := range x {
						x[i] = float64(i%7) + 0.1
					}
					for i := range y {
						y[i] = float64(i%5) + 0.1
					}
					lda, ldb := k, n
					if f[0] == blas.Trans {
						lda = m
					}
					if f[1] == blas.Trans {
						ldb = k
					}
					b.SetBytes(int64(m * n * k))
					for b.Loop() {
						impl.Dgemm(f[0], f[1], m, n, k, 1, x, lda, y, ldb, 0, c, n)
					}
				})
			}
		}
	}
}
