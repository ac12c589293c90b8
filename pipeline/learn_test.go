package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// runUnit solves the problem of a target, and returns the learner and the last state.
func runUnit(t testing.TB, dev *Resident, cfg Config, target int) (*Learner, State) {
	t.Helper()
	u := must.Get(newLearner(dev, cfg, target))(t)
	t.Cleanup(u.Close)
	st := must.Get(u.Solve(context.Background(), State{}, quiet, unsaved))(t)
	return u, st
}

// What an epoch records agrees with what its parameters give on its samples,
// recomputed from the rows: the objective (eq. 2), the loss of the head (eq. 3),
// nu (eq. 6) and the score.
func TestEpochRecords(t *testing.T) {
	for _, c := range []struct {
		binary, include bool
	}{{true, false}, {false, true}} {
		set := smallSet(4, 5, 300, 6, c.binary)
		dev := openDevice(t, 2, set)
		cfg := smallConfig()
		cfg.IncludeTarget, cfg.Methods = c.include, []string{Active}
		const target, k, d = 2, 3, 6
		u := must.Get(newLearner(dev, cfg, target))(t)
		defer u.Close()
		of := func(s Source) bool { return s.Tasks[0] == target }
		if m := len(u.problem.Sources); m != 4+b2i(c.include) || slices.ContainsFunc(u.problem.Sources, of) != c.include {
			t.Fatalf("sources %v, target %d, included: %v", u.problem.Sources, target, c.include)
		}
		check := func(st State) error {
			e := st.Epochs[len(st.Epochs)-1]
			theta, head := wide(st.Theta), wide(st.Head)
			r := &regression{d: d}
			for m, source := range u.problem.Sources {
				s := source.Tasks[0]
				for _, row := range u.problem.draws.source[m][:e.Counts[m]] {
					r.x = append(r.x, features(set, set.Tasks[s].Pool, int(row)))
					r.y = append(r.y, float64(set.Tasks[s].Labels[row]))
					r.task = append(r.task, m)
					if s == target && slices.Contains(u.problem.draws.target, row) {
						t.Errorf("row %d is a target sample and a source sample of the same task", row)
					}
				}
			}
			if f, _ := r.objective(theta, k, cfg.ERM.Lambda); !near(f/e.Fit.Objective, 1, 1e-5) {
				t.Errorf("epoch %d: the objective is %g, recorded %g", e.Epoch, f, e.Fit.Objective)
			}
			if f, _ := r.objective(theta, k, 0); !near(f/e.Fit.Loss, 1, 1e-5) {
				t.Errorf("epoch %d: the loss is %g, recorded %g", e.Epoch, f, e.Fit.Loss)
			}
			p := multiply(false, false, head, 1, theta[:k*d], k)
			error2, wrong := func(rows []int32) (mse, wrong float64) {
				for _, row := range rows {
					y, v := float64(set.Tasks[target].Labels[row]), linalg.Dot(p, features(set, set.Tasks[target].Pool, int(row)))
					mse += (v - y) * (v - y) / float64(len(rows))
					wrong += float64(b2i((v > 0.5) != (y > 0.5))) / float64(len(rows))
				}
				return
			}, 0.0
			if len(u.problem.draws.target) != cfg.TargetSamples {
				t.Errorf("%d target samples", len(u.problem.draws.target))
			}
			if mse, _ := error2(u.problem.draws.target); !near(mse/e.TargetLoss, 1, 1e-4) {
				t.Errorf("epoch %d: the target loss is %g, recorded %g", e.Epoch, mse, e.TargetLoss)
			}
			mse, wrong := error2(set.Tasks[target].Test)
			want, metric := mse, MetricMSE
			if c.binary {
				want, metric = wrong, MetricError
			}
			if e.Score.Metric != metric || !near(e.Score.Value, want, 1e-5) {
				t.Errorf("epoch %d: the score is %s %g, recorded %+v", e.Epoch, metric, want, e.Score)
			}
			closeVectors(t, "nu", e.Nu, minNormReference(theta[k*d:], head, 0), 1e-5, 0)
			if e.NuRank != k || e.HeadRank != k || e.HeadRidge != 1e-2 {
				t.Errorf("epoch %d: rank %d and %d, ridge %g", e.Epoch, e.NuRank, e.HeadRank, e.HeadRidge)
			}
			return nil
		}
		must.Get(u.Solve(context.Background(), State{}, quiet, check))(t)
	}
}

// On data with a model the score is the exact excess risk, test rows or not.
func TestExcessRiskScore(t *testing.T) {
	set := must.Get(dataset.RandomLinear(5, 2, 4, 0.3, 500, 9))(t)
	_, st := runUnit(t, openDevice(t, 1, set), smallConfig(), 4)
	e := st.Epochs[len(st.Epochs)-1]
	p := multiply(false, false, wide(st.Head), 1, wide(st.Theta[:3*5]), 3)
	for i := range 5 {
		for c := range 2 {
			p[i] -= set.Model.B[i*2+c] * set.Model.W[c*5+4]
		}
	}
	if e.Score.Metric != MetricExcess || !near(e.Score.Value/linalg.Dot(p, p), 1, 1e-5) {
		t.Errorf("the excess risk is %g, recorded %+v", linalg.Dot(p, p), e.Score)
	}
}

// WarmStart continues from the parameters of the epoch before; without it an
// epoch does not depend on them.
func TestWarmStart(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 4, 200, 5, false))
	for _, warm := range []bool{false, true} {
		cfg := smallConfig()
		cfg.Methods, cfg.ERM.WarmStart = []string{Active, Uniform}, warm
		u, full := runUnit(t, dev, cfg, 0)
		again := State{Epochs: slices.Clone(full.Epochs[:1]), Theta: make([]float32, len(full.Theta)), Head: full.Head}
		for i := range again.Theta {
			again.Theta[i] = float32(i%7) - 3
		}
		again = must.Get(u.Solve(context.Background(), again, quiet, unsaved))(t)
		same := again.Epochs[1].Fit == full.Epochs[1].Fit
		if same == warm {
			t.Errorf("warm start %v: the fit of epoch 2 from other parameters is the same: %v", warm, same)
		}
		// The baseline starts afresh in any case, with the budget it had.
		if last := len(full.Epochs) - 1; !warm && again.Epochs[last].Fit != full.Epochs[last].Fit {
			t.Errorf("the uniform run depends on the active run's parameters")
		}
	}
}

// Without warm start each epoch has a random start of its own: on the same
// samples they end apart.
func TestColdStartsDiffer(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 5, 200, 5, false))
	cfg := smallConfig()
	cfg.ERM, cfg.Methods = ERM{Iterations: 3, History: 5, Init: InitRandom}, []string{Active, Uniform}
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 4, Floor: 20, Budget: 80}
	_, st := runUnit(t, dev, cfg, 0)
	for i, a := range st.Epochs {
		if a.Samples != 80 {
			t.Fatalf("epoch %d has %d samples, want 80", i+1, a.Samples)
		}
		for j := range i {
			if a.Fit.Objective == st.Epochs[j].Fit.Objective {
				t.Errorf("epochs %d and %d had the same start", j+1, i+1)
			}
		}
	}
}

func TestStepsAreReported(t *testing.T) {
	dev := openDevice(t, 1, smallSet(6, 4, 200, 5, false))
	cfg := smallConfig()
	cfg.Methods = []string{Active, Uniform}
	u := must.Get(newLearner(dev, cfg, 3))(t)
	defer u.Close()
	var got []string
	if _, err := u.Solve(context.Background(), State{}, func(s Step) {
		if s.Record != nil && (s.Record.Method != s.Method || s.Record.Epoch != s.Epoch) {
			t.Errorf("step %+v has the record %+v", s, s.Record)
		}
		got = append(got, fmt.Sprintf("%s %d/%d %d/%d %v", s.Method, s.Epoch, s.Epochs, s.Done, s.Total, s.Record != nil))
	}, unsaved); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"active 1/3 0/4 false", "active 1/3 1/4 true", "active 2/3 1/4 false", "active 2/3 2/4 true",
		"active 3/3 2/4 false", "active 3/3 3/4 true", "uniform 1/1 3/4 false", "uniform 1/1 4/4 true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUnitErrors(t *testing.T) {
	dev := openDevice(t, 1, smallSet(7, 3, 100, 4, false))
	held := dev.Device.Usage()
	noTest := smallSet(7, 3, 100, 4, false)
	noTest.Tasks[0].Test = nil
	one := smallSet(7, 1, 100, 4, false)
	for what, c := range map[string]struct {
		dev    *Resident
		change func(*Config)
		says   []string
	}{
		"too many target samples": {dev, func(c *Config) { c.TargetSamples = 91 }, []string{"bytes_0", "90", "91"}},
		"no test rows": {openDevice(t, 1, noTest), func(c *Config) {
			c.TargetSamples, c.Head.Prior = 90, PriorSources
		}, []string{"bytes_0", "test"}},
		"no source":            {openDevice(t, 1, one), func(*Config) {}, []string{"bytes_0", "source"}},
		"floor above the pool": {dev, func(c *Config) { c.Schedule.Floor = 91 }, []string{"91", "floats_1", "90"}},
		"theory": {dev, func(c *Config) {
			c.Schedule = Schedule{Kind: ScheduleTheory, Epochs: 4, Theory: &Theory{Delta: 0.1, R: 1, SigmaMin: 0.5}}
		}, []string{"theory", "epoch 4", "floats_1", "90"}},
		"target included, used up": {dev, func(c *Config) { c.TargetSamples, c.IncludeTarget = 86, true }, []string{"bytes_0", "4 rows"}},
	} {
		cfg := smallConfig()
		c.change(&cfg)
		must.Fail(t, what, must.Err(newLearner(c.dev, cfg, 0)), c.says...)
	}
	if u := dev.Device.Usage(); u != held {
		t.Errorf("failed units hold memory: %+v, before %+v", u, held)
	}
	// A schedule that draws nothing fails in the run.
	cfg := smallConfig()
	cfg.Schedule.Floor, cfg.Schedule.Budget = 0, 0.5
	u := must.Get(newLearner(dev, cfg, 0))(t)
	defer u.Close()
	must.Fail(t, "a budget of half a sample", must.Err(u.Solve(context.Background(), State{}, quiet, nil)), "no sample", "bytes_0")
}

// Memory that runs out half-way is an error, and nothing leaks.
func TestUnitFreesAfterAFailure(t *testing.T) {
	set := smallSet(8, 4, 100, 4, false)
	b := &failing{Device: openCPU(t, 1).Device()}
	dev := must.Get(NewResident(b, set))(t)
	defer dev.Close()
	held := b.Usage()
	cfg := smallConfig()
	cfg.ERM.Iterations = 2
	for fail := 1; ; fail++ {
		b.left = fail
		u, err := newLearner(dev, cfg, 0)
		if err == nil {
			_, err = u.Solve(context.Background(), State{}, quiet, unsaved)
			u.Close()
		}
		if now := b.Usage(); now != held {
			t.Fatalf("allocation %d failed (%v): %+v held, before %+v", fail, err, now, held)
		}
		if b.left > 0 {
			must.Do(t, err)
			return
		}
		if err != errNoMemory && (err == nil || !strings.Contains(err.Error(), errNoMemory.Error())) {
			t.Fatalf("allocation %d failed, the unit said %v", fail, err)
		}
	}
}

// failing is a device that runs out of memory after left allocations.
type failing struct {
	backend.Device
	left int
}

var errNoMemory = fmt.Errorf("no memory left in this test")

func (f *failing) NewQueue() (backend.Queue, error) {
	q, err := f.Device.NewQueue()
	return &failingQueue{q, f}, err
}

// failingQueue is a queue of a failing device.
type failingQueue struct {
	backend.Queue
	dev *failing
}

func (q *failingQueue) Device() backend.Device { return q.dev }

func (q *failingQueue) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	if q.dev.left--; q.dev.left == 0 {
		return nil, errNoMemory
	}
	return q.Queue.Alloc(t, n)
}

func (q *failingQueue) NewSamples(s backend.SampleSet) (backend.Samples, error) {
	if q.dev.left--; q.dev.left == 0 {
		return nil, errNoMemory
	}
	return q.Queue.NewSamples(s)
}
