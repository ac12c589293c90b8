package pipeline

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Classifies reports whether the target's predictor is fitted to classes, so that it predicts log-odds: labels are 0
// and 1, and the head has prior residual and the logistic loss.
func (p *Problem) Classifies() bool { return p.Config.Classifies(p.Set) }

// Classifies returns what [Problem.Classifies] does for the problems of a set under these settings, which must be
// complete.
func (c *Config) Classifies(set *dataset.Set) bool {
	return set.Binary && c.Head.Prior == PriorResidual && c.Head.Loss == LossLogistic
}

// classifier fits the heads of outputs with labels 0 and 1, on the kernels of residualHead, or on the kernel of the
// target's rows alone where root is nil. The log-odds are the mean of those that [regress.Discriminant]
// finds for the leave-one-out predictions of several fits:
//
//   - logistic regression. A squared loss penalises a prediction for overshooting its label, which for a class of a
//     tenth of the rows moves the boundary. Where a few rows are all separated, the log-odds of logistic regression
//     itself are unbounded;
//   - the least-squares regression, which has a prior of the intercept from the sources;
//   - for a target with one output, logistic regression on its rows alone, where including it lowers the log-loss of
//     the left-out rows. Of several classes some would take it and others not, so that their log-odds would no longer
//     be comparable.
type classifier struct {
	rows      *targetRows
	phi, root *mat.Dense // n by K+1, and L, K+1 by r: A = Phi L
	unit      float64    // 1/s, 0 where A is constant
	mean      *mat.Dense // mean of the sources' heads of the same outputs, K+1 by C, or nil
	a         *mat.Dense // A, computed when first used
	// frequency reports whether a scarce class of an output is predicted by its frequency where there is a mean.
	frequency func(output int) bool
}

// kernel returns (A A'/s + kappa X X'/t) / (1 + kappa), see [regress.KernelRidge]; for kappa > 0 in the smaller of the
// two forms of [regress.KernelMatrix].
func (c *classifier) kernel(kappa float64) regress.KernelMatrix {
	n, d := c.rows.X.Dims()
	z, width, own := new(mat.Dense), 0, kappa/(1+kappa)
	if a := c.sourcePredictions(); a != nil {
		z.Scale(math.Sqrt(c.unit/(1+kappa)), a)
		width = z.RawMatrix().Cols
	}
	switch {
	case kappa == 0 && width == 0:
		z = mat.NewDense(n, 1, nil)
	case kappa > 0 && n <= width+d:
		g := mat.NewDense(n, n, nil)
		g.Scale(own, c.rows.Gram())
		if width > 0 {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, z.RawMatrix(), z.RawMatrix(), 1, g.RawMatrix())
		}
		return regress.KernelMatrix{G: g}
	case kappa > 0:
		x := new(mat.Dense)
		x.Scale(math.Sqrt(own/c.rows.Unit()), c.rows.X)
		if width > 0 {
			sources := z
			z = new(mat.Dense)
			z.Augment(sources, x)
		} else {
			z = x
		}
	}
	return regress.KernelMatrix{Z: z}
}

// fit adds the classifier of each output to fits, whose least-squares heads are ridge, at the kappa of these fits. The
// classifier predicts log-odds. It is an intercept alone for an output whose rows are all of one class, and also for a
// scarce class of several, or of pools, where there is a mean of the sources' heads: that has no penalty, and would
// tell a single row from all others. LeaveOneOut stays that of the squared loss, by which methods are compared for one class
// against the rest: with few samples it tells them apart better than the log-loss does.
func (c *classifier) fit(in labelGroup, fits []headFit, ridge [][]float32, u units, k int) {
	kappa := fits[0].Kappa
	kernel := sync.OnceValue(func() regress.KernelMatrix { return c.kernel(kappa) })
	for i, f := range c.regress(in, kernel, len(fits)) {
		y := labelsOf(in, i, len(fits))
		if c.mean != nil && c.frequency(in.outputs[i]) && scarce(y, c.rows.Groups) {
			fits[i].classify(byFrequency(y, len(ridge[i]), k, c.rows.Groups))
			continue
		}
		squared := fits[i].byRidge(ridge[i], y)
		if f == nil { // rounding made its systems singular
			fits[i].classify(squared.asLogOdds(k))
			continue
		}
		of := []prediction{{head: c.head(f, fits[0].Kappa, i, u, k), left: f.Left}, squared}
		mean := meanLogOdds(y, k, c.rows.Groups, of...)
		if own := c.ownRegression(in, len(fits)); own != nil {
			of = append(of, prediction{head: (&classifier{rows: c.rows}).head(own, ownKappa, 0, u, k), left: own.Left})
			if all := meanLogOdds(y, k, c.rows.Groups, of...); all.logLoss(y) < mean.logLoss(y) {
				mean = all
			}
		}
		fits[i].classify(mean)
	}
}

// regress returns the logistic regression of each output on the kernels, each at its own lambda, or nil where rounding
// makes its systems singular.
func (c *classifier) regress(in labelGroup, kernel func() regress.KernelMatrix, outputs int) []*regress.LogisticFit {
	if c.root == nil && outputs == 1 {
		return []*regress.LogisticFit{c.rows.regression(in)}
	}
	predicted, out := linalg.Product(c.phi, c.mean), make([]*regress.LogisticFit, outputs)
	for i := range out {
		out[i] = c.regressOutput(kernel(), predicted, labelsOf(in, i, outputs), i)
	}
	return out
}

// regressOutput returns the logistic regression of one output with labels y, or nil where rounding makes its systems
// singular. predicted holds the predictions of the mean of the sources' heads, n by C, or is nil.
func (c *classifier) regressOutput(kernel regress.KernelMatrix, predicted *mat.Dense, y []float64, output int) *regress.LogisticFit {
	free, centre, spread := c.unpenalised(predicted, len(y), output)
	r := regress.Logistic{Kernel: kernel, Free: free, Y: y, Groups: c.rows.Groups}
	if r.OneClass() {
		return r.Constant()
	}
	fit := r.Search()
	if fit != nil && len(fit.B) > 1 { // coefficients of the mean's predictions before they are standardised
		fit.B[1] /= spread
		fit.B[0] -= fit.B[1] * centre
	}
	return fit
}

// ownKappa is the kappa of regressions on the target's rows alone. Any number above 0 will do: it scales the only
// kernel, as lambda does.
const ownKappa = 1

// regression returns the logistic regression of the only output of a target on these rows alone, or nil where rounding
// makes its systems singular. It is the same in all rounds of all methods, and therefore remembered.
func (t *targetRows) regression(in labelGroup) *regress.LogisticFit {
	if t.alone == nil || !slices.Equal(t.aloneOf, in.Y) {
		c := &classifier{rows: t}
		t.alone, t.aloneOf = c.regressOutput(c.kernel(ownKappa), nil, labelsOf(in, 0, 1), 0), slices.Clone(in.Y)
	}
	return t.alone
}

// ownRegression returns the logistic regression on the target's rows alone, or nil for several outputs and where c itself is
// fitted to these rows alone.
func (c *classifier) ownRegression(in labelGroup, outputs int) *regress.LogisticFit {
	if outputs > 1 || c.root == nil {
		return nil
	}
	return c.rows.regression(in)
}

// labelsOf returns the labels of an output, 0 or 1.
func labelsOf(in labelGroup, output, outputs int) []float64 {
	y := make([]float64, len(in.Rows))
	for row := range y {
		if in.Y[row*outputs+output] > 0.5 {
			y[row] = 1
		}
	}
	return y
}

// sourcePredictions returns A = Phi L, or nil where there is none or all its rows are the same.
func (c *classifier) sourcePredictions() *mat.Dense {
	if c.a == nil && c.root != nil && c.unit > 0 {
		c.a = linalg.Product(c.phi, c.root)
	}
	return c.a
}

// head returns the head of an output's logistic regression: w, the intercept, and delta.
func (c *classifier) head(f *regress.LogisticFit, kappa float64, output int, u units, k int) []float32 {
	n := len(f.Alpha)
	alpha, w := mat.NewDense(n, 1, f.Alpha), mat.NewDense(k+1, 1, nil)
	if a := c.sourcePredictions(); a != nil {
		var dual mat.Dense
		dual.Mul(a.T(), alpha)
		w.Mul(c.root, &dual)
		w.Scale(c.unit/(1+kappa), w)
	}
	if len(f.B) > 1 {
		for j := range k + 1 {
			w.Set(j, 0, w.At(j, 0)+f.B[1]*c.mean.At(j, output))
		}
	}
	h := headVectors(regress.KernelFit{Kappa: kappa, Lambda: f.Lambda, Alpha: alpha, Residual: mat.NewDense(n, 1, nil)}, c.rows.Rows, u, k)[0]
	for j := range k {
		h.w[j] = float32(w.At(j, 0))
	}
	return h.vector(f.B[0] + w.At(k, 0))
}

// prediction is a head with its leave-one-out predictions of the samples. The head of one of several classes that
// exclude each other may predict logits: then logits holds the leave-one-out logits, and left the log-odds that follow
// from them and from rest other classes, whose logit is 0.
type prediction struct {
	head   []float32
	left   []float64
	logits []float64
	rest   float64
}

// leftOut returns the leave-one-out prediction for a row: the logit where the head predicts logits, else left.
func (p prediction) leftOut(row int) float64 {
	if p.logits != nil {
		return p.logits[row]
	}
	return p.left[row]
}

// classify makes by the final head, in the place of the least-squares head, and its left-out predictions the log-odds.
func (f *headFit) classify(by prediction) { f.final, f.odds = by.head, by.left }

// byRidge returns the prediction of the least-squares head, for labels y.
func (f *headFit) byRidge(head []float32, y []float64) prediction {
	left := make([]float64, len(y))
	floats.SubTo(left, y, f.residuals)
	return prediction{head: head, left: left}
}

// meanLogOdds returns the mean of the log-odds that discriminants find for predictions of labels y, where k is the
// place of the intercept in a head. Each row is left out of the discriminant too, with its group. Predictions that do
// not separate the classes do not count in the mean; where none do, it returns the first prediction as it is.
func meanLogOdds(y []float64, k int, groups regress.Groups, of ...prediction) prediction {
	head, left, used := make([]float64, len(of[0].head)), make([]float64, len(y)), 0.0
	for _, p := range of {
		slope, cut := regress.Discriminant(p.left, y, groups)
		if !(slope > 0) {
			continue
		}
		used++
		for j, v := range p.head {
			head[j] += slope * float64(v)
		}
		head[k] -= slope * cut
		floats.Add(left, regress.DiscriminantLeft(p.left, y, groups))
	}
	if used == 0 {
		return of[0]
	}
	mean := prediction{head: make([]float32, len(head)), left: left}
	for j, v := range head {
		mean.head[j] = float32(v / used)
	}
	floats.Scale(1/used, left)
	return mean
}

// logLoss returns the sum of the log-losses of labels y under the leave-one-out log-odds. Labels that are NaN do not
// count.
func (p prediction) logLoss(y []float64) float64 {
	sum := 0.0
	for i, f := range p.left {
		if y[i] == y[i] {
			sum += regress.LogOfLabel(f, y[i])
		}
	}
	return sum
}

// asLogOdds returns a prediction of probabilities v as one of log-odds, which near 1/2 are 4 v - 2.
func (p prediction) asLogOdds(k int) prediction {
	out := prediction{head: make([]float32, len(p.head)), left: make([]float64, len(p.left))}
	for i, v := range p.head {
		out.head[i] = 4 * v
	}
	out.head[k] -= 2
	for i, v := range p.left {
		out.left[i] = 4*v - 2
	}
	return out
}

// unpenalised returns the unpenalised columns U of an output's regression: 1 and, unless it is constant, what the mean of the
// sources' heads predicts for the rows, less its mean (centre) and divided by its standard deviation (spread).
func (c *classifier) unpenalised(predicted *mat.Dense, n, output int) (u *mat.Dense, centre, spread float64) {
	if predicted != nil && c.unit > 0 {
		v := mat.Col(nil, output, predicted)
		// 1/unit is the mean squared norm of the sources' predictions less their mean: a spread far below its root is
		// rounding.
		if centre, spread = stat.MeanStdDev(v, nil); spread > 1e-6*max(math.Abs(centre), 1/math.Sqrt(c.unit)) {
			floats.AddConst(-centre, v)
			floats.Scale(1/spread, v)
			u = mat.NewDense(n, 2, slices.Repeat([]float64{1}, 2*n))
			u.SetCol(1, v)
			return u, centre, spread
		}
	}
	return regress.OnlyConstant(n), 0, 1
}

// finish uploads the final heads in the place of the heads that the relevance was estimated with, and keeps w of the
// latter, see [Learner.squaredHeadOf].
func (l *Learner) finish(fit headFit) error {
	l.logOdds = l.problem.Classifies()
	for _, part := range fit.parts {
		for i, f := range part.fits {
			if f.final == nil {
				continue
			}
			to := l.headOf(part.outputs[i])
			if ridge := l.squaredHeadOf(part.outputs[i]); ridge.Len > 0 {
				if err := l.queue.Copy(ridge, section(to, 0, ridge.Len)); err != nil {
					return err
				}
			}
			if err := backend.Put(l.queue, to.Buf, to.Off, f.final); err != nil {
				return err
			}
		}
	}
	return nil
}

// predictionsOf returns the prediction of each class, from the leave-one-out logits left, n by C, and the heads that
// predict logits.
func predictionsOf(l regress.Logits, left *mat.Dense, head func(class int) []float32) []prediction {
	n, c := left.Dims()
	out := make([]prediction, c)
	for j := range out {
		out[j] = prediction{head: head(j), logits: mat.Col(nil, j, left), left: make([]float64, n), rest: l.Rest}
	}
	for i := range n {
		for j, v := range l.Odds(left.RawRowView(i)) {
			out[j].left[i] = v
		}
	}
	return out
}
