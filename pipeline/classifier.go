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

// Classifies says whether the target's predictor is fitted to classes, so that what it
// predicts are probabilities: labels are 0 and 1, and the head leans on the target's own rows.
func (p *Problem) Classifies() bool { return p.Config.Classifies(p.Set) }

// Classifies is that of each problem of a set under these settings, once they are complete.
func (c *Config) Classifies(set *dataset.Set) bool {
	return set.Binary && c.Head.Prior == PriorResidual && c.Head.Loss == LossLogistic
}

// classifier fits the heads of outputs with labels of 0 and 1, on the kernels that
// residualHead has, or on that of the target's rows alone where root is nil. The log-odds are
// the mean of what [regress.Discriminant] makes of the predictions of fits for the rows left out:
//
//   - logistic regression. A squared loss counts against a row that its prediction is beyond
//     its label, which for a class of a tenth of the rows moves the boundary. Where few rows
//     are all told apart, its own log-odds know no bounds;
//   - the regression by squared loss, which has what is known of intercepts;
//   - for a target with one output, logistic regression on its rows alone, where with it the
//     mean gives the labels of the rows left out more probability. Of several classes some
//     would take it and others not, so that their log-odds no longer compare.
type classifier struct {
	rows      *targetRows
	phi, root *mat.Dense // n by K+1, K+1 by r
	unit      float64
	mean      *mat.Dense // of the sources' heads of the same outputs, K+1 by C, or nil
	a         *mat.Dense // A, once it is wanted
	hasOthers func(output int) bool
}

// kernel is (A A'/s + kappa X X'/t) / (1 + kappa).
func (c *classifier) kernel(kappa float64) regress.KernelMatrix {
	n, d := c.rows.X.Dims()
	z, width, own := new(mat.Dense), 0, kappa/(1+kappa)
	if a := c.predicted(); a != nil {
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

// fit adds to fits, whose heads by squared loss are ridge, the classifier of each output, at
// the kappa of these. An output whose rows are all of one class has none but the intercept, and so has a scarce one of several
// classes, where the mean of the sources' heads, on which there is no penalty, would tell a single row from all others.
// LeaveOneOut stays that of the squared loss, by which methods of one class are compared: with few samples
// it tells them apart better than the probabilities do.
//
// What it predicts are log-odds.
func (c *classifier) fit(in labelGroup, fits []headFit, ridge [][]float32, u units, k int) {
	kappa := fits[0].Kappa
	kernel := sync.OnceValue(func() regress.KernelMatrix { return c.kernel(kappa) })
	for i, f := range c.regress(in, kernel, len(fits)) {
		y := labelsOf(in, i, len(fits))
		if c.mean != nil && c.hasOthers(in.outputs[i]) && scarce(y, c.rows.Groups) {
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
		if own := c.alone(in, len(fits)); own != nil {
			of = append(of, prediction{head: (&classifier{rows: c.rows}).head(own, ownKappa, 0, u, k), left: own.Left})
			if all := meanLogOdds(y, k, c.rows.Groups, of...); all.logLoss(y) < mean.logLoss(y) {
				mean = all
			}
		}
		fits[i].classify(mean)
	}
}

// regress returns the logistic regression of each output on the kernels, each at a lambda of
// its own.
func (c *classifier) regress(in labelGroup, kernel func() regress.KernelMatrix, outputs int) []*regress.LogisticFit {
	if c.root == nil && outputs == 1 {
		return []*regress.LogisticFit{c.rows.regression(in)}
	}
	said, out := linalg.Product(c.phi, c.mean), make([]*regress.LogisticFit, outputs)
	for i := range out {
		out[i] = c.regressOutput(kernel(), said, labelsOf(in, i, outputs), i)
	}
	return out
}

// regressOutput is nil where rounding made its systems singular.
func (c *classifier) regressOutput(kernel regress.KernelMatrix, said *mat.Dense, y []float64, output int) *regress.LogisticFit {
	free, centre, spread := c.free(said, len(y), output)
	r := regress.Logistic{Kernel: kernel, Free: free, Y: y, Groups: c.rows.Groups}
	if r.OneClass() {
		return r.Constant()
	}
	fit := r.Search()
	if fit != nil && len(fit.B) > 1 { // of what the mean says as it is
		fit.B[1] /= spread
		fit.B[0] -= fit.B[1] * centre
	}
	return fit
}

// ownKappa is any above 0: of the two kernels there is one, and a factor of it one of lambda.
const ownKappa = 1

// regression is that of one output on these rows alone, the same in all rounds of all methods.
func (t *targetRows) regression(in labelGroup) *regress.LogisticFit {
	if t.alone == nil || !slices.Equal(t.aloneOf, in.Y) {
		c := &classifier{rows: t}
		t.alone, t.aloneOf = c.regressOutput(c.kernel(ownKappa), nil, labelsOf(in, 0, 1), 0), slices.Clone(in.Y)
	}
	return t.alone
}

// alone is the regression on the target's rows alone. It is nil for several classes and for
// that regression itself.
func (c *classifier) alone(in labelGroup, outputs int) *regress.LogisticFit {
	if outputs > 1 || c.root == nil {
		return nil
	}
	return c.rows.regression(in)
}

// labelsOf are the labels of an output, 0 or 1.
func labelsOf(in labelGroup, output, outputs int) []float64 {
	y := make([]float64, len(in.Rows))
	for row := range y {
		if in.Y[row*outputs+output] > 0.5 {
			y[row] = 1
		}
	}
	return y
}

// predicted is A, nil where there is none or all of its rows are alike.
func (c *classifier) predicted() *mat.Dense {
	if c.a == nil && c.root != nil && c.unit > 0 {
		c.a = linalg.Product(c.phi, c.root)
	}
	return c.a
}

// head is the head of an output's regression.
func (c *classifier) head(f *regress.LogisticFit, kappa float64, output int, u units, k int) []float32 {
	n := len(f.Alpha)
	alpha, w := mat.NewDense(n, 1, f.Alpha), mat.NewDense(k+1, 1, nil)
	if a := c.predicted(); a != nil {
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

// prediction is a head and what it says of each row left out.
// Of classes that exclude each other the head may be of logits: then these are what it says, and left the log-odds by them, and by rest
// other classes, of logit 0.
type prediction struct {
	head   []float32
	left   []float64
	logits []float64
	rest   float64
}

// says is what the head says of a row, left out.
func (p prediction) says(row int) float64 {
	if p.logits != nil {
		return p.logits[row]
	}
	return p.left[row]
}

// classify puts the log-odds in the place of the head by squared loss.
func (f *headFit) classify(by prediction) { f.final, f.odds = by.head, by.left }

// byRidge is that of the regression by squared loss.
func (f *headFit) byRidge(head []float32, y []float64) prediction {
	left := make([]float64, len(y))
	floats.SubTo(left, y, f.residuals)
	return prediction{head: head, left: left}
}

// meanLogOdds is the mean of the log-odds that discriminant makes of predictions of labels
// y, of those that say something of them, each row, with its group, left out of that too; where none does, the first prediction as it is.
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

// logLoss is that of log-odds of labels y, of which NaN does not count.
func (p prediction) logLoss(y []float64) float64 {
	sum := 0.0
	for i, f := range p.left {
		if y[i] == y[i] {
			sum += regress.LogOfLabel(f, y[i])
		}
	}
	return sum
}

// asLogOdds makes log-odds of predictions that are probabilities, near 1/2: 4 v - 2.
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

// free are the columns that no penalty is on: 1 and, where it says something, what the mean of
// the sources' heads says of the rows for an output, less its own mean and divided by its spread.
func (c *classifier) free(said *mat.Dense, n, output int) (u *mat.Dense, centre, spread float64) {
	if said != nil && c.unit > 0 {
		v := mat.Col(nil, output, said)
		// 1/unit is the mean square of what the sources' heads say, less its mean: far below is rounding.
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

// finish puts the final heads in the place of those that the relevance was measured by.
func (l *Learner) finish(fit headFit) error {
	l.logOdds = l.problem.Classifies()
	for _, part := range fit.parts {
		for i, f := range part.fits {
			if f.final == nil {
				continue
			}
			to := l.headOf(part.outputs[i])
			if ridge := l.ridgeOf(part.outputs[i]); ridge.Len > 0 {
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

// predictionsOf are those of heads of logits that say left of the samples left out, n by C.
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
