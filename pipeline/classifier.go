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

// Classifies says whether the target's predictor is fitted to classes, so that what it
// predicts are probabilities: labels are 0 and 1, and the head leans on the target's own rows.
func (p *Problem) Classifies() bool {
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
	z, width := new(mat.Dense), 0
	if a := c.predicted(); a != nil {
		z.Scale(math.Sqrt(c.unit/(1+kappa)), a)
		width = z.RawMatrix().Cols
	}
	if n <= width+d && kappa > 0 {
		out := mat.NewDense(n, n, nil)
		out.Scale(kappa/(1+kappa), c.rows.gram())
		if width > 0 {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, z.RawMatrix(), z.RawMatrix(), 1, out.RawMatrix())
		}
		return kernelMatrix{g: out}
	}
	if kappa > 0 {
		var own, both mat.Dense
		own.Scale(math.Sqrt(kappa/(1+kappa)/c.rows.unit()), c.rows.x)
		if width == 0 {
			return kernelMatrix{z: &own}
		}
		both.Augment(z, &own)
		z = &both
	} else if width == 0 {
		z = mat.NewDense(n, 1, nil)
	}
	return kernelMatrix{z: z}
}

// fit adds to fits, whose heads by squared loss are ridge, the classifier of each output, at
// the kappa of these, with its residuals in place of those of the squared loss. An output
// whose rows are all of one class has none but the intercept. LeaveOneOut stays that of the
// squared loss, by which methods are compared: with few samples it tells them apart better
// than the probabilities do.
//
// What it predicts are log-odds.
func (c *classifier) fit(in labelGroup, fits []headFit, ridge [][]float32, u units, k int) {
	for i, f := range c.regress(in, fits[0].Kappa, len(fits)) {
		if f == nil { // rounding made its systems singular
			fits[i].classifier = asLogOdds(ridge[i], k)
			continue
		}
		fits[i].use(c.head(f, fits[0].Kappa, i, u, k), f.left, ridge[i], labelsOf(in, i, len(fits)), k)
	}
}

// regress returns the logistic regression of each output on the kernels, each at a lambda of
// its own.
func (c *classifier) regress(in labelGroup, kappa float64, outputs int) []*logisticFit {
	n, said, kernel := len(in.Rows), product(c.phi, c.mean), c.kernel(kappa)
	out := make([]*logisticFit, outputs)
	for i := range out {
		r := logistic{kernel: kernel, free: freeColumns(said, n, i), y: labelsOf(in, i, outputs)}
		if r.oneClass() {
			out[i] = r.constant()
		} else {
			out[i] = r.search()
		}
	}
	return out
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

// classify puts classifiers in the place of the heads that the relevance was measured by.
func (l *Learner) classify(fit headFit) error {
	if l.logOdds = l.problem.Classifies(); !l.logOdds {
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
