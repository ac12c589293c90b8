package pipeline

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// pooledGram holds X'X for rows X, n by d, less their mean. Where d is more than pooledWide, or at least a third more than rows and samples
// together, the regression uses the rows of R in place of those of X. R is square with R R' = X X', where X now includes, behind the rows,
// the samples that are to be predicted. A regression with a penalty on ||w||^2 has w = X'R'^-1 u for its weights u of R.
type pooledGram struct {
	centre  []float64
	squares *mat.SymDense
	// products is X'y, or R'y, for labels y, and nil without labels.
	products *mat.Dense
	// wide is X with the samples, and root is R; both are nil where the regression uses X.
	wide *mat.Dense
	root *mat.TriDense
}

const (
	// pooledBlock is the number of rows that are uploaded at a time.
	pooledBlock = 1024
	// pooledWide is the largest number of features whose X'X is decomposed, and the largest number of rows of more features.
	pooledWide = 2048
	// maxAppendedSamples is the largest number of samples that are put behind the rows where there are more than pooledWide features.
	maxAppendedSamples = 512
)

// onRoot reports whether a regression on rows of d features must use R in their place; see [pooledGram].
func onRoot(d int) bool { return d > pooledWide }

// pooledLimit returns the largest number of rows of d features for a regression that can use n.
func pooledLimit(d, n int) int {
	if onRoot(d) {
		return min(n, pooledWide)
	}
	return n
}

// unit returns the mean eigenvalue of X'X, at least regress.LeastCurvature.
func (g pooledGram) unit() float64 {
	return math.Max(mat.Trace(g.squares)/float64(len(g.centre)), regress.LeastCurvature)
}

// weights returns the weights of the features for the weights u of the regression, which may be weights of R.
func (g pooledGram) weights(u []float64) []float64 {
	if g.wide == nil {
		return u
	}
	n, d := g.wide.Dims()
	solved, w := make([]float64, n), make([]float64, d)
	copy(solved, u)
	linalg.SolveTriangle(blas.Trans, g.root.RawTriangular(), solved)
	blas64.Gemv(blas.Trans, 1, g.wide.RawMatrix(), blas64.Vector{N: n, Data: solved, Inc: 1}, 0, blas64.Vector{N: d, Data: w, Inc: 1})
	return w
}

// head returns the head of an output with the weights beta of the features and the given prediction at the centre. Its w, of length k, is
// 0.
func (g pooledGram) head(k int, beta []float64, atCentre float64, u units) []float32 {
	h := headVector{w: make([]float32, k), delta: make([]float32, len(beta))}
	for j, v := range g.centre {
		if u.centre != nil {
			v -= float64(u.centre[j])
		}
		if u.each != nil {
			v /= float64(u.each[j])
		}
		h.intercept -= v * beta[j]
		h.delta[j] = float32(u.scale * beta[j])
	}
	return h.vector(atCentre)
}

// computeGram computes the pooledGram of rows with labels y, a column for each output, for a regression that predicts samples.
func (l *Learner) computeGram(rows, samples []poolRow, each []float32, y *mat.Dense) (pooledGram, error) {
	g := pooledGram{centre: l.problem.meanRow(rows)}
	d := len(g.centre)
	if onRoot(d) && len(samples) > maxAppendedSamples {
		samples = nil // predictions of these ignore what is outside the span of the rows
	}
	if onRoot(d) || 4*(len(rows)+len(samples)) <= 3*d {
		err := l.pooledRoot(&g, rows, samples, each, y)
		return g, err
	}
	_, outputs := y.Dims()
	g.products = mat.NewDense(d, outputs, nil)
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	squares, xs := tmp.Matrix(backend.Float64, d, d), tmp.Matrix(backend.Float64, pooledBlock, d)
	if err := tmp.Err(); err != nil {
		return g, err
	}
	err := centredBlocks(l.problem, g, rows, each, func(lo, n int, block []float64) error {
		xs.Rows = n
		if err := backend.Put(l.queue, xs.Buf, 0, block); err != nil {
			return err
		}
		var part mat.Dense
		part.Mul(mat.NewDense(n, d, block).T(), y.Slice(lo, lo+n, 0, outputs))
		g.products.Add(g.products, &part)
		return l.queue.Syrk(true, 1, xs, 1, squares)
	})
	if err != nil {
		return g, err
	}
	g.squares = mat.NewSymDense(d, nil)
	return g, backend.Get(l.queue, g.squares.RawSymmetric().Data, squares.Buf, 0)
}

// meanRow returns the mean of rows, in the units of the data.
func (p *Problem) meanRow(rows []poolRow) []float64 {
	mean, x := make([]float64, p.width()), make([]float32, p.width())
	for _, r := range rows {
		p.readRow(r.pool, r.row, x)
		mean := mean[:len(x)]
		for f, v := range x {
			mean[f] += float64(v)
		}
	}
	for f := range mean {
		mean[f] /= float64(max(1, len(rows)))
	}
	return mean
}

// pooledRoot sets the fields of g where the regression uses R; y may be nil.
func (l *Learner) pooledRoot(g *pooledGram, rows, samples []poolRow, each []float32, y *mat.Dense) error {
	n := len(rows) + len(samples)
	g.wide = mat.NewDense(n, len(g.centre), l.problem.centred(slices.Concat(rows, samples), g.centre, each))
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	x := backend.Upload(tmp, backend.Float64, g.wide.RawMatrix().Data)
	products := tmp.Matrix(backend.Float64, n, n)
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := l.queue.Syrk(false, 1, backend.Mat(x, n, len(g.centre)), 0, products); err != nil {
		return err
	}
	k := mat.NewSymDense(n, nil)
	if err := backend.Get(l.queue, k.RawSymmetric().Data, products.Buf, 0); err != nil {
		return err
	}
	floor := 0.0 // centred rows are linearly dependent
	for i := range n {
		floor += 1e-10 * k.At(i, i) / float64(n)
	}
	floor = math.Max(regress.LeastCurvature, floor)
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+floor)
	}
	factor, ok := lapack64.Potrf(k.RawSymmetric()) // the floor makes it positive definite where it is finite
	if !ok {
		return errors.New("the products of the rows of sources and of the target's samples have no Cholesky factor: expected finite ones")
	}
	var upper mat.TriDense
	upper.SetRawTriangular(factor)
	g.root, g.squares = mat.NewTriDense(n, mat.Lower, nil), mat.NewSymDense(n, nil)
	g.root.Copy(upper.TTri())
	of := mat.DenseCopyOf(g.root).Slice(0, len(rows), 0, n).(*mat.Dense)
	g.squares.SymOuterK(1, of.T())
	if y != nil {
		g.products = new(mat.Dense)
		g.products.Mul(of.T(), y)
	}
	return nil
}

// centredBlocks passes rows less the centre to fn in blocks, n rows from row lo on.
func centredBlocks[E float32 | float64](p *Problem, g pooledGram, rows []poolRow, each []float32,
	fn func(lo, n int, block []E) error) error {
	var host []E
	for lo := 0; lo < len(rows); lo += pooledBlock {
		hi := min(lo+pooledBlock, len(rows))
		host = lessCentre(p, host, rows[lo:hi], g.centre, each)
		if err := fn(lo, hi-lo, host); err != nil {
			return err
		}
	}
	return nil
}
