package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/backend"
)

// classifies says whether the target's predictor is fitted to classes: labels of 0 and 1,
// and a head that leans on the target's own rows.
func (p *Problem) classifies() bool {
	return p.Set.Binary && p.Config.Head.Prior == PriorResidual && p.Config.Head.Loss == LossLogistic
}

// classifier fits the heads of outputs with labels of 0 and 1, on the kernels that
// residualHead has, or on that of the target's rows alone where root is nil. The log-odds are
// the mean of what [discriminant] makes of two fits' predictions of the rows left out:
//
//   - logistic regression. A squared loss counts against a row that its prediction is beyond
//     its label, which for a class of a tenth of the rows moves the boundary. Where few rows
//     are all told apart, its own log-odds know no bounds;
//   - the regression by squared loss, which has what is known of intercepts.
type classifier struct {
	rows      *targetRows
	phi, root *mat.Dense // n by K+1, K+1 by r
	unit      float64
	mean      *mat.Dense // of the sources' heads of the same outputs, K+1 by C, or nil
	a         *mat.Dense // A, once it is wanted
}

// kernel is (A A'/s + kappa X X'/t) / (1 + kappa).
func (c *classifier) kernel(kappa float64) kernelMatrix {
	n, d := c.rows.x.Dims()
	width, a := d, c.predicted()
	if a != nil {
		width += a.RawMatrix().Cols
	}
	if n > width {
		var z mat.Dense
		z.Scale(math.Sqrt(kappa/(1+kappa)/c.rows.unit()), c.rows.x)
		if a != nil {
			var own, both mat.Dense
			own.Scale(math.Sqrt(c.unit/(1+kappa)), a)
			both.Augment(&own, &z)
			z = both
		}
		return kernelMatrix{z: &z}
	}
	out := mat.NewDense(n, n, nil)
	if kappa > 0 {
		out.Scale(kappa/(1+kappa), c.rows.gram())
	}
	if a != nil {
		blas64.Gemm(blas.NoTrans, blas.Trans, c.unit/(1+kappa), a.RawMatrix(), a.RawMatrix(), 1, out.RawMatrix())
	}
	return kernelMatrix{g: out}
}

// fit adds to fits, whose heads by squared loss are ridge, the classifier of each output,
// with its residuals in place of those of the squared loss. An output whose rows are all of
// one class has none but the intercept. LeaveOneOut stays that of the squared loss, by which
// methods are compared: with few samples it tells them apart better than the probabilities do.
//
// What it predicts are log-odds.
func (c *classifier) fit(in labelGroup, kappas []float64, fits []headFit, ridge [][]float32, u units, k int) {
	regressions, found, kappa := c.regress(in, kappas, fits[0].Kappa, len(fits))
	for i, f := range found {
		if f == nil { // rounding made its systems singular
			fits[i].classifier = asLogOdds(ridge[i], k)
			continue
		}
		fits[i].use(c.head(f, kappa, i, u, k), f.left, ridge[i], regressions[i].y, k)
	}
}

// regress returns the logistic regression of each output on the kernels, all at one kappa,
// for which first is a guess, and at a lambda of its own.
func (c *classifier) regress(in labelGroup, kappas []float64, first float64, outputs int) ([]logistic, []*logisticFit, float64) {
	n, said := len(in.Rows), product(c.phi, c.mean)
	regressions, best := make([]logistic, outputs), make([]*logisticFit, outputs)
	chosen, least := first, math.Inf(1)
	for i := range regressions {
		r := logistic{free: freeColumns(said, n, i), y: make([]float64, n)}
		for row := range n {
			if in.Y[row*outputs+i] > 0.5 {
				r.y[row] = 1
			}
		}
		if regressions[i] = r; r.oneClass() {
			best[i] = r.constant()
		}
	}
	// take fits at a kappa, from and at the lambdas of the best so far, or by going downhill
	// from there, and reports whether that is better.
	take := func(kappa float64, downhill bool) bool {
		kernel, sum, found := c.kernel(kappa), 0.0, slices.Clone(best)
		for i := range regressions {
			r := &regressions[i]
			if r.oneClass() {
				continue
			}
			r.kernel = kernel
			if downhill {
				found[i] = r.search(best[i])
			} else {
				found[i] = r.fit(best[i].start(), best[i])
			}
			if found[i] == nil {
				return false
			}
			sum += found[i].loss
		}
		if !(sum < least) {
			return false
		}
		best, chosen, least = found, kappa, sum
		return true
	}
	take(first, true)
	moved := false
	for _, kappa := range kappas {
		if kappa != first && n <= maxKappas && (kappa > 0 || c.predicted() != nil) && take(kappa, false) {
			moved = true
		}
	}
	if moved {
		take(chosen, true)
	}
	return regressions, best, chosen
}

// predicted is A, nil where there is none or all of its rows are alike.
func (c *classifier) predicted() *mat.Dense {
	if c.a == nil && c.root != nil && c.unit > 0 {
		c.a = product(c.phi, c.root)
	}
	return c.a
}

// head is the head of an output's regression.
func (c *classifier) head(f *logisticFit, kappa float64, output int, u units, k int) []float32 {
	n := len(f.alpha)
	alpha, w := mat.NewDense(n, 1, f.alpha), mat.NewDense(k+1, 1, nil)
	if a := c.predicted(); a != nil {
		var dual mat.Dense
		dual.Mul(a.T(), alpha)
		w.Mul(c.root, &dual)
		w.Scale(c.unit/(1+kappa), w)
	}
	if len(f.b) > 1 {
		for j := range k + 1 {
			w.Set(j, 0, w.At(j, 0)+f.b[1]*c.mean.At(j, output))
		}
	}
	h := kernelFit{kappa: kappa, lambda: f.lambda, alpha: alpha, residual: mat.NewDense(n, 1, nil)}.heads(c.rows, u, k)[0]
	for j := range k {
		h.w[j] = float32(w.At(j, 0))
	}
	return h.vector(f.b[0] + w.At(k, 0))
}

// use takes the classifier of labels y: the mean of the log-odds of two fits, each what
// discriminant says of its predictions. own is the head of the logistic regression, with
// what it says of the rows left out, ridge that of the squared loss.
func (f *headFit) use(own []float32, left []float64, ridge []float32, y []float64, k int) {
	byRidge := make([]float64, len(y))
	for i, v := range y {
		byRidge[i] = v - f.residuals[i]
	}
	head, odds, used := make([]float64, len(own)), make([]float64, len(y)), 0.0
	for _, of := range []struct {
		head []float32
		left []float64
	}{{own, left}, {ridge, byRidge}} {
		slope, cut := discriminant(of.left, y)
		if !(slope > 0) {
			continue
		}
		used++
		for j, v := range of.head {
			head[j] += slope * float64(v)
		}
		head[k] -= slope * cut
		for i, v := range of.left {
			odds[i] += slope * (v - cut)
		}
	}
	f.classifier = own
	if used > 0 {
		for j, v := range head {
			f.classifier[j] = float32(v / used)
		}
		for i := range odds {
			odds[i] /= used
		}
	} else {
		odds = left
	}
	f.residuals = make([]float64, len(y))
	for i, v := range y {
		f.residuals[i] = v - sigmoid(odds[i])
	}
}

// asLogOdds makes log-odds of a head whose predictions are probabilities, near 1/2: 4 v - 2.
func asLogOdds(head []float32, k int) []float32 {
	out := make([]float32, len(head))
	for i, v := range head {
		out[i] = 4 * v
	}
	out[k] -= 2
	return out
}

// freeColumns are 1 and, where it says something, what the mean of the sources' heads says
// of the rows for an output, n by 1 or 2.
func freeColumns(said *mat.Dense, n, output int) *mat.Dense {
	one := slices.Repeat([]float64{1}, n)
	if said != nil {
		v := mat.Col(nil, output, said)
		if mean, spread := stat.MeanStdDev(v, nil); spread > 1e-6*math.Abs(mean) {
			both := mat.NewDense(n, 2, nil)
			both.SetCol(0, one)
			both.SetCol(1, v)
			return both
		}
	}
	return mat.NewDense(n, 1, one)
}

// maxKappas is the number of rows up to which the classifier has a kappa of its own.
const maxKappas = 2000

// classify puts classifiers in the place of the heads that the relevance was measured by.
func (l *Learner) classify(fit headFit) error {
	if l.logOdds = l.problem.classifies(); !l.logOdds {
		return nil
	}
	for _, part := range fit.parts {
		for i, f := range part.fits {
			to, ridge := l.headOf(part.outputs[i]), l.ridgeOf(part.outputs[i])
			if err := l.queue.Copy(ridge, section(to, 0, ridge.Len)); err != nil {
				return err
			}
			if err := backend.Put(l.queue, to.Buf, to.Off, f.classifier); err != nil {
				return err
			}
		}
	}
	return nil
}
