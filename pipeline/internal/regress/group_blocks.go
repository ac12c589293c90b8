package regress

import (
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Block is the part of a symmetric matrix whose rows and columns belong to the samples of one group. For a linear fit S alpha = y,
// with B the block of S^-1, the residuals of a group in the fit without it are B^-1 alpha_g, as the residual of a single sample is
// alpha_i / (S^-1)_ii (the inverse of a partitioned matrix; Golub and Van Loan 2013, section 2.1).
type Block struct {
	Samples []int
	*mat.SymDense
}

// Blocks returns the block of each group of more than one sample, given the elements of the matrix.
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

// Divide overwrites the rows of v, n by c, that belong to the samples with B^-1 times these rows, or with +Inf
// where rounding makes B singular.
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

// inverseBlocks returns the blocks of (Q T Q' + mu I)^-1.
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

// subtractOuter returns the blocks of B - Z Z', given those of B and a Z, n by r.
func subtractOuter(blocks []Block, z *mat.Dense) (out []Block) {
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
