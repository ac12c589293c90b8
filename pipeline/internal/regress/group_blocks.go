package regress

import (
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Block is the part of a symmetric matrix that is of the samples of one group. Of a linear fit S alpha = y with B that of S^-1, what the
// fit without the group leaves of its labels is B^-1 alpha, where that of a sample on its own is alpha_i / (S^-1)_ii (the inverse of
// a partitioned matrix; Golub and Van Loan 2013, section 2.1).
type Block struct {
	Samples []int
	*mat.SymDense
}

// Blocks are those of each group of more than one sample, by the elements of the matrix.
func (t Groups) Blocks(element func(i, j int) float64) (out []Block) {
	for samples := range t.Several() {
		b := Block{samples, mat.NewSymDense(len(samples), nil)}
		for at, i := range samples {
			for before, j := range samples[:at+1] {
				b.SetSym(at, before, element(i, j))
			}
		}
		out = append(out, b)
	}
	return out
}

// Divide overwrites the rows of v, n by c, that are of the samples with B^-1 times these, and with +Inf where rounding makes B singular.
func (b Block) Divide(v *mat.Dense) {
	part := linalg.SomeRows(v, b.Samples)
	factor, solved := linalg.Factor(b.SymDense)
	if solved {
		lapack64.Potrs(factor, part.RawMatrix())
	}
	for at, i := range b.Samples {
		row := v.RawRowView(i)
		copy(row, part.RawRowView(at))
		for c := range row {
			if !solved {
				row[c] = math.Inf(1)
			}
		}
	}
}

// inverseBlocks are those of (Q T Q' + mu I)^-1.
func (t *Tridiagonal) inverseBlocks(s shift, of Groups) []Block {
	if of.Group == nil {
		return nil
	}
	inside := mat.DenseCopyOf(t.Q)
	linalg.EachRow(inside, s.Lower)
	return of.Blocks(func(i, j int) float64 {
		outside := -linalg.Dot(t.Q.RawRowView(i), t.Q.RawRowView(j))
		if i == j {
			outside = max(0, 1+outside)
		}
		return linalg.Dot(inside.RawRowView(i), inside.RawRowView(j)) + outside/s.Mu
	})
}

// less takes a rank-r part Z Z' from each block, for Z with a row for each sample.
func less(blocks []Block, z *mat.Dense) (out []Block) {
	for _, b := range blocks {
		left := Block{b.Samples, mat.NewSymDense(len(b.Samples), nil)}
		for at, i := range b.Samples {
			for before, j := range b.Samples[:at+1] {
				left.SetSym(at, before, b.At(at, before)-linalg.Dot(z.RawRowView(i), z.RawRowView(j)))
			}
		}
		out = append(out, left)
	}
	return out
}
