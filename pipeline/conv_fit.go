package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/amtrl/amtrl/backend"
)

// The constants of Adam.
const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
)

// trainer is one fit of a convNet. A step, from the indices of its samples to the new parameters, is recorded as one
// program.
type trainer struct {
	*convNet
	tmp     *backend.Scope
	samples backend.Samples
	act     *activations
	dout    []backend.Matrix // gradients of the layers' outputs
	dz      backend.Matrix
	grad    backend.Vector
	best    backend.Vector
	loss    backend.Vector
	step    backend.Program
	order   []int32
	rates   backend.AdamRates
	// perSample is the mean number of labels per sample.
	perSample float64
}

// newTrainer prepares a fit to samples that have the given number of labels in all.
func (n *convNet) newTrainer(s backend.Samples, labels int) (*trainer, error) {
	tmp := backend.NewScope(n.b)
	t := &trainer{
		convNet: n, tmp: tmp, samples: s, order: make([]int32, n.set.Batch),
		dz:   tmp.Matrix(backend.Float32, n.set.Batch, n.width),
		grad: tmp.Vector(backend.Float32, n.theta.Len), best: tmp.Vector(backend.Float32, n.theta.Len),
		loss: tmp.Vector(backend.Float64, 1), perSample: float64(labels) / float64(s.Len()),
	}
	var err error
	if t.act, err = n.newActivations(tmp, n.set.Batch, s.Outputs(), true); err == nil {
		for _, o := range t.act.out {
			d := tmp.Matrix(backend.Float32, o.Rows, o.Stride)
			d.Cols = o.Cols
			t.dout = append(t.dout, d)
		}
		err = tmp.Err()
	}
	if err == nil {
		t.step, err = n.b.Record(t.makeStep)
	}
	if err != nil {
		tmp.Close()
		return nil, err
	}
	return t, nil
}

func (t *trainer) close() {
	t.step.Free()
	t.tmp.Close()
}

// makeStep issues one training step on the samples that order names: forward pass, gradient of the mean squared
// residual, Adam.
func (t *trainer) makeStep() error {
	z, y, task, err := t.act.forward(t.theta, t.samples, t.order)
	if err != nil {
		return err
	}
	z.Cols = t.width // with the column of ones
	b, last := t.b, len(t.shapes)-1
	scale := 2 / (t.perSample * float64(len(t.order)))
	h, full := t.act.out[last], t.fullOf(t.theta)
	h.Cols++
	full.Cols--
	dz := t.dz
	dz.Cols = t.k // without the column of ones
	err = cmp.Or(
		b.HeadGradient(z, y, task, t.headsOf(t.theta), scale, t.dz, t.headsOf(t.grad), t.loss),
		b.Gemm(true, false, 1, dz, h, 0, t.fullOf(t.grad)),
		b.Gemm(false, false, 1, dz, full, 0, t.dout[last]))
	if err != nil {
		return err
	}
	for l := last; l >= 0; l-- {
		w, _ := t.layerOf(t.theta, l)
		dw, db := t.layerOf(t.grad, l)
		in, din := t.act.x, backend.Matrix{}
		if l > 0 {
			in, din = t.act.out[l-1], t.dout[l-1]
		}
		if err := b.ConvGrad(t.shapes[l], in, w, t.act.arg[l], t.dout[l], din, dw, db); err != nil {
			return err
		}
	}
	size := t.theta.Len
	m, v := t.moments, t.moments
	m.Len, v.Len, v.Off = size, size, m.Off+size
	return b.Adam(&t.rates, t.grad, m, v, t.theta)
}

// fit trains for the configured passes, or until the loss on the validation samples has not fallen for Patience passes,
// and keeps the parameters with the smallest validation loss. Without validation samples it keeps the last parameters.
func (n *convNet) fit(ctx context.Context, s backend.Samples, run fitRun) (Fit, error) {
	train, aside := n.set.split(run.counts)
	if err := n.set.enough(len(train)); err != nil {
		return Fit{}, err
	}
	t, err := n.newTrainer(s, sumInts(run.labels))
	if err != nil {
		return Fit{}, err
	}
	defer t.close()
	perPass := len(train) / n.set.Batch
	passes := n.set.passes(len(train))
	total := perPass * passes
	fit := Fit{Stop: "all passes"}
	least, bad, done := math.Inf(1), 0, 0
	for pass := range passes {
		run.rng.Shuffle(len(train), func(i, j int) { train[i], train[j] = train[j], train[i] })
		if err := n.b.Fill(t.loss, 0); err != nil {
			return Fit{}, err
		}
		for i := range perPass {
			if err := ctx.Err(); err != nil {
				return Fit{}, err
			}
			copy(t.order, train[i*n.set.Batch:])
			t.setRates(oneCycle(n.set.Rate, done, total), done+1)
			if err := t.step.Run(); err != nil {
				return Fit{}, err
			}
			done++
		}
		loss, err := t.meanLoss(perPass * n.set.Batch)
		if err != nil {
			return Fit{}, err
		}
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return Fit{}, fmt.Errorf("conv: the loss is %g in pass %d: lower the rate, %g", loss, pass+1, n.set.Rate)
		}
		fit.Iterations, fit.Evaluations = done, pass+1
		if len(aside) == 0 {
			fit.Loss = loss
			continue
		}
		v, err := t.validate(aside)
		if err != nil {
			return Fit{}, err
		}
		if math.IsNaN(v) {
			return Fit{}, fmt.Errorf("conv: the validation loss is %g in pass %d: lower the rate, %g", v, pass+1, n.set.Rate)
		}
		if v < least {
			least, bad = v, 0
			fit.Loss, fit.Validation = loss, v
			if err := n.b.Copy(t.best, n.theta); err != nil {
				return Fit{}, err
			}
		} else if bad++; bad == n.set.Patience {
			fit.Stop = "the validation loss stopped falling"
			break
		}
	}
	if bad > 0 {
		if err := n.b.Copy(n.theta, t.best); err != nil {
			return Fit{}, err
		}
	}
	fit.Objective = fit.Loss
	return fit, nil
}

// enough returns an error where there are fewer training samples than one batch.
func (c *Conv) enough(train int) error {
	if train < c.Batch {
		return fmt.Errorf("conv: a batch of %d, expected at most the %d samples to train on", c.Batch, train)
	}
	return nil
}

// setRates sets the rates of Adam's step s, counted from 1.
func (t *trainer) setRates(rate float64, s int) {
	t.rates = backend.AdamRates{
		Rate: rate, Beta1: adamBeta1, Beta2: adamBeta2, Epsilon: adamEpsilon, Decay: t.set.Decay,
		Correction1: 1 - math.Pow(adamBeta1, float64(s)), Correction2: 1 - math.Pow(adamBeta2, float64(s)),
	}
}

// meanLoss reads the sum of the squared residuals of n samples and divides it by the number of labels that so many samples have on average.
func (t *trainer) meanLoss(n int) (float64, error) {
	var sum [1]float64
	err := backend.Get(t.b, sum[:], t.loss.Buf, t.loss.Off)
	return sum[0] / (t.perSample * float64(n)), err
}

// validate returns the mean squared residual on the samples that order names.
func (t *trainer) validate(order []int32) (float64, error) {
	if err := t.b.Fill(t.loss, 0); err != nil {
		return 0, err
	}
	for lo := 0; lo < len(order); lo += t.act.rows {
		z, y, task, err := t.act.forward(t.theta, t.samples, order[lo:min(lo+t.act.rows, len(order))])
		if err != nil {
			return 0, err
		}
		z.Cols = t.width
		if err := t.b.HeadGradient(z, y, task, t.headsOf(t.theta), 1, backend.Matrix{}, backend.Matrix{}, t.loss); err != nil {
			return 0, err
		}
	}
	return t.meanLoss(len(order))
}
