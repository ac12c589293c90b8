package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// smallSet is a hand-made family of tasks over two pools, bytes and float32:
// linear labels with noise, or those of a threshold. The last tenth of the rows
// is for testing.
func smallSet(seed uint64, tasks, rows, d int, binary bool) *dataset.Set {
	rng := stream(seed, "small set")
	u8, f32 := make([]uint8, rows*d), make([]float32, rows*d)
	for i := range u8 {
		u8[i], f32[i] = uint8(rng.IntN(256)), float32(rng.NormFloat64())
	}
	set := &dataset.Set{Name: "small set", Binary: binary, Pools: []*dataset.Pool{
		{Name: "bytes", Rows: rows, Cols: d, U8: u8, Scale: 1. / 255},
		{Name: "floats", Rows: rows, Cols: d, F32: f32, Scale: 0.5},
	}}
	var train, test []int32
	for i := range int32(rows) {
		if int(i) < rows-rows/10 {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	shared := normals(rng, 2*d)
	for i := range tasks {
		p, w := make([]float64, d), normals(rng, 2)
		for j := range p {
			p[j] = w[0]*shared[j] + w[1]*shared[d+j] + 0.3*rng.NormFloat64()
		}
		labels := make([]float32, rows)
		for r := range labels {
			y := dot(p, features(set, i%2, r)) + 0.2*rng.NormFloat64()
			if binary {
				y = float64(b2i(y > 0))
			}
			labels[r] = float32(y)
		}
		set.Tasks = append(set.Tasks, dataset.Task{Name: fmt.Sprintf("%s_%d", set.Pools[i%2].Name, i), Pool: i % 2, Labels: labels, Train: train, Test: test})
	}
	return set
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// features are row r of a pool in float64.
func features(set *dataset.Set, pool, r int) []float64 {
	p := set.Pools[pool]
	x := make([]float64, p.Cols)
	for j := range x {
		if p.U8 != nil {
			x[j] = float64(p.U8[r*p.Cols+j]) * float64(p.Scale)
		} else {
			x[j] = float64(p.F32[r*p.Cols+j]) * float64(p.Scale)
		}
	}
	return x
}

func smallConfig() Config {
	return Config{
		Preset: PresetDefault, Methods: []string{Active, Uniform}, K: 3, TargetSamples: 20, Seed: 11,
		Schedule:   Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 5, Budget: 400},
		Allocation: Allocation{Rule: RuleSquared},
		ERM:        ERM{Lambda: 1e-3, Iterations: 12, History: 5, Init: InitRandom, WarmStart: true},
		Head:       Head{Ridge: 1e-2, Prior: PriorIdentity, Rcond: -1},
		Relevance:  Relevance{Kind: MinNorm, Rcond: -1},
	}
}

func openDevice(t testing.TB, threads int, set *dataset.Set) *Device {
	t.Helper()
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	dev, err := NewDevice(openCPU(t, threads), set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dev.Close)
	return dev
}

// runUnit carries a unit out in memory.
func runUnit(t testing.TB, dev *Device, cfg Config, target int) (*unit, *state) {
	t.Helper()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	u, err := newUnit(dev, &cfg, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.close)
	st := &state{}
	if err := u.run(context.Background(), st, func(Step) {}, func(*state) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return u, st
}

// referenceShares are how many samples of each source a unit of cost buys.
func referenceShares(a Allocation, nu, costs []float64) []float64 {
	shares := make([]float64, len(nu))
	total, costSum := 0.0, 0.0
	for m := range nu {
		shares[m] = nu[m] * nu[m]
		if a.Rule == RuleL1 {
			shares[m] = math.Abs(nu[m]) / math.Sqrt(costs[m])
		}
		total += costs[m] * shares[m]
		costSum += costs[m]
	}
	for m := range shares {
		shares[m] = (1-a.Mix)*shares[m]/total + a.Mix/costSum
	}
	return shares
}

// waterLevel fills x_m = min(max(level share_m, least_m), limit_m) up to a total
// cost, by trying every interval between the levels where a source starts or
// stops to rise.
func waterLevel(shares, costs []float64, cost float64, least, limit []int) []float64 {
	x := make([]float64, len(shares))
	at := func(level float64) (total, slope float64) {
		for m, r := range shares {
			x[m] = math.Min(math.Max(level*r, float64(least[m])), float64(limit[m]))
			total += costs[m] * x[m]
			if level*r >= float64(least[m]) && level*r < float64(limit[m]) {
				slope += costs[m] * r
			}
		}
		return total, slope
	}
	levels := []float64{0}
	for m, r := range shares {
		if r > 0 {
			levels = append(levels, float64(least[m])/r, float64(limit[m])/r)
		}
	}
	slices.Sort(levels)
	for i := len(levels) - 1; i >= 0; i-- {
		if total, slope := at(levels[i]); total <= cost {
			if slope > 0 {
				at(levels[i] + (cost-total)/slope)
			}
			return x
		}
	}
	at(0)
	return x
}

// checkSpend checks counts against the level: each is rounded down or up, and
// together they spend the cost.
func checkSpend(t *testing.T, what string, counts []int, x, costs []float64, cost float64, limit []int) {
	t.Helper()
	spent, full, dearest := 0.0, 0.0, 0.0
	for m, n := range counts {
		if float64(n) < math.Floor(x[m]-1e-6) || float64(n) > math.Ceil(x[m]+1e-6) || n > limit[m] {
			t.Errorf("%s: source %d has %d samples, want %g, at most %d", what, m, n, x[m], limit[m])
		}
		spent += costs[m] * float64(n)
		full += costs[m] * x[m]
		if x[m] < float64(limit[m]) {
			dearest = math.Max(dearest, costs[m])
		}
	}
	want := math.Min(full, cost)
	if full > cost*(1+1e-9) { // the floor alone is more
		want = full
	}
	if spent > want+1e-6 || spent < want-dearest-1e-6 {
		t.Errorf("%s: spent %g of %g", what, spent, want)
	}
}

func unitCosts(u *unit, cfg Config) []float64 {
	costs := ones(len(u.sources))
	for m, s := range u.sources {
		if c, ok := cfg.Costs[u.dev.Set.Tasks[s].Name]; ok {
			costs[m] = c
		}
	}
	return costs
}

// Each epoch's counts follow Alg. 2, line 4, from the relevance that the epoch
// before recorded; samples drawn earlier stay.
func TestActiveCounts(t *testing.T) {
	set := smallSet(1, 6, 5000, 4, false)
	dev := openDevice(t, 2, set)
	costs := map[string]float64{"bytes_0": 2, "floats_3": 0.5, "bytes_4": 1.25}
	for _, c := range []struct {
		schedule Schedule
		alloc    Allocation
		costs    map[string]float64
	}{
		{Schedule{Kind: SchedulePaper, Epochs: 4, Floor: 50}, Allocation{Rule: RuleSquared}, nil},
		{Schedule{Kind: SchedulePaper, Epochs: 3, Floor: 700}, Allocation{Rule: RuleL1, Mix: 0.3}, costs},
		{Schedule{Kind: ScheduleBudget, Epochs: 4, Floor: 20, Budget: 3000}, Allocation{Rule: RuleSquared}, nil},
		{Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 0, Budget: 2000.5}, Allocation{Rule: RuleL1}, costs},
		{Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 30, Budget: 16000}, Allocation{Rule: RuleSquared, Mix: 0.1}, costs},
	} {
		cfg := smallConfig()
		cfg.Schedule, cfg.Allocation, cfg.Costs, cfg.Methods = c.schedule, c.alloc, c.costs, []string{Active}
		cfg.ERM.Iterations = 5
		u, st := runUnit(t, dev, cfg, 1)
		m := len(u.sources)
		if m != 5 || len(st.Epochs) != c.schedule.Epochs {
			t.Fatalf("%d sources, %d epochs", m, len(st.Epochs))
		}
		cost, have, limit := unitCosts(u, cfg), make([]int, m), make([]int, m)
		for i := range limit {
			limit[i] = 4500
		}
		nu := ones(m)
		for i, e := range st.Epochs {
			what := fmt.Sprintf("%+v %+v epoch %d", c.schedule, c.alloc, i+1)
			shares := referenceShares(c.alloc, nu, cost)
			if i == 0 {
				shares = referenceShares(Allocation{Rule: RuleSquared, Mix: 1}, nu, cost)
			}
			if c.schedule.Kind == SchedulePaper {
				scale := math.Pow(1.5, float64(22+i))
				for s := range shares {
					want := max(int(math.Ceil(shares[s]*scale-1e-6)), c.schedule.Floor, have[s])
					if e.Counts[s] != min(want, limit[s]) {
						t.Errorf("%s: source %d has %d samples, want %d, at most %d", what, s, e.Counts[s], want, limit[s])
					}
				}
			} else {
				scale, least := c.schedule.Budget/math.Pow(1.5, float64(c.schedule.Epochs-1-i)), make([]int, m)
				for s := range least {
					least[s] = max(have[s], c.schedule.Floor)
				}
				checkSpend(t, what, e.Counts, waterLevel(shares, cost, scale, least, limit), cost, scale, limit)
			}
			samples, drawn, spent := 0, 0, 0.0
			for s, n := range e.Counts {
				if n < have[s] {
					t.Errorf("%s: source %d went from %d samples to %d", what, s, have[s], n)
				}
				samples += n
				drawn += n - have[s]
				spent += cost[s] * float64(n)
			}
			if e.Samples != samples || e.Drawn != drawn || !near(e.Cost, spent, 1e-12) || e.Epoch != i+1 || e.Method != Active {
				t.Errorf("%s: recorded %d samples, %d drawn, cost %g, want %d, %d, %g", what, e.Samples, e.Drawn, e.Cost, samples, drawn, spent)
			}
			have, nu = e.Counts, e.Nu
		}
		if slices.Max(nu) == slices.Min(nu) {
			t.Error("the relevance is uniform: the test shows nothing")
		}
	}
}

// Uniform and Known spend what the active run spent; alone, what the schedule
// comes to.
func TestBaselinesFollowTheActiveRun(t *testing.T) {
	set := smallSet(2, 5, 900, 4, false)
	for i := range set.Tasks {
		set.Tasks[i].Train = set.Tasks[i].Train[:500+60*i] // pools that run out
	}
	dev := openDevice(t, 2, set)
	nu := map[string]float64{"bytes_0": 3, "bytes_2": -1, "floats_3": 0.5}
	for _, methods := range [][]string{{Active, Uniform, Known}, {Active, Known}, {Uniform}, {Known, Uniform}} {
		for _, budget := range []float64{300, 1500, 9000} {
			cfg := smallConfig()
			cfg.Methods, cfg.Nu, cfg.Allocation = methods, nu, Allocation{Rule: RuleSquared, Mix: 0.2}
			cfg.Costs = map[string]float64{"bytes_4": 1.5}
			cfg.Schedule.Budget, cfg.Schedule.Floor, cfg.ERM.Iterations = budget, 7, 2
			u, st := runUnit(t, dev, cfg, 1)
			costs, limit := unitCosts(u, cfg), []int{500, 620, 680, 740}
			cost := budget
			for _, e := range st.Epochs {
				what := fmt.Sprintf("%v budget %g, %s", methods, budget, e.Method)
				switch e.Method {
				case Active:
					cost = e.Cost
				case Uniform:
					checkSpend(t, what, e.Counts, waterLevel(ones(4), costs, cost, make([]int, 4), limit), costs, cost, limit)
				case Known:
					shares := referenceShares(Allocation{Rule: RuleSquared}, []float64{3, -1, 0.5, 0}, costs)
					checkSpend(t, what, e.Counts, waterLevel(shares, costs, cost, []int{7, 7, 7, 7}, limit), costs, cost, limit)
				}
				if e.Method != Active && (e.Epoch != 1 || e.Drawn != e.Samples) {
					t.Errorf("%s: epoch %d, %d of %d drawn", what, e.Epoch, e.Drawn, e.Samples)
				}
			}
			if want := len(methods) - 1 + 3*b2i(methods[0] == Active) + b2i(methods[0] != Active); len(st.Epochs) != want {
				t.Errorf("%v: %d epochs, want %d", methods, len(st.Epochs), want)
			}
		}
	}
}

func TestKnownTakesTheModelsRelevance(t *testing.T) {
	set, err := dataset.SparseNu(6, 3, 7, 0.5, 400, 3)
	if err != nil {
		t.Fatal(err)
	}
	cfg := smallConfig()
	cfg.Methods, cfg.Schedule = []string{Known}, Schedule{Kind: ScheduleBudget, Epochs: 1, Floor: 10, Budget: 200}
	_, st := runUnit(t, openDevice(t, 1, set), cfg, 7)
	if want := []int{10, 10, 10, 10, 10, 10, 140}; !slices.Equal(st.Epochs[0].Counts, want) {
		t.Errorf("nu = e_7 gives %v samples, want %v", st.Epochs[0].Counts, want)
	}
	cfg.Nu = map[string]float64{set.Tasks[2].Name: 1}
	_, st = runUnit(t, openDevice(t, 1, set), cfg, 7)
	if want := []int{10, 10, 140, 10, 10, 10, 10}; !slices.Equal(st.Epochs[0].Counts, want) {
		t.Errorf("a given nu = e_3 gives %v samples, want %v", st.Epochs[0].Counts, want)
	}
	small := smallSet(1, 3, 200, 4, false)
	cfg.Nu = nil
	u, err := newUnit(openDevice(t, 1, small), &cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.close)
	if err := u.run(context.Background(), &state{}, func(Step) {}, nil); err == nil || !strings.Contains(err.Error(), "nu") {
		t.Errorf("known without a relevance: %v", err)
	}
}

// What an epoch records is what its parameters give on its samples, recomputed
// from the rows: eq. 1, eq. 2 and eq. 3, and the score.
func TestEpochRecords(t *testing.T) {
	for _, c := range []struct {
		binary, include bool
	}{{true, false}, {false, true}} {
		set := smallSet(4, 5, 300, 6, c.binary)
		dev := openDevice(t, 2, set)
		cfg := smallConfig()
		cfg.IncludeTarget, cfg.Methods = c.include, []string{Active}
		const target, k, d = 2, 3, 6
		u, err := newUnit(dev, &cfg, target)
		if err != nil {
			t.Fatal(err)
		}
		defer u.close()
		if m := len(u.sources); m != 4+b2i(c.include) || slices.Contains(u.sources, target) != c.include {
			t.Fatalf("sources %v, target %d, included: %v", u.sources, target, c.include)
		}
		check := func(st *state) error {
			e := st.Epochs[len(st.Epochs)-1]
			theta, head := wide(st.Theta), wide(st.Head)
			r := &regression{d: d}
			for m, s := range u.sources {
				for _, row := range u.draws.source[m][:e.Counts[m]] {
					r.x = append(r.x, features(set, set.Tasks[s].Pool, int(row)))
					r.y = append(r.y, float64(set.Tasks[s].Labels[row]))
					r.task = append(r.task, m)
					if s == target && slices.Contains(u.draws.target, row) {
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
					y, v := float64(set.Tasks[target].Labels[row]), dot(p, features(set, set.Tasks[target].Pool, int(row)))
					mse += (v - y) * (v - y) / float64(len(rows))
					wrong += float64(b2i((v > 0.5) != (y > 0.5))) / float64(len(rows))
				}
				return
			}, 0.0
			if len(u.draws.target) != cfg.TargetSamples {
				t.Errorf("%d target samples", len(u.draws.target))
			}
			if mse, _ := error2(u.draws.target); !near(mse/e.TargetLoss, 1, 1e-4) {
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
		if err := u.run(context.Background(), &state{}, func(Step) {}, check); err != nil {
			t.Fatal(err)
		}
	}
}

// On data with a model the score is the exact excess risk, test rows or not.
func TestExcessRiskScore(t *testing.T) {
	set, err := dataset.RandomLinear(5, 2, 4, 0.3, 500, 9)
	if err != nil {
		t.Fatal(err)
	}
	_, st := runUnit(t, openDevice(t, 1, set), smallConfig(), 4)
	e := st.Epochs[len(st.Epochs)-1]
	p := multiply(false, false, wide(st.Head), 1, wide(st.Theta[:3*5]), 3)
	for i := range 5 {
		for c := range 2 {
			p[i] -= set.Model.B[i*2+c] * set.Model.W[c*5+4]
		}
	}
	if e.Score.Metric != MetricExcess || !near(e.Score.Value/dot(p, p), 1, 1e-5) {
		t.Errorf("the excess risk is %g, recorded %+v", dot(p, p), e.Score)
	}
}

// WarmStart goes on from the parameters of the epoch before; without it an
// epoch does not depend on them.
func TestWarmStart(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 4, 200, 5, false))
	for _, warm := range []bool{false, true} {
		cfg := smallConfig()
		cfg.Methods, cfg.ERM.WarmStart = []string{Active, Uniform}, warm
		u, full := runUnit(t, dev, cfg, 0)
		again := &state{Epochs: slices.Clone(full.Epochs[:1]), Theta: make([]float32, len(full.Theta))}
		for i := range again.Theta {
			again.Theta[i] = float32(i%7) - 3
		}
		if err := u.run(context.Background(), again, func(Step) {}, func(*state) error { return nil }); err != nil {
			t.Fatal(err)
		}
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
	u, err := newUnit(dev, &cfg, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer u.close()
	var got []string
	if err := u.run(context.Background(), &state{}, func(s Step) {
		if s.Record != nil && (s.Record.Method != s.Method || s.Record.Epoch != s.Epoch) {
			t.Errorf("step %+v has the record %+v", s, s.Record)
		}
		got = append(got, fmt.Sprintf("%s %d/%d %d/%d %v", s.Method, s.Epoch, s.Epochs, s.Done, s.Total, s.Record != nil))
	}, func(*state) error { return nil }); err != nil {
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
	held := dev.Backend.Usage()
	noTest := smallSet(7, 3, 100, 4, false)
	noTest.Tasks[0].Test = nil
	one := smallSet(7, 1, 100, 4, false)
	for what, c := range map[string]struct {
		dev    *Device
		change func(*Config)
		says   []string
	}{
		"too many target samples": {dev, func(c *Config) { c.TargetSamples = 91 }, []string{"bytes_0", "90", "91"}},
		"no test rows":            {openDevice(t, 1, noTest), func(*Config) {}, []string{"bytes_0", "test"}},
		"no source":               {openDevice(t, 1, one), func(*Config) {}, []string{"bytes_0", "source"}},
		"floor above the pool":    {dev, func(c *Config) { c.Schedule.Floor = 91 }, []string{"91", "floats_1", "90"}},
		"theory": {dev, func(c *Config) {
			c.Schedule = Schedule{Kind: ScheduleTheory, Epochs: 4, Theory: &Theory{Delta: 0.1, R: 1, SigmaMin: 0.5}}
		}, []string{"theory", "epoch 4", "floats_1", "90"}},
		"target included, used up": {dev, func(c *Config) { c.TargetSamples, c.IncludeTarget = 86, true }, []string{"bytes_0", "4 rows"}},
	} {
		cfg := smallConfig()
		c.change(&cfg)
		_, err := newUnit(c.dev, &cfg, 0)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error of one line", what, err)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %q", what, err, s)
			}
		}
	}
	if u := dev.Backend.Usage(); u != held {
		t.Errorf("failed units hold memory: %+v, before %+v", u, held)
	}
	// A schedule that draws nothing fails in the run.
	cfg := smallConfig()
	cfg.Schedule.Floor, cfg.Schedule.Budget = 0, 0.5
	u, err := newUnit(dev, &cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer u.close()
	if err := u.run(context.Background(), &state{}, func(Step) {}, nil); err == nil || !strings.Contains(err.Error(), "no sample") || !strings.Contains(err.Error(), "bytes_0") {
		t.Errorf("a budget of half a sample: %v", err)
	}
}

// Memory that runs out half-way is an error, and nothing leaks.
func TestUnitFreesAfterAFailure(t *testing.T) {
	set := smallSet(8, 4, 100, 4, false)
	b := &failing{Backend: openCPU(t, 1)}
	dev, err := NewDevice(b, set)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	held := b.Usage()
	cfg := smallConfig()
	cfg.ERM.Iterations = 2
	for fail := 1; ; fail++ {
		b.left = fail
		u, err := newUnit(dev, &cfg, 0)
		if err == nil {
			err = u.run(context.Background(), &state{}, func(Step) {}, func(*state) error { return nil })
			u.close()
		}
		if now := b.Usage(); now != held {
			t.Fatalf("allocation %d failed (%v): %+v held, before %+v", fail, err, now, held)
		}
		if b.left > 0 {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if err != errNoMemory && (err == nil || !strings.Contains(err.Error(), errNoMemory.Error())) {
			t.Fatalf("allocation %d failed, the unit said %v", fail, err)
		}
	}
}

// failing is a backend that runs out of memory after left allocations.
type failing struct {
	backend.Backend
	left int
}

var errNoMemory = fmt.Errorf("no memory left in this test")

func (f *failing) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	if f.left--; f.left == 0 {
		return nil, errNoMemory
	}
	return f.Backend.Alloc(t, n)
}

func (f *failing) NewSamples(s backend.SampleSet) (backend.Samples, error) {
	if f.left--; f.left == 0 {
		return nil, errNoMemory
	}
	return f.Backend.NewSamples(s)
}
