package regress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The tridiagonal form of X X'/t, also with a wider basis, has orthonormal columns, and solves systems of X X'/t + mu I whatever the shape
// and rank of X, also where some or all rows are the same. The wider basis contains the columns it was widened by.
func TestTridiagonal(t *testing.T) {
	rng := testrand.New(t)
	for _, shape := range [][3]int{{1, 4, 4}, {2, 1, 1}, {9, 30, 30}, {30, 9, 9}, {20, 20, 3}, {40, 12, 2}, {12, 40, 0}, {12, 5, 0}} {
		n, d, rank := shape[0], shape[1], shape[2]
		x := mat.NewDense(n, d, nil)
		if rank > 0 {
			x.Mul(dense(rng, n, rank), dense(rng, rank, d))
		}
		copy(x.RawRowView(n-1), x.RawRowView(0))
		rows := rowsApart(mat.DenseCopyOf(x))
		linalg.Centre(x)
		kernel := mat.NewDense(n, n, nil)
		if s := linalg.MeanSquareNorm(x); s > 0 {
			kernel.Mul(x, x.T())
			kernel.Scale(1/s, kernel)
		}
		a := dense(rng, n, 2)
		for _, k := range []Tridiagonal{rows.kernel, must.Get(rows.kernel.with(a))(t)} {
			var gram mat.Dense
			gram.Mul(k.Q.T(), k.Q)
			_, r := k.Q.Dims()
			for i := range r {
				for j := range r {
					if want := float64(1 - min(1, max(i-j, j-i))); math.Abs(gram.At(i, j)-want) > 1e-12 {
						t.Fatalf("%v: columns %d and %d have the product %g", shape, i, j, gram.At(i, j))
					}
				}
			}
			for _, mu := range []float64{1e-6, 1e-2, 3, 1e3} {
				system, y := mat.DenseCopyOf(kernel), dense(rng, 1+rng.IntN(3), n)
				for i := range n {
					system.Set(i, i, system.At(i, i)+mu)
				}
				s := k.Shift(mu)
				var inverse, back mat.Dense
				must.Do(t, inverse.Inverse(system))
				back.Mul(k.Divide(s, y), system)
				closeVectors(t, "what was divided", back.RawMatrix().Data, y.RawMatrix().Data, 1e-7, 0)
				diagonal := make([]float64, n)
				for i := range diagonal {
					diagonal[i] = inverse.At(i, i)
				}
				inside := new(mat.Dense)
				inside.Product(k.Q.T(), &inverse, k.Q)
				closeVectors(t, "the trace", []float64{s.InverseTrace()}, []float64{mat.Trace(inside)}, 1e-7, 0)
				closeVectors(t, "the diagonal", k.inverseDiagonal(s), diagonal, 1e-7, 0)
			}
		}
		var in, left mat.Dense
		wide := must.Get(rows.kernel.with(a))(t)
		in.Mul(wide.Q.T(), a)
		left.Mul(wide.Q, &in)
		if e := mat.Norm(difference(&left, a), 2); e > 1e-9*mat.Norm(a, 2) {
			t.Errorf("%v: %g of the columns is outside", shape, e)
		}
	}
}
