package linalg

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// near checks ||got - want|| <= 1e-10 (1 + ||want||) in the Frobenius norm.
func near(t *testing.T, got, want mat.Matrix, what string) {
	t.Helper()
	var d mat.Dense
	d.Sub(got, want)
	must.Hold(t, mat.Norm(&d, 2) <= 1e-10*(1+mat.Norm(want, 2)), "%s: %v, expected %v", what, mat.Formatted(got), mat.Formatted(want))
}

func identity(n int) mat.Matrix {
	d := make([]float64, n)
	for i := range d {
		d[i] = 1
	}
	return mat.NewDiagDense(n, d)
}

// U'U of the Cholesky factor U is the matrix, which stays as it was, and SolveTriangle solves its system. A matrix that is not
// positive definite has no factor.
func TestFactor(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n := 1 + rng.IntN(40)
		x := mat.NewDense(n, n+2, pipelinetest.Normals(rng, n*(n+2)))
		a := mat.NewSymDense(n, nil)
		a.SymOuterK(1, x)
		was, v := mat.DenseCopyOf(a), mat.NewVecDense(n, pipelinetest.Normals(rng, n))
		u, ok := Factor(a)
		must.Hold(t, ok, "a positive definite matrix is not factorised")
		var upper mat.TriDense
		var product mat.Dense
		upper.SetRawTriangular(u)
		product.Mul(upper.T(), &upper)
		near(t, &product, was, "U'U")
		near(t, a, was, "what was factorised")
		var want mat.VecDense
		must.Do(t, want.SolveVec(was, v))
		SolveTriangle(blas.Trans, u, v.RawVector().Data)
		SolveTriangle(blas.NoTrans, u, v.RawVector().Data)
		must.Hold(t, floats.EqualApprox(v.RawVector().Data, want.RawVector().Data, 1e-6*(1+mat.Norm(&want, 2))), "by the factor it is %v", v)
		a.SetSym(0, 0, -1)
		_, ok = Factor(a)
		must.Hold(t, !ok, "a matrix that is not positive definite has a factor")
	}
}

// m is P R, where P has orthonormal columns, or is nil where m has no more rows than columns. Orthonormalize makes columns that are off
// by a thousandth orthonormal again, and returns an error for columns of zeros.
func TestThinQR(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n, d := 1+rng.IntN(30), 1+rng.IntN(30)
		m := mat.NewDense(n, d, pipelinetest.Normals(rng, n*d))
		p, r := ThinQR(mat.DenseCopyOf(m))
		if n <= d {
			must.Hold(t, p == nil, "%d by %d has a P", n, d)
			near(t, r, m, "R")
			continue
		}
		var product, gram mat.Dense
		product.Mul(p, r)
		gram.Mul(p.T(), p)
		near(t, &product, m, "P R")
		near(t, &gram, identity(d), "P'P")
		for i := range n { // off by a thousandth
			for j := range d {
				p.Set(i, j, p.At(i, j)*(1+1e-3*float64((i+j)%3-1)))
			}
		}
		must.Do(t, Orthonormalize(p))
		gram.Mul(p.T(), p)
		near(t, &gram, identity(d), "what is orthonormal again")
		p.Zero()
		must.Fail(t, "no columns", Orthonormalize(p))
	}
}

// The root L of heads W' satisfies L L' = W W', and Root finds the rank. Heads of zeros have rank 0 and a root with one column of zeros.
func TestRoot(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		m, k, rank := 1+rng.IntN(12), 1+rng.IntN(12), 1+rng.IntN(5)
		left, right := mat.NewDense(m, rank, pipelinetest.Normals(rng, m*rank)), mat.NewDense(rank, k, pipelinetest.Normals(rng, rank*k))
		var heads, want, got mat.Dense
		heads.Mul(left, right)
		root, found := Root(&heads)
		want.Mul(heads.T(), &heads)
		got.Mul(root, root.T())
		near(t, &got, &want, "L L'")
		must.Hold(t, found == min(m, k, rank), "the rank is %d, expected %d", found, min(m, k, rank))
	}
	root, rank := Root(mat.NewDense(3, 2, nil))
	near(t, root, mat.NewDense(2, 1, nil), "the root of nothing")
	must.Hold(t, rank == 0, "nothing has the rank %d", rank)
}

// The functions on rows and columns agree with loops over the elements.
func TestRowsAndColumns(t *testing.T) {
	rng := testrand.New(t)
	n, d := 2+rng.IntN(10), 2+rng.IntN(10)
	x, by := mat.NewDense(n, d, pipelinetest.Normals(rng, n*d)), pipelinetest.Normals(rng, n)
	was, mean := mat.DenseCopyOf(x), Centre(mat.DenseCopyOf(x))
	ScaleRows(x, by)
	ScaleColumn(x, 1, 3)
	want, square := mat.NewDense(n, d, nil), 0.0
	for i := range n {
		for j := range d {
			want.Set(i, j, by[i]*was.At(i, j)*[]float64{1, 3}[pipelinetest.Int(j == 1)])
			square += want.At(i, j) * want.At(i, j) / float64(n)
		}
	}
	near(t, x, want, "scaled rows and columns")
	must.Hold(t, pipelinetest.Near(MeanSquareNorm(x), square, 1e-12), "the mean squared norm is %g, expected %g", MeanSquareNorm(x), square)
	must.Hold(t, pipelinetest.Near(floats.Sum(ColumnSquares(x)), square*float64(n), 1e-12), "squares of columns are %v", ColumnSquares(x))
	for j := range d {
		column := mat.Col(nil, j, was)
		must.Hold(t, pipelinetest.Near(mean[j], floats.Sum(column)/float64(n), 1e-12), "the mean of column %d is %g", j, mean[j])
	}
	must.Hold(t, AllSame(SomeRows(x, []int{1, 1, 1})) && !AllSame(x) && SomeRows(nil, []int{1}) == nil, "rows are the same, or not")
	must.Hold(t, Product(x, nil) == nil, "a product with nothing")
	must.Hold(t, Nonzero([]float64{0, -1, math.NaN(), 0}) == 2, "numbers that are not 0")
}

func BenchmarkSolveTriangle(b *testing.B) {
	const n = 500
	r := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: make([]float64, n*n)}
	v := make([]float64, n)
	for i := range n {
		r.Data[i*n+i], v[i] = 1, 1
	}
	for _, t := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		b.Run(fmt.Sprintf("%c/gonum", t), func(b *testing.B) {
			for b.Loop() {
				blas64.Trsv(t, r, blas64.Vector{N: n, Data: v, Inc: 1})
			}
		})
		b.Run(fmt.Sprintf("%c/amtrl", t), func(b *testing.B) {
			for b.Loop() {
				SolveTriangle(t, r, v)
			}
		})
	}
}
