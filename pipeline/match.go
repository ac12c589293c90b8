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

// spreadsChance says whether what the match has by chance is spread evenly, as that of nu is: with relevance [Transfer], and a linear phi.
// Between tasks, of which there are many and a few are like the target, chance has little of it, and of networks it is not known.
func (l *Learner) spreadsChance() bool {
	_, linear := l.model.(*linearClass)
	return linear && l.problem.Config.Relevance.Kind == Transfer
}

// explore is the match of each source, and the part of that which is by chance, 0 where that is not spread evenly or the head has no part
// of its own to explore for.
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

// match adds up how well the target's predictors f predict the labels of each source on
// the rows drawn from it: the square of the squared correlation of f(x_i) and y_i, less
// the 1/n that n unrelated rows give, over the outputs of both. Unlike nu it
// needs no head of the source: it sees one that the penalty leaves no head, as the
// target's own rows see it.
//
// The linear class needs no predictions of single samples for it; in are the samples.
func (l *Learner) match(s backend.Samples, in []Labelled, sum *matchSum) error {
	model, linear := l.model.(*linearClass)
	if !linear {
		return l.matchOf(s, in, sum)
	}
	pass, err := newMatchPass(model, s)
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
			continue // all rows alike
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

// matchOf is match by predictions of each sample, whatever the representation. in are
// the samples.
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

// correlation is that of f with the labels y that are there, where each pair counts so many
// times, nil for once, and the number of these pairs; 0 where either is constant.
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
	if r = stat.Correlation(x, labels, weights); !(math.Abs(r) <= 1+1e-9) { // what does not vary but by rounding can have any
		r = 0
	}
	return r, len(x)
}

// matchPass holds what a pass over the samples of the sources needs, and what one at 0
// gave: sums over the labels of each output.
type matchPass struct {
	*linear
	s                   backend.Samples
	tmp                 *backend.Scope
	rows, zero, q       backend.Matrix // T by d; zero is -sum y x
	direction           backend.Vector
	offset, product     backend.Vector
	total, loss         backend.Vector
	sumY, sumYY         []float64
	totalHost, lossHost []float64
}

func newMatchPass(model *linearClass, s backend.Samples) (*matchPass, error) {
	l, tmp := model.linear, backend.NewScope(model.b)
	p := &matchPass{
		linear: l, s: s, tmp: tmp,
		rows: tmp.Matrix(backend.Float32, l.t, l.d), zero: tmp.Matrix(backend.Float32, l.t, l.d), q: tmp.Matrix(backend.Float32, l.t, l.d),
		direction: tmp.Vector(backend.Float32, l.d), offset: tmp.Vector(backend.Float32, l.t), product: tmp.Vector(backend.Float32, l.t),
		total: tmp.Vector(backend.Float64, l.t), loss: tmp.Vector(backend.Float64, l.t),
		sumY: make([]float64, l.t), sumYY: make([]float64, l.t), totalHost: make([]float64, l.t), lossHost: make([]float64, l.t),
	}
	err := tmp.Err()
	if err == nil {
		err = cmp.Or(
			l.b.Fill(backend.Vec(p.rows.Buf), 0),
			l.b.Fill(p.offset, 0),
			l.b.TaskGradient(s, p.rows, p.offset, p.zero, p.total, p.loss),
			backend.Get(l.b, p.sumY, p.total.Buf, 0),
			backend.Get(l.b, p.sumYY, p.loss.Buf, 0))
	}
	if err != nil {
		tmp.Close()
		return nil, err
	}
	for t, v := range p.sumY {
		p.sumY[t] = -v
	}
	return p, nil
}

// correlations returns the squared correlation of x'v + c with the labels of each
// output, of which counts are there; 0 of fewer than three.
func (p *matchPass) correlations(v []float32, c float64, counts []int) ([]float64, error) {
	b, yv := p.b, make([]float32, p.t)
	if err := backend.Put(b, p.direction.Buf, p.direction.Off, v); err != nil {
		return nil, err
	}
	for t := range p.t {
		if err := b.Copy(p.rows.Row(t), p.direction); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(
		b.Gemv(false, -1, p.zero, p.direction, 0, p.product),
		b.Fill(p.offset, c),
		b.TaskGradient(p.s, p.rows, p.offset, p.q, p.total, p.loss),
		backend.Get(b, yv, p.product.Buf, p.product.Off),
		backend.Get(b, p.totalHost, p.total.Buf, 0),
		backend.Get(b, p.lossHost, p.loss.Buf, 0)); err != nil {
		return nil, err
	}
	out := make([]float64, p.t)
	for t := range out {
		// total is sum (f - y), loss sum (f - y)^2.
		n, y, yy := float64(counts[t]), p.sumY[t], p.sumYY[t]
		f, fy := p.totalHost[t]+y, float64(yv[t])+c*y
		ff := p.lossHost[t] + 2*fy - yy
		covariance, ofF, ofY := fy-f*y/n, ff-f*f/n, yy-y*y/n
		if n > 2 && ofF > 0 && ofY > 0 {
			out[t] = covariance * covariance / (ofF * ofY)
		}
	}
	return out, nil
}

// matchRates are the rates in proportion to the match of each source, and uniform
// where none matches.
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
