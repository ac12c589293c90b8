package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// ownDirection returns a set of 12 sources and a target, the last task. Labels are x'B w with
// an intercept of 2 and noise; those of the target also have own times x'u, for a direction u
// that no source knows.
func ownDirection(t *testing.T, own float64) *dataset.Set {
	const k, d, sources, rows = 3, 20, 12, 600
	rng := testrand.New(t)
	set, b, u := &dataset.Set{Name: "own direction"}, normals(rng, k*d), normals(rng, d)
	for i := range sources + 1 {
		p := &dataset.Pool{Name: fmt.Sprint("pool", i), Rows: rows, Cols: d, Scale: 1}
		task, w := dataset.Task{Name: p.Name, Pool: i}, normals(rng, k)
		for r := range rows {
			x, y := normals(rng, d), 2+0.1*rng.NormFloat64()
			for j := range k {
				y += w[j] * linalg.Dot(x, b[j*d:(j+1)*d]) / math.Sqrt(d)
			}
			if i == sources {
				y += own * linalg.Dot(x, u) / math.Sqrt(d)
			}
			p.F32, task.Labels = append(p.F32, narrow(x)...), append(task.Labels, float32(y))
			if r < 200 {
				task.Test = append(task.Test, int32(r))
			} else {
				task.Train = append(task.Train, int32(r))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
	}
	must.Do(t, set.Validate())
	return set
}

// What the sources do not explain of the target, its own samples do: with delta the mean squared
// error is lower where the target has an own part, and no more than four times as large where it
// has none. It is lower than that of the target alone, which is lower than that of constant.
func TestResidualHead(t *testing.T) {
	errs := func(set *dataset.Set, prior string) map[string]float64 {
		cfg := must.Get(NewConfig(PresetDefault))(t)
		cfg.K, cfg.TargetSamples, cfg.Head.Prior, cfg.Methods = 3, 20, prior, []string{Uniform, Target, Constant}
		cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 1, Floor: 5, Budget: 2400}
		_, st := runUnit(t, openDevice(t, 1, set), cfg, len(set.Tasks)-1)
		out := map[string]float64{}
		for _, e := range st.Epochs {
			out[e.Method] = math.Log(e.Score.Value)
		}
		return out
	}
	const problems = 16
	for _, c := range [][2]float64{{0, 4}, {0.7, 0.8}} {
		own, most := c[0], c[1]
		shared, residual := map[string]float64{}, map[string]float64{} // geometric means over problems
		for range problems {
			set := ownDirection(t, own)
			for m, e := range errs(set, PriorSources) {
				shared[m] += e / problems
			}
			for m, e := range errs(set, PriorResidual) {
				residual[m] += e / problems
			}
		}
		if residual[Uniform] > math.Log(most)+shared[Uniform] {
			t.Errorf("own part %g: log error %g, %g without a part of its own", own, residual[Uniform], shared[Uniform])
		}
		if residual[Uniform] > residual[Target] || residual[Target] > residual[Constant] {
			t.Errorf("own part %g: log errors %v, expected uniform to be best and constant worst", own, residual)
		}
	}
}

// The score of each method is that of predictions from its tensors, by the equation that
// Learner.Tensors documents.
func TestTensorsPredict(t *testing.T) {
	for _, scaling := range []string{ScalingGlobal, ScalingFeature, ScalingNone} {
		t.Run(scaling, func(t *testing.T) { checkTensors(t, scaling) })
	}
}

func checkTensors(t *testing.T, scaling string) {
	set := ownDirection(t, 0.5)
	if scaling == ScalingFeature {
		set = inOddUnits(set)
	}
	target := len(set.Tasks) - 1
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg.Scaling = scaling
	cfg.K, cfg.TargetSamples, cfg.Schedule = 3, 40, Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 5, Budget: 600}
	u := must.Get(newLearner(openDevice(t, 1, set), cfg, target))(t)
	t.Cleanup(u.Close)
	seen := 0
	must.Get(u.Solve(context.Background(), State{}, quiet, func(st State) error {
		seen++
		tensor := map[string][]float64{}
		for _, x := range u.Tensors(st) {
			tensor[x.Name] = wide(x.Data)
		}
		task, sum := set.Tasks[target], 0.0
		for _, r := range task.Test {
			x := wide(set.Pools[task.Pool].F32[int(r)*20 : int(r+1)*20])
			scale := tensor["representation.scale"]
			if want := map[string]int{ScalingFeature: 20}[scaling]; len(scale) != max(1, want) || scaling == ScalingNone && scale[0] != 1 {
				t.Fatalf("the scale is %v", scale)
			}
			for j := range x {
				x[j] = (x[j] - tensor["representation.centre"][j]) / scale[min(j, len(scale)-1)]
			}
			y := tensor["target.bias"][0] + linalg.Dot(x, tensor["target.delta"])
			for j, w := range tensor["target.weight"] {
				y += w * linalg.Dot(x, tensor["representation.weight"][j*20:(j+1)*20])
			}
			e := y*tensor["labels.scale"][0] - float64(task.Labels[r])
			sum += e * e / float64(len(task.Test))
		}
		if e := st.Epochs[len(st.Epochs)-1]; !near(e.Score.Value, sum, 1e-4) {
			t.Errorf("%s: the score is %g, the tensors give %g", e.Method, e.Score.Value, sum)
		}
		return nil
	}))(t)
	if want := 2 + 3; seen != want {
		t.Errorf("%d rounds, want %d", seen, want)
	}
}

// The baselines do not depend on the other methods and cost nothing, and constant errs as the majority does. A baseline cannot come first.
func TestBaselines(t *testing.T) {
	set := smallSet(3, 4, 300, 6, true)
	run := func(methods ...string) map[string]Epoch {
		cfg := smallConfig()
		cfg.Methods, cfg.TargetSamples = methods, 40
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 3)
		out := map[string]Epoch{}
		for _, e := range st.Epochs {
			out[e.Method] = e
		}
		return out
	}
	a, b := run(Active, Uniform, Target, Constant), run(Uniform, Constant, Target)
	for _, m := range []string{Target, Constant} {
		if x, y := a[m], b[m]; x.Score != y.Score || x.LeaveOneOut != y.LeaveOneOut || x.Cost != 0 || slices.Max(x.Counts) != 0 {
			t.Errorf("%s: %+v and %+v", m, x, y)
		}
	}
	cfg := smallConfig()
	cfg.TargetSamples = 40
	task, rows := set.Tasks[3], must.Get(NewProblem(set, cfg, 3))(t).draws.target
	ones := 0
	for _, r := range rows {
		ones += int(task.Labels[r])
	}
	wrong := 0
	for _, r := range task.Test {
		if (task.Labels[r] > 0.5) != (2*ones > len(rows)) {
			wrong++
		}
	}
	if want := float64(wrong) / float64(len(task.Test)); a[Constant].Score.Value != want {
		t.Errorf("the majority errs on %g, the method says %g", want, a[Constant].Score.Value)
	}
	cfg.Methods = []string{Target, Active}
	must.Fail(t, "a baseline first", cfg.Validate(), "target comes first")
}

// At the exact rank, with next to no penalty or noise, a fit along the path reaches the noise from
// every seed; one that starts at the penalty where the path ends does not.
func TestPathArrives(t *testing.T) {
	set := must.Get(dataset.RandomLinear(100, 2, 80, 0.01, 2000, 1))(t)
	worst := map[string]float64{}
	for _, c := range []struct {
		name, init string
		lambda     float64
	}{{"auto", InitPath, LambdaAuto}, {"path", InitPath, 1e-9}, {"random", InitRandom, 1e-9}} {
		for seed := range uint64(4) {
			cfg := must.Get(NewConfig(PresetDefault))(t)
			cfg.K, cfg.TargetSamples, cfg.Seed, cfg.Methods = 2, 30, seed, []string{Uniform}
			cfg.ERM.Init, cfg.ERM.Lambda = c.init, c.lambda
			cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 1, Floor: 5, Budget: 4000}
			_, st := runUnit(t, openDevice(t, 1, set), cfg, 80)
			worst[c.name] = max(worst[c.name], st.Epochs[0].Fit.Loss)
		}
	}
	if worst["auto"] > 3e-4 || worst["path"] > 3e-4 || worst["random"] < 1e-3 {
		t.Errorf("the worst losses are %v, expected the noise, 1e-4, along the path and a bad stationary point without", worst)
	}
}

// Where the sources' intercepts follow from their heads, rho is near 0 and leaves next to no freedom
// to the target's own intercept. Where they vary, rho is their variance in units of the noise, and
// where the sources cannot tell, +Inf.
func TestInterceptPrior(t *testing.T) {
	rng := testrand.New(t)
	const m, k, sigma = 60, 4, 0.1
	heads, counts := dense(rng, m, k), slices.Repeat([]int{50}, m)
	by := normals(rng, k)
	for _, spread := range []float64{0, 0.3} {
		b := make([]float32, m)
		for i := range b {
			v := 7 + linalg.Dot(heads.RawRowView(i), by) + spread*rng.NormFloat64() + sigma/math.Sqrt(50)*rng.NormFloat64()
			b[i] = float32(v)
		}
		mean, rho := interceptPrior(heads, b, counts, sigma)
		if want := spread * spread / sigma / sigma; math.Abs(mean-7) > 0.2 || rho < want/3 || rho > 3*want+0.05 {
			t.Errorf("spread %g: mean %g, want 7; rho %g, want %g", spread, mean, rho, want)
		}
	}
	if _, rho := interceptPrior(heads, nil, counts, sigma); !math.IsInf(rho, 1) {
		t.Errorf("without intercepts rho is %g", rho)
	}
	few := heads.Slice(0, 5, 0, k).(*mat.Dense)
	if _, rho := interceptPrior(few, make([]float32, 5), counts[:5], sigma); !math.IsInf(rho, 1) {
		t.Errorf("of five sources with four numbers each rho is %g", rho)
	}
}
