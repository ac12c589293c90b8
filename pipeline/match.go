package pipeline

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/backend"
)

// spreadsChance reports whether the part of the match that is due to chance is spread evenly over the sources, as that of nu is: with
// relevance [Transfer] and a linear phi. Between tasks, of which there are many and only a few are like the target, chance gives little of
// the match; for networks its part is not known.
func (l *Learner) spreadsChance() bool {
	_, linear := l.model.(*linearClass)
	return linear && l.problem.Config.Relevance.Kind == Transfer
}

// explore returns the match of each source, and the part of it that is due to chance. That part is 0 where it is not spread evenly, or
// where the head has no own part to explore for.
func (l *Learner) explore(s backend.Samples, in []Labelled, fit headFit, rng *rand.Rand) (match []float64, byChance float64, err error) {
	sum := matchSum{of: make([]float64, len(in)), chances: make([]*matchChance, len(l.problem.Target.Tasks))}
	spreads := l.spreadsChance() && fit.Own > 0
	if spreads {
		for _, part := range fit.parts {
			if part.fits[0].again == nil {
				continue
			}
			c, err := l.matchChance(part, part.fits[0].Kappa, part.fits[0].Ridge, in, rng)
			if err != nil {
				return nil, 0, err
			}
			for _, o := range part.outputs {
				sum.chances[o] = &c
			}
		}
	}
	if err := l.match(s, in, &sum); err != nil || !spreads {
		return sum.of, 0, err
	}
	return sum.of, sum.chance(), nil
}

// match adds to sum how well the target's predictors f predict the labels of each source on the rows drawn from it: ((r^2 - 1/n)+)^2, over
// the outputs of both, where r^2 is the squared correlation of f(x_i) and y_i, and 1/n is what n unrelated rows give. Unlike nu it needs no
// head of the source, so that it also judges a source that the penalty leaves without a head, by the target's own rows.
//
// The linear class needs no predictions of single samples for this. in holds the samples, which other classes predict one by one.
func (l *Learner) match(s backend.Samples, in []Labelled, sum *matchSum) error {
	model, linear := l.model.(*linearClass)
	if !linear {
		return l.matchOf(s, in, sum)
	}
	pass, err := newMatchPass(model, s, l.counts)
	if err != nil {
		return err
	}
	defer pass.tmp.Close()
	for i, column := range l.problem.targetColumns() {
		p, c, err := model.predictor(l.headOf(i), column)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(p, func(v float64) bool { return v != 0 }) {
			continue // the prediction is the same for all rows
		}
		correlations, err := pass.correlations(toFloat32(p), c, l.counts)
		if err != nil {
			return err
		}
		t := 0
		for m, source := range l.problem.Sources {
			for range source.Tasks {
				sum.add(i, m, t, correlations[t], float64(l.counts[t]))
				t++
			}
		}
	}
	return nil
}

// matchOf is match by predictions of each sample of in, for any representation.
func (l *Learner) matchOf(s backend.Samples, in []Labelled, sum *matchSum) error {
	u, err := l.model.units()
	if err != nil {
		return err
	}
	pred, err := l.predictionsOf(s, u)
	if err != nil {
		return err
	}
	first, output := 0, 0
	for m, source := range l.problem.Sources {
		last := first + len(in[m].Rows)
		for c := range source.Tasks {
			f, y := make([]float64, last-first), make([]float64, last-first)
			for i := range y {
				y[i] = float64(in[m].Y[i*len(source.Tasks)+c])
			}
			for own, p := range pred {
				for i := range f {
					f[i] = float64(p[first+i])
				}
				if r, n := correlation(f, y, nil); n > 2 {
					sum.add(own, m, output, r*r, float64(n))
				}
			}
			output++
		}
		first = last
	}
	return nil
}

// correlation returns the correlation of f with the labels y that are not missing, and the number of these pairs. Pair i counts times[i]
// times, or once where times is nil. r is 0 where f or y is constant.
func correlation(f, y, times []float64) (r float64, n int) {
	var x, labels, weights []float64
	for i, label := range y {
		if label != label || times != nil && times[i] == 0 {
			continue
		}
		if x, labels = append(x, f[i]), append(labels, label); times != nil {
			weights = append(weights, times[i])
		}
	}
	if r = stat.Correlation(x, labels, weights); !(math.Abs(r) <= 1+1e-9) { // rounding alone can have any correlation
		r = 0
	}
	return r, len(x)
}

// matchPass holds the buffers of a pass over the samples of the sources, and the sums over the labels of each output, less its shift, that
// a pass with the predictor 0 gave. The shift is 0, or about the mean of labels far from 0, whose squares have too few digits for what they
// differ by.
type matchPass struct {
	*linear
	s                   backend.Samples
	tmp                 *backend.Scope
	rows, zero, q       backend.Matrix // T by d; row t of zero is -sum_i y_it x_i
	direction           backend.Vector
	offset, product     backend.Vector
	total, loss         backend.Vector
	shift               []float32
	sumY, sumYY         []float64
	totalHost, lossHost []float64
}

// farLabels is the ratio of the mean of labels to their standard deviation above which a pass takes them less a shift, and farPredictions
// that of predictions. The squares of labels must leave digits for those of predictions, which may differ by far less.
const farLabels, farPredictions = 5, 30

// newMatchPass returns a pass over the samples s, of which counts have labels of each output.
func newMatchPass(model *linearClass, s backend.Samples, counts []int) (*matchPass, error) {
	l, tmp := model.linear, backend.NewScope(model.b)
	p := &matchPass{
		linear: l, s: s, tmp: tmp,
		rows: tmp.Matrix(backend.Float32, l.t, l.d), zero: tmp.Matrix(backend.Float32, l.t, l.d), q: tmp.Matrix(backend.Float32, l.t, l.d),
		direction: tmp.Vector(backend.Float32, l.d), offset: tmp.Vector(backend.Float32, l.t), product: tmp.Vector(backend.Float32, l.t),
		total: tmp.Vector(backend.Float64, l.t), loss: tmp.Vector(backend.Float64, l.t),
		shift: make([]float32, l.t), sumY: make([]float64, l.t), sumYY: make([]float64, l.t),
		totalHost: make([]float64, l.t), lossHost: make([]float64, l.t),
	}
	err := tmp.Err()
	if err == nil {
		err = cmp.Or(l.b.Fill(backend.Vec(p.rows.Buf), 0), p.sumLabels())
	}
	if err == nil && p.shiftFar(counts) {
		err = p.sumLabels()
	}
	if err != nil {
		tmp.Close()
		return nil, err
	}
	return p, nil
}

// sumLabels sets the sums over the labels less their shift.
func (p *matchPass) sumLabels() error {
	err := cmp.Or(
		backend.Put(p.b, p.offset.Buf, p.offset.Off, p.shift),
		p.b.TaskGradient(p.s, p.rows, p.offset, p.zero, p.total, p.loss),
		backend.Get(p.b, p.sumY, p.total.Buf, 0),
		backend.Get(p.b, p.sumYY, p.loss.Buf, 0))
	for t, v := range p.sumY {
		p.sumY[t] = -v
	}
	return err
}

// shiftFar sets the shift of outputs whose labels are far from 0, and reports whether there are any.
func (p *matchPass) shiftFar(counts []int) bool {
	far := false
	for t, n := range counts {
		mean := p.sumY[t] / float64(max(1, n))
		if variance := p.sumYY[t]/float64(max(1, n)) - mean*mean; mean*mean > farLabels*farLabels*variance {
			p.shift[t], far = float32(mean), true
		}
	}
	return far
}

// correlations returns the squared correlation of x'v + c with the labels of each output. counts holds the numbers of labels; the result is
// 0 for fewer than three.
func (p *matchPass) correlations(v []float32, c float64, counts []int) ([]float64, error) {
	b, yv, offset := p.b, make([]float32, p.t), make([]float32, p.t)
	moved := make([]bool, p.t) // whether offset is not c
	for t, shift := range p.shift {
		offset[t], moved[t] = float32(c+float64(shift)), shift != 0
	}
	if err := backend.Put(b, p.direction.Buf, p.direction.Off, v); err != nil {
		return nil, err
	}
	for t := range p.t {
		if err := b.Copy(p.rows.Row(t), p.direction); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(b.Gemv(false, -1, p.zero, p.direction, 0, p.product), backend.Get(b, yv, p.product.Buf, p.product.Off)); err != nil {
		return nil, err
	}
	out := make([]float64, p.t)
	for range 2 { // a second time where predictions are far from 0, as labels may be
		if err := cmp.Or(
			backend.Put(b, p.offset.Buf, p.offset.Off, offset),
			b.TaskGradient(p.s, p.rows, p.offset, p.q, p.total, p.loss),
			backend.Get(b, p.totalHost, p.total.Buf, 0),
			backend.Get(b, p.lossHost, p.loss.Buf, 0)); err != nil {
			return nil, err
		}
		far := false
		for t := range out {
			// total is sum (f - y), loss sum (f - y)^2, for predictions f that differ from x'v + c by the same for all rows of t.
			n, y, yy := float64(counts[t]), p.sumY[t], p.sumYY[t]
			at := c
			if moved[t] {
				at = float64(offset[t]) - float64(p.shift[t])
			}
			f, fy := p.totalHost[t]+y, float64(yv[t])+at*y
			ff := p.lossHost[t] + 2*fy - yy
			covariance, ofF, ofY := fy-f*y/n, ff-f*f/n, yy-y*y/n
			if n > 2 && f*f > farPredictions*farPredictions*n*ofF {
				offset[t], moved[t], far = float32(float64(offset[t])-f/n), true, true
			}
			out[t] = 0
			if n > 2 && ofF > 0 && ofY > 0 {
				out[t] = covariance * covariance / (ofF * ofY)
			}
			if !(out[t] <= 1+1e-9) { // rounding alone can have any correlation
				out[t] = 0
			}
		}
		if !far {
			break
		}
	}
	return out, nil
}

// matchRates returns rates that divide the budget in proportion to the match of each source, or uniform rates where no source has any
// match.
func matchRates(match, costs []float64) []float64 {
	total := floats.Sum(match)
	if total == 0 {
		return uniformRates(costs)
	}
	rates := make([]float64, len(match))
	for m, v := range match {
		rates[m] = v / total / costs[m]
	}
	return rates
}

func toFloat32(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
