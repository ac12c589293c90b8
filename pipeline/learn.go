package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/backend"
)

// Learner carries rounds of one problem out, on a queue of its own. One
// goroutine at a time can use it.
type Learner struct {
	problem *Problem
	data    *Resident
	queue   backend.Queue
	model   representation
	// head has for each output of the target w, K numbers, and behind them the
	// intercept and delta where there are such.
	head backend.Vector
	tmp  *backend.Scope
	// rows are the target samples of the rounds so far, decomposed once.
	rows []*targetRows
	// counts are the labels of each output of the sources in the round, sigma the root
	// mean square of their residuals.
	counts []int
	sigma  float64
	// measured is what the score of the round is of, in the last round of a method.
	measured measured
}

// NewLearner prepares the representation of a problem whose data set is
// resident. The caller closes it.
func NewLearner(data *Resident, p *Problem) (*Learner, error) {
	queue, err := data.Device.NewQueue()
	if err != nil {
		return nil, err
	}
	l := &Learner{problem: p, data: data, queue: queue, tmp: backend.NewScope(queue)}
	l.head = l.tmp.Vector(backend.Float32, len(p.Target.Tasks)*p.Config.headLen(p.Set.Pools[0].Cols))
	if err = l.tmp.Err(); err == nil {
		l.model, err = newRepresentation(queue, &p.Config, p.Set, p.outputs(), p.labelUnits())
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close frees what the learner holds on the device.
func (l *Learner) Close() {
	l.tmp.Close()
	if l.model != nil {
		l.model.close()
	}
	l.queue.Close()
}

// Check refuses a state that this problem cannot have left.
func (l *Learner) Check(st State) error {
	if len(st.Epochs) == 0 {
		return nil
	}
	if n := l.model.parameters().Len; len(st.Theta) != n || len(st.Head) != l.head.Len {
		return fmt.Errorf("expected %d parameters and a head of %d, found %d and %d", n, l.head.Len, len(st.Theta), len(st.Head))
	}
	if n := l.model.optimiser().Len; len(st.Optimiser) != n {
		return fmt.Errorf("expected %d numbers of the optimiser, found %d", n, len(st.Optimiser))
	}
	return l.problem.Check(st.Epochs)
}

// Learn carries out the round after st on labelled rows: it minimises the
// empirical risk over representation and sources' heads (eq. 1), fits the
// target's head on top (eq. 2), estimates the relevance of each source (eq. 3)
// and scores the target's predictor on the held-out rows, by leave-one-out where
// there are none, or exactly where the data set comes from a model. It returns the
// state after the round and leaves st as it is. The same state and round give the
// same result.
func (l *Learner) Learn(ctx context.Context, st State, in Round) (State, error) {
	if err := l.Check(st); err != nil {
		return State{}, err
	}
	if err := l.checkRound(st, in); err != nil {
		return State{}, err
	}
	rec, err := l.learn(ctx, st, in)
	if err != nil {
		return State{}, l.problem.inRound(in.Method, in.Epoch, err)
	}
	return l.capture(append(st.Epochs[:len(st.Epochs):len(st.Epochs)], rec))
}

// checkRound refuses labelled rows that are not those of the round after st.
func (l *Learner) checkRound(st State, in Round) error {
	p := l.problem
	if method, e := p.round(len(st.Epochs)); in.Method != method || in.Epoch != e || e == 0 {
		return fmt.Errorf("target %s: expected epoch %d of %s, found epoch %d of %s", p.TargetName(), e, method, in.Epoch, in.Method)
	}
	if len(in.Sources) != len(p.Sources) {
		return p.inRound(in.Method, in.Epoch, fmt.Errorf("expected rows of %d sources, found %d", len(p.Sources), len(in.Sources)))
	}
	total := 0
	for m, s := range in.Sources {
		if limit := len(p.draws.source[m]); len(s.Rows) > limit {
			return p.inRound(in.Method, in.Epoch, fmt.Errorf("source %d: expected at most %d rows, found %d", m, limit, len(s.Rows)))
		}
		total += len(s.Rows)
	}
	for i, l := range slices.Concat(in.Sources, []Labelled{in.Target, in.Test}) {
		name, outputs := "the target", len(p.Target.Tasks)
		if i < len(p.Sources) {
			name, outputs = p.Sources[i].Name, len(p.Sources[i].Tasks)
		}
		if err := l.check(outputs); err != nil {
			return p.inRound(in.Method, in.Epoch, fmt.Errorf("rows of %s: %w", name, err))
		}
	}
	if isBaseline(in.Method) {
		total = 1
	}
	exact := p.Set.Model != nil && p.Config.Representation == ClassLinear
	if total == 0 || len(in.Target.Rows) == 0 || len(in.Test.Rows) == 0 && !exact && !p.Config.leavesOneOut() {
		return p.inRound(in.Method, in.Epoch, fmt.Errorf("expected labelled rows of sources, target and test, found %d, %d and %d",
			total, len(in.Target.Rows), len(in.Test.Rows)))
	}
	return nil
}

// check refuses rows without a label and labels that are no numbers.
func (l Labelled) check(outputs int) error {
	if len(l.Rows)*outputs != len(l.Y) {
		return fmt.Errorf("expected %d labels for each of %d rows, found %d", outputs, len(l.Rows), len(l.Y))
	}
	for i, row := range l.Rows {
		missing := 0
		for _, y := range l.Y[i*outputs : (i+1)*outputs] {
			if v := float64(y); math.IsInf(v, 0) || math.IsNaN(v) && outputs == 1 {
				return fmt.Errorf("the label of row %d is %g, expected a finite number", row, y)
			} else if math.IsNaN(v) {
				missing++
			}
		}
		if missing == outputs {
			return fmt.Errorf("row %d has none of %d labels, expected at least one", row, outputs)
		}
	}
	return nil
}

// learn is one round without the transfer of its parameters.
func (l *Learner) learn(ctx context.Context, st State, in Round) (Epoch, error) {
	p := l.problem
	l.measured = measured{}
	last, before := p.before(st, in.Epoch)
	rec := Epoch{Method: in.Method, Epoch: in.Epoch, Counts: make([]int, len(in.Sources))}
	for m, s := range in.Sources {
		n := len(s.Rows)
		rec.Counts[m] = n
		rec.Samples += n
		rec.Drawn += n - before[m]
		rec.Cost += p.Costs[m] * float64(n)
	}
	if last != nil && (p.Config.warmStart() || p.Config.Intercept) { // for the parameters, or the units among them
		if err := l.restore(st); err != nil {
			return Epoch{}, err
		}
	}
	if isRidge(in.Method) { // which have no parameters but the units
		if err := l.clear(); err != nil {
			return Epoch{}, err
		}
	}
	in, err := l.inUnits(in, last == nil)
	if err != nil {
		return Epoch{}, err
	}
	if isBaseline(in.Method) {
		return l.learnAlone(rec, in)
	}
	if in.Method == Pooled {
		return l.learnPooled(rec, in)
	}
	fromOrigins, err := l.fromOrigins(in.Sources)
	if err != nil {
		return Epoch{}, err
	}
	samples, err := l.data.samples(l.queue, p.Sources, fromOrigins)
	if err != nil {
		return Epoch{}, err
	}
	defer samples.Free()
	random := func(what string) *rand.Rand {
		return stream(p.Config.Seed, what, p.TargetName(), in.Method, strconv.Itoa(in.Epoch))
	}
	run := fitRun{
		counts: rec.Counts, labels: labelCounts(p.Sources, in.Sources), rng: random("fit"),
		warm: last != nil && p.Config.warmStart(), sigma: spread(p.Sources, in.Sources, func(int) bool { return true }), scale: 1,
	}
	if !p.Config.Intercept {
		run.scale = featureScale(p.Set, p.Sources, in.Sources, nil)
	} else if p.Config.Scaling == ScalingNone {
		u, err := l.model.units()
		if err != nil {
			return Epoch{}, err
		}
		run.scale = featureScale(p.Set, p.Sources, in.Sources, u.centre)
	}
	if !run.warm {
		if err := l.model.start(samples, run.labels, random("init")); err != nil {
			return Epoch{}, err
		}
	} else {
		run.steps, run.sigma = stepsBefore(st.Epochs, in.Method), math.Sqrt(last.Fit.Loss)
	}
	if rec.Fit, err = l.model.fit(ctx, samples, run); err != nil {
		return Epoch{}, err
	}
	l.counts, l.sigma = run.labels, math.Sqrt(rec.Fit.Loss)
	fit, err := l.fitHead(in.Target)
	if err != nil {
		return Epoch{}, err
	}
	rec.record(fit)
	var heads []backend.Vector
	for c := range p.Target.Tasks {
		heads = append(heads, section(l.headOf(c), 0, p.Config.K))
	}
	if p.Config.Relevance.Kind == Transfer {
		rec.Nu, err = l.transfer(in.Target)
		rec.NuRank = nonzero(rec.Nu)
	} else {
		rec.Nu, rec.NuRank, err = p.Config.Relevance.estimate(l.queue, l.model.heads(), heads, outputsOf(p.Sources))
	}
	if err != nil {
		return Epoch{}, err
	}
	if p.Config.Allocation.Mix == MixAuto {
		if rec.Match, err = l.match(samples, in.Sources); err != nil {
			return Epoch{}, err
		}
	}
	if p.saysHowSure(in) {
		if rec.Uncertainty, err = l.uncertainty(in, &rec, fit, random("uncertainty")); err != nil {
			return Epoch{}, err
		}
	}
	err = l.measure(&rec, in, fit)
	return rec, err
}

// measure scores the target's predictor. With the last round of a method stay the
// losses of the test rows and what they were measured on; preset paper is without them.
func (l *Learner) measure(rec *Epoch, in Round, fit headFit) (err error) {
	rec.Score, rec.Losses, err = l.score(in, fit)
	if in.Epoch < l.problem.RoundsOf(in.Method) || l.problem.Config.Head.Prior == PriorIdentity {
		rec.Losses, l.measured = nil, measured{}
	}
	return err
}

// record takes over how the head was fitted.
func (e *Epoch) record(fit headFit) {
	e.TargetLoss, e.HeadRidge, e.HeadRank, e.HeadKappa, e.LeaveOneOut = fit.Loss, fit.Ridge, fit.Rank, fit.Kappa, fit.LeaveOneOut
	e.Own, e.HeadToMean = fit.Own, fit.ToMean
}

// headOf views the head of an output of the target.
func (l *Learner) headOf(output int) backend.Vector {
	n := l.head.Len / len(l.problem.Target.Tasks)
	return section(l.head, output*n, n)
}

// inUnits returns the round with its labels in the units of the fit, which the
// first round of a method sets. Later rounds keep them.
func (l *Learner) inUnits(in Round, first bool) (Round, error) {
	if !l.problem.Config.Intercept {
		return in, nil
	}
	u, err := l.model.units()
	if err != nil {
		return in, err
	}
	p := l.problem
	if first {
		u = newUnits(l.data.Set, append(slices.Clone(p.Sources), p.Target), p.columns, append(slices.Clone(in.Sources), in.Target),
			p.Config.Scaling)
	}
	in.Sources = slices.Clone(in.Sources)
	var means []float32
	for m, s := range in.Sources {
		outputs := len(p.Sources[m].Tasks)
		at := len(means)
		in.Sources[m] = u.in(s, p.columns[at:at+outputs])
		for c := range outputs {
			means = append(means, float32(meanLabel(in.Sources[m].column(c, outputs))))
		}
	}
	in.Target = u.in(in.Target, p.targetColumns())
	fillMeans(means, labelCounts(p.Sources, in.Sources), p.columns)
	if first || !l.problem.Config.warmStart() {
		err = l.model.setUnits(u, means)
	}
	return in, err
}

// fromOrigins returns labelled rows of the sources with the labels that the fit sees.
func (l *Learner) fromOrigins(in []Labelled) ([]Labelled, error) {
	origins, err := l.model.origins()
	if err != nil || origins == nil {
		return in, err
	}
	out := make([]Labelled, len(in))
	for m, s := range l.problem.Sources {
		outputs := len(s.Tasks)
		y := slices.Clone(in[m].Y)
		for i := range y {
			y[i] -= origins[i%outputs]
		}
		out[m], origins = Labelled{in[m].Rows, y}, origins[outputs:]
	}
	return out, nil
}

// restore uploads the parameters that a state holds.
func (l *Learner) restore(st State) error {
	for _, v := range []struct {
		to   backend.Vector
		from []float32
	}{{l.model.parameters(), st.Theta}, {l.model.optimiser(), st.Optimiser}} {
		if len(v.from) > 0 {
			if err := backend.Put(l.queue, v.to.Buf, v.to.Off, v.from); err != nil {
				return err
			}
		}
	}
	return nil
}

// capture downloads the parameters into a state with these records.
func (l *Learner) capture(epochs []Epoch) (State, error) {
	st := State{Epochs: epochs}
	for _, v := range []struct {
		from backend.Vector
		to   *[]float32
	}{{l.model.parameters(), &st.Theta}, {l.model.optimiser(), &st.Optimiser}, {l.head, &st.Head}} {
		*v.to = make([]float32, v.from.Len)
		if v.from.Len == 0 {
			continue
		}
		if err := backend.Get(l.queue, *v.to, v.from.Buf, v.from.Off); err != nil {
			return State{}, err
		}
	}
	return st, nil
}

// stepsBefore is the number of iterations of a method's rounds so far.
func stepsBefore(epochs []Epoch, method string) int {
	n := 0
	for i := range epochs {
		if epochs[i].Method == method {
			n += epochs[i].Fit.Iterations
		}
	}
	return n
}

// fitHead fits the target's head (eq. 2).
func (l *Learner) fitHead(target Labelled) (headFit, error) {
	if l.problem.Config.Head.Prior == PriorResidual {
		fit, err := l.residualHead()
		if err != nil {
			return headFit{}, err
		}
		return l.fitParts(target, fit)
	}
	used := l.problem.Config.K
	if l.problem.Config.Intercept {
		used++
	}
	return l.fitParts(target, func(in labelGroup) ([]headFit, error) {
		tmp := backend.NewScope(l.queue)
		defer tmp.Close()
		z, err := l.features(tmp, l.problem.Target.Pool, in.Rows)
		if err != nil {
			return nil, err
		}
		fits := make([]headFit, len(in.outputs))
		for i, c := range in.outputs {
			y := in.column(i, len(in.outputs))
			if fits[i], err = l.problem.Config.Head.fit(l.queue, z, l.model.heads(), y, section(l.headOf(c), 0, used)); err != nil {
				return nil, err
			}
		}
		return fits, nil
	})
}

// fitParts fits the heads of outputs of the target that have labels of the same rows
// together, with fit, which returns how it fitted each. An output without a label
// has the head 0. The result has the means over outputs of the losses, in the units
// of the data for leave-one-out, and what the first output has of the rest.
func (l *Learner) fitParts(target Labelled, fit func(labelGroup) ([]headFit, error)) (headFit, error) {
	u, err := l.model.units()
	if err != nil {
		return headFit{}, err
	}
	if err := l.queue.Fill(l.head, 0); err != nil { // methods differ in what parts of it they have
		return headFit{}, err
	}
	var out headFit
	fitted, columns := 0, l.problem.targetColumns()
	for _, in := range target.parts(len(columns)) {
		if len(in.Rows) == 0 {
			continue
		}
		fits, err := fit(in)
		if err != nil {
			return headFit{}, err
		}
		out.parts = append(out.parts, fittedPart{in, fits})
		for i, f := range fits {
			if fitted++; fitted == 1 {
				out.Ridge, out.Rank, out.Kappa, out.Own, out.ToMean = f.Ridge, f.Rank, f.Kappa, f.Own, f.ToMean
			}
			label := u.labelOf(columns[in.outputs[i]])
			out.Loss += f.Loss
			out.LeaveOneOut += label * label * f.LeaveOneOut
			if f.residuals != nil {
				out.leaveOut(target, in.outputs[i], len(columns), label, f.residuals)
			}
		}
	}
	out.Loss /= float64(max(1, fitted))
	out.LeaveOneOut /= float64(max(1, fitted))
	return out, nil
}

// leaveOut adds the leave-one-out predictions of an output, in the units of the data:
// residuals are those of the rows that have the label, in units of label.
func (f *headFit) leaveOut(target Labelled, output, outputs int, label float64, residuals []float64) {
	if f.left == nil {
		f.labels = make([]float32, len(target.Y))
		f.left = make([][]float32, outputs)
		for c := range f.left {
			f.left[c] = slices.Repeat([]float32{float32(math.NaN())}, len(target.Rows))
		}
	}
	for i := range target.Rows {
		y := float64(target.Y[i*outputs+output])
		f.labels[i*outputs+output] = float32(label * y)
		if y == y {
			f.left[output][i], residuals = float32(label*(y-residuals[0])), residuals[1:]
		}
	}
}

// features computes phi of rows of a pool, N by K.
func (l *Learner) features(tmp *backend.Scope, pool int, rows []int32) (backend.Matrix, error) {
	s, err := l.data.unlabelled(l.queue, pool, rows)
	if err != nil {
		return backend.Matrix{}, err
	}
	defer s.Free()
	z := tmp.Matrix(backend.Float32, s.Len(), l.problem.Config.K)
	if err := tmp.Err(); err != nil {
		return z, err
	}
	return z, l.model.features(s, z)
}
