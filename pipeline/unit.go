package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/amtrl/amtrl/backend"
)

// Epoch records one round of draw, fit and relevance.
type Epoch struct {
	Method string `json:"method"`
	// Epoch counts from 1.
	Epoch int `json:"epoch"`
	// Samples is the number of source samples drawn so far, Drawn of them in
	// this epoch, Cost what they cost in all.
	Samples int     `json:"samples"`
	Drawn   int     `json:"drawn"`
	Cost    float64 `json:"cost"`
	// Counts are the samples so far, a source.
	Counts []int `json:"counts"`
	// Fit reports the empirical risk minimisation (eq. 1).
	Fit Fit `json:"erm"`
	// TargetLoss is the mean squared residual of the head on the target samples,
	// HeadRidge and HeadRank how it was fitted (eq. 2).
	TargetLoss float64 `json:"target_loss"`
	HeadRidge  float64 `json:"head_ridge"`
	HeadRank   int     `json:"head_rank"`
	// Nu is the relevance estimated at the end of the epoch (eq. 3), a source,
	// and NuRank the rank it was found at.
	Nu     []float64 `json:"nu"`
	NuRank int       `json:"nu_rank"`
	Score  Score     `json:"score"`
}

// Step tells a listener how far a unit is.
type Step struct {
	Method string
	// Epoch of Epochs of the method; Done of Total steps over all methods.
	Epoch, Epochs, Done, Total int
	// Record is the finished epoch, nil while it runs.
	Record *Epoch
}

// unit is the work for one target and one seed: all methods in turn, on a queue
// of its own once it is placed.
type unit struct {
	dev     *Device
	queue   backend.Queue
	cfg     *Config
	target  int
	sources []int
	costs   []float64
	draws   draws
	plans   []EpochPlan
	model   representation
	head    backend.Vector
	// targetSamples and test hold the target's labelled and held-out rows.
	targetSamples, test backend.Samples
	targetY, testY      []float32
	tmp                 *backend.Scope
}

// newUnit plans a unit and places the target's rows on the device.
func newUnit(dev *Device, cfg *Config, target int) (*unit, error) {
	u, err := planUnit(dev, cfg, target)
	if err != nil {
		return nil, err
	}
	if err := u.place(); err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

func (u *unit) place() error {
	dev, err := u.dev.fork()
	if err != nil {
		return err
	}
	u.dev, u.queue = dev, dev.Queue
	set := dev.Set
	u.tmp = backend.NewScope(dev.Queue)
	if u.model, err = newRepresentation(dev.Queue, u.cfg, set, len(u.sources)); err != nil {
		return err
	}
	u.head = u.tmp.Vector(backend.Float32, u.cfg.K)
	if err := u.tmp.Err(); err != nil {
		return err
	}
	one := func(rows []int32) (backend.Samples, []float32, error) {
		s, err := dev.samples([]int{u.target}, [][]int32{rows}, []int{len(rows)})
		y := make([]float32, len(rows))
		for i, r := range rows {
			y[i] = set.Tasks[u.target].Labels[r]
		}
		return s, y, err
	}
	if u.targetSamples, u.targetY, err = one(u.draws.target); err != nil {
		return err
	}
	u.test, u.testY, err = one(set.Tasks[u.target].Test)
	return err
}

func (u *unit) close() {
	if u.tmp != nil {
		u.tmp.Close()
	}
	if u.model != nil {
		u.model.close()
	}
	for _, s := range []backend.Samples{u.targetSamples, u.test} {
		if s != nil {
			s.Free()
		}
	}
	if u.queue != nil {
		u.queue.Close()
	}
}

// epochs is the number of rounds of a method.
func (u *unit) epochs(method string) int {
	if method == Active {
		return u.cfg.Schedule.Epochs
	}
	return 1
}

func (u *unit) steps() int {
	n := 0
	for _, m := range u.cfg.Methods {
		n += u.epochs(m)
	}
	return n
}

// state is all that a unit carries from one epoch to the next.
type state struct {
	Epochs []Epoch
	// Theta are the parameters after the last epoch, Optimiser what its fit
	// left for the next beside them.
	Theta, Optimiser []float32
	// Head is the target's head after the last epoch.
	Head []float32
}

// accepts refuses a state that this unit cannot have left.
func (u *unit) accepts(st *state) error {
	if len(st.Epochs) == 0 {
		return nil
	}
	if n := u.model.parameters().Len; len(st.Theta) != n || len(st.Head) != u.head.Len {
		return fmt.Errorf("expected %d parameters and a head of %d, found %d and %d", n, u.head.Len, len(st.Theta), len(st.Head))
	}
	if n := u.model.optimiser().Len; len(st.Optimiser) != n {
		return fmt.Errorf("expected %d numbers of the optimiser, found %d", n, len(st.Optimiser))
	}
	at, limit := 0, u.draws.limits()
	for _, method := range u.cfg.Methods {
		for e := 1; e <= u.epochs(method) && at < len(st.Epochs); e, at = e+1, at+1 {
			rec := &st.Epochs[at]
			if rec.Method != method || rec.Epoch != e {
				return fmt.Errorf("expected epoch %d of %s in place %d, found epoch %d of %s", e, method, at, rec.Epoch, rec.Method)
			}
			if len(rec.Counts) != len(u.sources) || len(rec.Nu) != len(u.sources) {
				return fmt.Errorf("epoch %d of %s: expected %d sources, found %d counts and %d nu", e, method, len(u.sources), len(rec.Counts), len(rec.Nu))
			}
			for m, n := range rec.Counts {
				if n < 0 || n > limit[m] {
					return fmt.Errorf("epoch %d of %s: source %d has %d samples, expected 0 to %d", e, method, m, n, limit[m])
				}
			}
		}
	}
	if at < len(st.Epochs) {
		return fmt.Errorf("expected at most %d epochs, found %d", at, len(st.Epochs))
	}
	return nil
}

// run carries the unit from st to its end, calling saved after each epoch with
// the state complete.
func (u *unit) run(ctx context.Context, st *state, progress func(Step), saved func(*state) error) error {
	if err := u.accepts(st); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	total, done := u.steps(), 0
	for _, v := range []struct {
		to   backend.Vector
		from []float32
	}{{u.model.parameters(), st.Theta}, {u.model.optimiser(), st.Optimiser}} {
		if len(v.from) > 0 {
			if err := backend.Put(u.dev.Queue, v.to.Buf, v.to.Off, v.from); err != nil {
				return err
			}
		}
	}
	for _, method := range u.cfg.Methods {
		for e := 1; e <= u.epochs(method); e++ {
			if done++; done <= len(st.Epochs) {
				continue
			}
			step := Step{Method: method, Epoch: e, Epochs: u.epochs(method), Done: done - 1, Total: total}
			progress(step)
			rec, err := u.epoch(ctx, st, method, e)
			if err != nil {
				return fmt.Errorf("target %s, %s, epoch %d: %w", u.dev.Set.Tasks[u.target].Name, method, e, err)
			}
			st.Epochs = append(st.Epochs, rec)
			if err := u.capture(st); err != nil {
				return err
			}
			if err := saved(st); err != nil {
				return err
			}
			step.Done, step.Record = done, &rec
			progress(step)
		}
	}
	return nil
}

// capture downloads the parameters into the state.
func (u *unit) capture(st *state) error {
	for _, v := range []struct {
		from backend.Vector
		to   *[]float32
	}{{u.model.parameters(), &st.Theta}, {u.model.optimiser(), &st.Optimiser}, {u.head, &st.Head}} {
		*v.to = make([]float32, v.from.Len)
		if v.from.Len == 0 {
			continue
		}
		if err := backend.Get(u.dev.Queue, *v.to, v.from.Buf, v.from.Off); err != nil {
			return err
		}
	}
	return nil
}

// epoch draws, fits and estimates once.
func (u *unit) epoch(ctx context.Context, st *state, method string, e int) (Epoch, error) {
	before := make([]int, len(u.sources))
	var last *Epoch
	if e > 1 {
		last = &st.Epochs[len(st.Epochs)-1]
		before = last.Counts
	}
	counts, err := u.allocate(st, method, e, last, before)
	if err != nil {
		return Epoch{}, err
	}
	rec := Epoch{Method: method, Epoch: e, Counts: counts}
	for m, n := range counts {
		rec.Samples += n
		rec.Drawn += n - before[m]
		rec.Cost += u.costs[m] * float64(n)
	}
	if rec.Samples == 0 {
		return Epoch{}, fmt.Errorf("the schedule draws no sample: raise the budget or the floor")
	}
	samples, err := u.dev.samples(u.sources, u.draws.source, counts)
	if err != nil {
		return Epoch{}, err
	}
	defer samples.Free()
	random := func(what string) *rand.Rand {
		return stream(u.cfg.Seed, what, u.dev.Set.Tasks[u.target].Name, method, strconv.Itoa(e))
	}
	run := fitRun{counts: counts, rng: random("fit")}
	if e == 1 || !u.cfg.warmStart() {
		if err := u.model.start(samples, counts, random("init")); err != nil {
			return Epoch{}, err
		}
	} else {
		run.steps = stepsBefore(st.Epochs, method)
	}
	if rec.Fit, err = u.model.fit(ctx, samples, run); err != nil {
		return Epoch{}, err
	}
	fit, err := u.fitHead()
	if err != nil {
		return Epoch{}, err
	}
	rec.TargetLoss, rec.HeadRidge, rec.HeadRank = fit.Loss, fit.Ridge, fit.Rank
	rec.Nu, rec.NuRank, err = u.cfg.Relevance.estimate(u.dev.Queue, u.model.heads(), u.head)
	if err != nil {
		return Epoch{}, err
	}
	rec.Score, err = u.score()
	return rec, err
}

// stepsBefore is the number of iterations of a method's epochs so far.
func stepsBefore(epochs []Epoch, method string) int {
	n := 0
	for i := range epochs {
		if epochs[i].Method == method {
			n += epochs[i].Fit.Iterations
		}
	}
	return n
}
