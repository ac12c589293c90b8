package pipeline

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// block is the part of a symmetric matrix that is of the samples of one group. Of a linear fit S alpha = y with B that of S^-1, what the
// fit without the group leaves of its labels is B^-1 alpha, where that of a sample on its own is alpha_i / (S^-1)_ii (the inverse of
// a partitioned matrix; Golub and Van Loan 2013, section 2.1).
type block struct {
	samples []int
	*mat.SymDense
}

// blocks are those of each group of more than one sample, by the elements of the matrix.
func (t together) blocks(element func(i, j int) float64) (out []block) {
	for samples := range t.several() {
		b := block{samples, mat.NewSymDense(len(samples), nil)}
		for at, i := range samples {
			for before, j := range samples[:at+1] {
				b.SetSym(at, before, element(i, j))
			}
		}
		out = append(out, b)
	}
	return out
}

// divide overwrites the rows of v, n by c, that are of the samples with B^-1 times these, and with +Inf where rounding makes B singular.
func (b block) divide(v *mat.Dense) {
	part := someRows(v, b.samples)
	factor, solved := factorOf(b.SymDense)
	if solved {
		lapack64.Potrs(factor, part.RawMatrix())
	}
	for at, i := range b.samples {
		row := v.RawRowView(i)
		copy(row, part.RawRowView(at))
		for c := range row {
			if !solved {
				row[c] = math.Inf(1)
			}
		}
	}
}

// factorOf is the upper Cholesky factor of A, which it keeps, and false where that is not positive definite.
func factorOf(a *mat.SymDense) (u blas64.Triangular, ok bool) {
	own := mat.NewSymDense(a.SymmetricDim(), nil)
	own.CopySym(a)
	return lapack64.Potrf(own.RawSymmetric())
}

// inverseBlocks are those of (Q T Q' + mu I)^-1.
func (t *tridiagonal) inverseBlocks(s shift, of together) []block {
	if of.group == nil {
		return nil
	}
	inside := mat.DenseCopyOf(t.q)
	eachRow(inside, s.lower)
	return of.blocks(func(i, j int) float64 {
		outside := -dot(t.q.RawRowView(i), t.q.RawRowView(j))
		if i == j {
			outside = max(0, 1+outside)
		}
		return dot(inside.RawRowView(i), inside.RawRowView(j)) + outside/s.mu
	})
}

// less takes a rank-r part Z Z' from each block, for Z with a row for each sample.
func less(blocks []block, z *mat.Dense) (out []block) {
	for _, b := range blocks {
		left := block{b.samples, mat.NewSymDense(len(b.samples), nil)}
		for at, i := range b.samples {
			for before, j := range b.samples[:at+1] {
				left.SetSym(at, before, b.At(at, before)-dot(z.RawRowView(i), z.RawRowView(j)))
			}
		}
		out = append(out, left)
	}
	return out
}
