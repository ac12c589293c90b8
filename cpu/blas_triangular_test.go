package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Dtrsm, Dtrmm and Dsyrk give gonum's results up to rounding in all forms, and leave the other triangle and the padding
// as they are.
func TestTriangles(t *testing.T) {
	rng := testrand.New(t)
	size := func() int { return 1 + []int{rng.IntN(20), rng.IntN(70), rng.IntN(260)}[rng.IntN(3)] }
	operand := func(rows, cols int) ([]float64, int) {
		stride := cols + rng.IntN(2)*rng.IntN(9)
		return numbers(rng, (rows-1)*stride+cols), stride
	}
	panics := func(call func()) (is bool) {
		defer func() { is = recover() != nil }()
		call()
		return false
	}
	square := make([]float64, 40*40)
	for name, compute := range map[string]func(blas.Float64Level3){
		"Dtrsm": func(b blas.Float64Level3) {
			b.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, 0, 40, 2, square, 40, nil, 40)
		},
		"Dtrsm, 0": func(b blas.Float64Level3) {
			b.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, 40, 0, 1, square, 40, nil, 1)
		},
		"Dtrmm": func(b blas.Float64Level3) {
			b.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, 40, 0, 1, square, 40, nil, 1)
		},
	} {
		must.Hold(t, !panics(func() { compute(gonum.Implementation{}) }) && !panics(func() { compute(BLAS{}) }), "%s of nothing", name)
	}
	for name, wrong := range map[string]func(){
		"Dgemm":       func() { BLAS{}.Dgemm('x', blas.NoTrans, 40, 40, 40, 1, square, 40, square, 40, 0, square, 40) },
		"Dgemm, B":    func() { BLAS{}.Dgemm(blas.NoTrans, 'x', 40, 40, 40, 1, square, 40, square, 40, 0, square, 40) },
		"Dgemv":       func() { BLAS{}.Dgemv('x', 40, 40, 1, square, 40, square, 1, 0, square, 1) },
		"Dgemv, wide": func() { BLAS{}.Dgemv('x', 20, 80, 1, square, 80, square, 1, 0, square, 1) },
		"Dsyrk":       func() { BLAS{}.Dsyrk(blas.Upper, 'x', 40, 40, 1, square, 40, 0, square, 40) },
		"Dtrsm, side": func() { BLAS{}.Dtrsm('x', blas.Upper, blas.NoTrans, blas.NonUnit, 40, 40, 1, square, 40, square, 40) },
		"Dtrsm, op":   func() { BLAS{}.Dtrsm(blas.Left, blas.Upper, 'x', blas.NonUnit, 40, 40, 1, square, 40, square, 40) },
		"Dtrsm, diag": func() { BLAS{}.Dtrsm(blas.Left, blas.Upper, blas.Trans, 'x', 40, 40, 1, square, 40, square, 40) },
		"Dtrmm, diag": func() { BLAS{}.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, 'x', 40, 40, 1, square, 40, square, 40) },
		"Dsymv":       func() { BLAS{}.Dsymv('x', 40, 1, square, 40, square, 1, 0, square, 1) },
		"Dsyr2k":      func() { BLAS{}.Dsyr2k(blas.Lower, 'x', 40, 40, 1, square, 40, square, 40, 0, square, 40) },
	} {
		must.Hold(t, panics(wrong), "%s with a flag that it does not know passes", name)
	}
	negative := func() { BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, -40, -40, 1, 1, nil, 1, nil, 1, 0, nil, 1) }
	must.Hold(t, panics(negative), "a negative size passes")
	for range 200 {
		side, uplo := []blas.Side{blas.Left, blas.Right}[rng.IntN(2)], []blas.Uplo{blas.Upper, blas.Upper, blas.Lower}[rng.IntN(3)]
		trans, diag := []blas.Transpose{blas.NoTrans, blas.Trans}[rng.IntN(2)], []blas.Diag{blas.NonUnit, blas.Unit}[rng.IntN(2)]
		m, n := size(), size()
		alpha, beta := []float64{1, -1, 0, rng.NormFloat64()}[rng.IntN(4)], []float64{0, 1, rng.NormFloat64()}[rng.IntN(3)]
		order := n
		if side == blas.Left {
			order = m
		}
		a, lda := triangleOf(rng, operand, order)
		x, ldx := operand(m, n)
		// A zero pivot, by which no zero of x is divided.
		if zero := rng.IntN(order); side == blas.Right && trans == blas.NoTrans && rng.IntN(2) == 0 {
			a[zero*lda+zero] = 0
			for i := range m {
				clear(x[i*ldx : i*ldx+n])
			}
		}
		rows, cols := m, n
		if trans == blas.NoTrans {
			rows, cols = n, m
		}
		of, ldOf := operand(rows, cols)
		c, ldc := operand(n, n)
		for name, compute := range map[string]func(blas.Float64Level3) []float64{
			"Dtrsm": func(b blas.Float64Level3) []float64 {
				out := slices.Clone(x)
				b.Dtrsm(side, uplo, trans, diag, m, n, alpha, a, lda, out, ldx)
				return out
			},
			"Dtrmm": func(b blas.Float64Level3) []float64 {
				out := slices.Clone(x)
				b.Dtrmm(side, uplo, trans, diag, m, n, alpha, a, lda, out, ldx)
				return out
			},
			"Dsyrk": func(b blas.Float64Level3) []float64 {
				out := slices.Clone(c)
				b.Dsyrk(uplo, trans, n, m, alpha, of, ldOf, beta, out, ldc)
				return out
			},
		} {
			want, got := compute(gonum.Implementation{}), compute(BLAS{})
			finite := slices.DeleteFunc(slices.Clone(want), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
			within := 1e-14 * float64(max(m, n)) * floats.Norm(finite, math.Inf(1))
			for i, v := range want {
				kept := name == "Dsyrk" && (i%ldc >= n || uplo == blas.Upper && i%ldc < i/ldc || uplo == blas.Lower && i%ldc > i/ldc) ||
					name != "Dsyrk" && i%ldx >= n
				if !(math.Abs(got[i]-v) <= within) && !(math.IsNaN(v) || math.IsInf(v, 0)) || kept && got[i] != v {
					t.Fatalf("%s %c %c %c %c, m %d, n %d, alpha %v, beta %v: element %d is %v, expected %v",
						name, side, uplo, trans, diag, m, n, alpha, beta, i, got[i], v)
				}
			}
		}
	}
}

// triangleOf returns a triangular matrix with a large diagonal, so that solutions stay finite.
func triangleOf(rng *rand.Rand, operand func(rows, cols int) ([]float64, int), n int) (a []float64, stride int) {
	a, stride = operand(n, n)
	for i := range a {
		a[i] /= float64(4 * n)
	}
	for i := range n {
		a[i*stride+i] = 1 + rng.Float64()
	}
	return a, stride
}

func BenchmarkCholesky(b *testing.B) {
	for _, impl := range []struct {
		name string
		blas.Float64
	}{{"gonum", gonum.Implementation{}}, {"amtrl", BLAS{}}} {
		for _, n := range []int{100, 500, 3000} {
			b.Run(fmt.Sprintf("and inverse of %d rows/%s", n, impl.name), func(b *testing.B) {
				blas64.Use(impl)
				defer blas64.Use(gonum.Implementation{})
				sym := mat.NewSymDense(n, nil)
				for i := range n {
					for j := i; j < n; j++ {
						sym.SetSym(i, j, 1/float64(1+j-i))
					}
				}
				for b.Loop() {
					factor, ok := lapack64.Potrf(mat.NewSymDense(n, slices.Clone(sym.RawSymmetric().Data)).RawSymmetric())
					if !ok || !lapack64.Trtri(factor) {
						b.Fatal("singular")
					}
				}
			})
		}
	}
}
