package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Learner carries out the rounds of one problem on a queue of its own. Only one goroutine at a time can use it.
type Learner struct {
	// given is the caller's problem, and problem a copy of it with the centres of the round.
	given, problem *Problem
	data           *Resident
	queue          backend.Queue
	model          representation
	// head holds for each output of the target the K weights w, then the intercept and delta where the model has them. Where these are a
	// classifier's, the w of the squared-loss head follows.
	head backend.Vector
	// beside is what was fitted beside the head, or in its place, by the last Learn.
	beside beside
	// logOdds reports whether the head predicts log-odds.
	logOdds bool
	tmp     *backend.Scope
	// rows caches the target samples of the rounds so far with their decompositions.
	rows []*targetRows
	// pooled caches the last regressions on the rows of all sources (see [Learner.remember]).
	pooled []pooledResult
	// fitted caches what was last fitted beside heads (see [Learner.fitBeside]).
	fitted []besideResult
	// folds caches the folds of the target samples for [Learner.nested].
	folds *sampleFolds
	// counts holds the number of labels of each output of the sources in the round, sigma the root mean square of the residuals of the
	// sources' fit.
	counts []int
	sigma  float64
	// relevance is what nu of the round is computed with where it is [Transfer], else nil.
	relevance *transfer
	// measured holds the predictions and labels that the score of the round is computed from, in the last round of a method.
	measured measured
	// learned reports whether the last Learn left a predictor.
	learned bool
}

// NewLearner prepares the representation of a problem whose data set is resident. The caller must close the learner. Learners of one
// problem may work at the same time.
func NewLearner(data *Resident, p *Problem) (*Learner, error) {
	if data == nil || p == nil {
		return nil, errors.New("expected data on a device and a problem, found nil")
	}
	if !slices.Equal(data.Set.Pools, p.Set.Pools) {
		return nil, fmt.Errorf("the problem is of the pools of %s: expected those of %s, which are resident", p.Set.Title(), data.Set.Title())
	}
	queue, err := data.Device.NewQueue()
	if err != nil {
		return nil, err
	}
	own := *p
	if own.Config.Centring != "" {
		own.means, own.apart = poolCentres(p.Set, p.Target, own.Config.Scaling, data.momentsOf)
	}
	l := &Learner{given: p, problem: &own, data: data, queue: queue, tmp: backend.NewScope(queue)}
	l.head = l.tmp.Vector(backend.Float32, len(p.Target.Tasks)*(p.Config.headLen(p.Set.Pools[0].Cols)+p.squaredHeadLen()))
	if err = l.tmp.Err(); err == nil {
		l.model, err = newRepresentation(queue, &p.Config, p.Set, p.outputs(), p.labelUnits())
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Problem returns the problem whose rounds the learner carries out.
func (l *Learner) Problem() *Problem { return l.given }

// Close frees what the learner holds on the device.
func (l *Learner) Close() {
	l.tmp.Close()
	if l.model != nil {
		l.model.close()
	}
	l.queue.Close()
}

// Learn carries out the round after st on labelled rows. It minimises the empirical risk over the representation and the sources' heads
// (eq. 2), fits the target's head on top (eq. 3), estimates the relevance of each source (eq. 6) and scores the target's predictor: on the
// held-out rows, by leave-one-out where there are none, or exactly where the data set comes from a model. It returns the state after the
// round and leaves st as it is. The same state and round give the same result.
//
// The rows may differ from those that Propose asked for, as where some have no answer or where a program allocates by itself. The number of
// rounds and the method of each are those of the problem. It is an error if a row is not in its pool or occurs twice, also as both a sample
// of the target and held out, or if it has no label or one that is infinite or, for classes, neither 0 nor 1. Once ctx is done, the error
// is that of ctx.
func (l *Learner) Learn(ctx context.Context, st State, in Round) (State, error) {
	if err := l.checkStart(st); err != nil {
		return State{}, err
	}
	if err := l.checkRound(st, in); err != nil {
		return State{}, err
	}
	l.learned = false
	if err := ctx.Err(); err != nil {
		return State{}, err
	}
	rec, err := l.learn(ctx, st, in)
	if err != nil {
		return State{}, l.problem.inRound(in.Method, in.Epoch, err)
	}
	if rec.Overlooked, err = l.overlooked(in); err != nil {
		return State{}, l.problem.inRound(in.Method, in.Epoch, err)
	}
	after, err := l.capture(append(st.Epochs[:len(st.Epochs):len(st.Epochs)], rec))
	if err != nil {
		return State{}, err
	}
	if err := after.checkFinite(); err != nil {
		return State{}, l.problem.inRound(in.Method, in.Epoch, err)
	}
	l.learned = true
	return after, nil
}

// learn carries out one round and leaves its parameters on the device.
func (l *Learner) learn(ctx context.Context, st State, in Round) (Epoch, error) {
	p := l.problem
	l.measured, l.relevance, l.beside = measured{}, nil, beside{}
	last, before := p.before(st, in.Epoch)
	rec := newEpoch(in, before, p.Costs)
	in = p.alike(in)
	if err := l.centre(&rec, in, st.Epochs); err != nil {
		return rec, err
	}
	if last != nil && (p.Config.warmStart() || p.Config.Intercept) { // for a warm start the parameters, else the units among them
		if err := l.restore(st); err != nil {
			return rec, err
		}
	}
	if fitsRows(in.Method) { // these methods have no parameters but the units
		if err := l.clear(); err != nil {
			return rec, err
		}
	}
	given := in
	in, err := l.inUnits(in, last == nil)
	switch {
	case err != nil:
		return rec, err
	case isBaseline(in.Method):
		return l.learnAlone(ctx, rec, in)
	case in.Method == Pooled:
		return l.learnPooled(ctx, rec, in)
	case IsBeside(in.Method):
		return l.learnBeside(ctx, rec, given)
	}
	samples, err := l.sourceSamples(in)
	if err != nil {
		return rec, err
	}
	defer samples.Free()
	if err := l.fitSources(ctx, &rec, in, samples.on, last, st); err != nil {
		return rec, err
	}
	fit, err := l.fitHead(in.Target)
	if err != nil {
		return rec, err
	}
	rec.record(fit)
	if err := l.findRelevance(ctx, &rec, in, samples.on, fit); err != nil {
		return rec, err
	}
	if err := l.finalHead(ctx, &rec, in, given, &fit); err != nil {
		return rec, err
	}
	err = l.measure(&rec, in, fit)
	return rec, err
}

// newEpoch records the number of samples of each source in a round, their total, how many of them are new, and their cost. before holds the
// number of samples of each source in the round before.
func newEpoch(in Round, before []int, costs []float64) Epoch {
	rec := Epoch{Method: in.Method, Epoch: in.Epoch, Counts: make([]int, len(in.Sources))}
	for m, s := range in.Sources {
		n := len(s.Rows)
		rec.Counts[m] = n
		rec.Samples += n
		rec.Drawn += n - before[m]
		rec.Cost += costs[m] * float64(n)
	}
	return rec
}

// random returns the stream of random numbers for one purpose in a round.
func (l *Learner) random(in Round, what string) *rand.Rand {
	return stream(l.problem.Config.Seed, what, l.problem.TargetName(), in.Method, strconv.Itoa(in.Epoch))
}

// sourceSamples uploads the labelled rows of the sources, with the labels that the fit sees.
func (l *Learner) sourceSamples(in Round) (placed, error) {
	fromOrigins, err := l.fromOrigins(in.Sources)
	if err != nil {
		return placed{}, err
	}
	return l.data.samples(l.queue, l.problem.centres, l.problem.Sources, fromOrigins)
}

// fitSources fits the representation and the sources' heads (eq. 2) and records the fit. With a warm start it continues from the parameters
// of st, the state after the round before, whose record is last (nil in the first round).
func (l *Learner) fitSources(ctx context.Context, rec *Epoch, in Round, samples backend.Samples, last *Epoch, st State) (err error) {
	p := l.problem
	run := fitRun{
		counts: rec.Counts, labels: labelCounts(p.Sources, in.Sources), rng: l.random(in, "fit"),
		warm: last != nil && p.Config.warmStart(), sigma: spread(p.Sources, in.Sources, func(int) bool { return true }), scale: 1,
	}
	if !p.Config.Intercept {
		run.scale = featureScale(p.shifted(), p.Sources, in.Sources, nil)
	} else if p.Config.Scaling == ScalingNone {
		u, err := l.model.units()
		if err != nil {
			return err
		}
		run.scale = featureScale(p.shifted(), p.Sources, in.Sources, u.centre)
	}
	if run.warm {
		run.sigma = math.Sqrt(last.Fit.Loss)
		err = l.model.restart(samples, run.labels, l.random(in, "init"))
	} else {
		err = l.model.start(samples, run.labels, l.random(in, "init"))
	}
	if err != nil {
		return err
	}
	if rec.Fit, err = l.model.fit(ctx, samples, run); err != nil {
		return err
	}
	for k := range p.refits(in.Method) {
		if err := l.model.restart(samples, run.labels, l.random(in, "init "+strconv.Itoa(k))); err != nil {
			return err
		}
		before := rec.Fit
		if rec.Fit, err = l.model.fit(ctx, samples, run); err != nil {
			return err
		}
		rec.Fit.Iterations += before.Iterations
		rec.Fit.Evaluations += before.Evaluations
	}
	l.counts, l.sigma = run.labels, math.Sqrt(rec.Fit.Loss)
	return err
}

// findRelevance records the relevance of each source (eq. 6), the match of each source where MixAuto explores by it, and the intervals of
// nu and of the shares.
func (l *Learner) findRelevance(ctx context.Context, rec *Epoch, in Round, samples backend.Samples, fit headFit) (err error) {
	p := l.problem
	if p.Config.Relevance.Kind == Transfer {
		rec.Nu, rec.NuByChance, err = l.transfer(ctx, in, rec.Fit.Lambda)
		rec.NuRank = linalg.Nonzero(rec.Nu)
	} else {
		var heads []backend.Vector
		for c := range p.Target.Tasks {
			heads = append(heads, section(l.headOf(c), 0, p.Config.K))
		}
		rec.Nu, rec.NuRank, err = p.Config.Relevance.estimate(l.queue, l.model.heads(), heads, outputsOf(p.Sources))
	}
	if err == nil && p.Config.Allocation.Mix == MixAuto {
		rec.Match, rec.MatchByChance, err = l.explore(samples, in.Sources, fit, l.random(in, "exploration"))
	}
	if err == nil && p.saysHowSure(in) {
		rec.Uncertainty, err = l.uncertainty(ctx, in, rec, fit, l.random(in, "uncertainty"))
	}
	return err
}

// finalHead uploads the head that predicts. In the last round this is first stacked with the base models of [Learner.stack], and fit.stated
// gets nested predictions where [Learner.nests] asks for them. given is the round in the units of the data.
func (l *Learner) finalHead(ctx context.Context, rec *Epoch, in, given Round, fit *headFit) (err error) {
	p := l.problem
	if l.stacks(in) {
		if err := l.stack(ctx, fit, in); err != nil {
			return err
		}
		rec.HeadPooled, rec.HeadAdapted, rec.HeadRelevant, rec.HeadAlone = fit.Pooled, fit.Adapted, fit.Relevant, fit.Alone
		rec.HeadSpread = fit.Spread
		rec.LeaveOneOut = fit.LeaveOneOut
	}
	if err := l.finish(*fit); err != nil {
		return err
	}
	if l.nests(in) {
		if err := l.nest(ctx, in, fit); err != nil {
			return err
		}
	}
	if l.stacksBeside(in) {
		if err := l.stackBeside(ctx, rec, given, fit); err != nil {
			return err
		}
	}
	if (rec.HeadPooled+rec.HeadRelevant+rec.HeadAlone > 0 || l.beside.parts != nil) && !p.Classifies() {
		_, rec.TargetLoss, err = l.inSamplePredictions(in.Target.Rows, fit.labels)
	}
	return err
}

// nest sets the nested predictions of fit.
func (l *Learner) nest(ctx context.Context, in Round, fit *headFit) error {
	phi, err := l.phi(new(hostCopy), poolRows{l.problem.Target.Pool, in.Target.Rows})
	if err != nil {
		return err
	}
	u, err := l.model.units()
	if err != nil {
		return err
	}
	if fit.by.phi, err = l.withoutLone(l.measuredRows(in.Target.Rows, u), phi, u); err != nil {
		return err
	}
	fit.stated, err = l.nested(ctx, in.Target, *fit)
	return err
}

// measure scores the target's predictor. In the last round of a method it keeps the losses of the test rows, and the predictions and labels
// that they come from; preset paper keeps neither.
func (l *Learner) measure(rec *Epoch, in Round, fit headFit) (err error) {
	rec.Score, rec.Losses, err = l.score(in, fit)
	if l.logOdds {
		rec.setLogLoss(fit, l.problem, in.Target)
	}
	if in.Epoch < l.problem.RoundsOf(in.Method) || l.problem.Config.Head.Prior == PriorIdentity {
		rec.Losses, l.measured = nil, measured{}
	}
	return err
}

// record copies how the head was fitted.
func (e *Epoch) record(fit headFit) {
	e.TargetLoss, e.HeadRidge, e.HeadRank, e.HeadKappa, e.LeaveOneOut = fit.Loss, fit.Ridge, fit.Rank, fit.Kappa, fit.LeaveOneOut
	e.Own, e.HeadToMean = fit.Own, fit.ToMean
}

// features computes phi of rows of pools, N by K.
func (l *Learner) features(tmp *backend.Scope, of ...poolRows) (backend.Matrix, error) {
	s, err := l.data.unlabelled(l.queue, l.problem.centres, of...)
	if err != nil {
		return backend.Matrix{}, err
	}
	defer s.Free()
	z := tmp.Matrix(backend.Float32, s.on.Len(), l.problem.Config.K)
	if err := tmp.Err(); err != nil {
		return z, err
	}
	return z, l.model.features(s.on, z)
}
