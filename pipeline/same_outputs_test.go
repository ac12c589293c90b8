package pipeline

import (
	"context"
	"encoding/json"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The weights are those of the labels of the same column and class, whatever order the
// outputs of a source have, and none where outputs have no name.
func TestSameOutputs(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 60, 4, 3, true)
	for i := range set.Tasks { // each pool has its classes in an order of its own
		pool := set.Tasks[i].Pool
		set.Tasks[i].Output.Class = string(rune('a' + (i+pool)%3))
	}
	cfg := smallConfig()
	cfg.Sources, cfg.TargetSamples = SourcesPools, 20
	p := must.Get(NewProblem(set, cfg, 0))(t)
	labels := make([]int, p.outputs())
	for i := range labels {
		labels[i] = rng.IntN(5)
	}
	weights := p.sameOutputs(labels)
	for c, own := range p.Target.Tasks {
		var same []float64
		at := 0
		for _, s := range p.Sources {
			for _, task := range s.Tasks {
				if set.Tasks[task].Output.Class == set.Tasks[own].Output.Class && labels[at] > 0 {
					same = append(same, float64(labels[at]))
				}
				at++
			}
		}
		weight := func(n float64) float64 { return n / (n + stat.Mean(same, nil)) }
		total := 0.0
		for _, n := range same {
			total += weight(n)
		}
		at = 0
		for _, s := range p.Sources {
			for _, task := range s.Tasks {
				want := 0.0
				if set.Tasks[task].Output.Class == set.Tasks[own].Output.Class && total > 0 {
					want = weight(float64(labels[at])) / total
				}
				if !near(weights.At(at, c), want, 1e-12) {
					t.Errorf("output %d of the sources, %d of the target: weight %g, expected %g", at, c, weights.At(at, c), want)
				}
				at++
			}
		}
	}
	if p.sameOutputs(make([]int, len(labels))) != nil {
		t.Error("weights without a label")
	}
	for i := range set.Tasks {
		set.Tasks[i].Output = dataset.Output{}
	}
	if p.sameOutputs(labels) != nil {
		t.Error("weights for outputs without a name")
	}
}

// The fit towards a mean is the regression of what is left of the labels, at the g of
// generalised least squares, and never the worse of the two by leave-one-out.
func TestSearchTowards(t *testing.T) {
	rng := testrand.New(t)
	taken := 0
	for range 20 {
		n, outputs, rho := 10+rng.IntN(30), 1+rng.IntN(3), 0.3
		x, a, f := dense(rng, n, 12), dense(rng, n, 3), dense(rng, n, outputs)
		truth, part, y := 2*rng.Float64(), dense(rng, n, outputs), mat.DenseCopyOf(f)
		y.Scale(truth, y)
		part.Scale(0.2, part)
		y.Add(y, part)
		rows := rowsApart(mat.DenseCopyOf(x))
		k := must.Get(newKernelRidge(rows, a, y, rho, leastPower))(t)
		plain := must.Get(newKernelRidge(rows, a, y, rho, leastPower))(t).search(kappas, RidgeAuto)
		from, fit, g := k.searchTowards(f, kappas, RidgeAuto)
		if g == 0 {
			if from != k || fit.loo != plain.loo {
				t.Errorf("without a mean the leave-one-out residual is %g, expected %g", fit.loo, plain.loo)
			}
			continue
		}
		taken++
		if !(fit.loo < plain.loo) {
			t.Errorf("the leave-one-out residual is %g, without the mean %g", fit.loo, plain.loo)
		}
		solve := func(kappa, lambda float64, of *mat.Dense) *mat.Dense {
			system, out := kernelOf(x, a, kappa, lambda, rho), new(mat.Dense)
			for i := range n {
				system.Set(i, i, system.At(i, i)+lambda)
			}
			must.Do(t, out.Solve(system, of))
			return out
		}
		onF, left := solve(plain.kappa, plain.lambda, f), mat.DenseCopyOf(f)
		var num, den mat.Dense
		num.Mul(onF.T(), y)
		den.Mul(onF.T(), f)
		if want := mat.Trace(&num) / mat.Trace(&den); !near(g, want, 1e-5) {
			t.Errorf("g is %g, expected %g", g, want)
		}
		left.Scale(-g, left)
		left.Add(left, y)
		closeVectors(t, "alpha", fit.alpha.RawMatrix().Data, solve(fit.kappa, fit.lambda, left).RawMatrix().Data, 1e-5, 0)
	}
	if taken < 10 {
		t.Errorf("the mean was taken %d times of 20", taken)
	}
}

// Where the classes of the pools have heads in common the target's lean on their mean,
// and where no class of a source has the name of one of the target's they do not.
func TestClassesInCommon(t *testing.T) {
	rng := testrand.New(t)
	named := shops(rng, 12, 300, 30, 4, true)
	apart := *named
	apart.Tasks = append([]dataset.Task{}, named.Tasks...)
	for i := range apart.Tasks {
		apart.Tasks[i].Output.Class += apart.Pools[apart.Tasks[i].Pool].Name
	}
	cfg := smallConfig()
	cfg.Sources, cfg.TargetSamples, cfg.Intercept = SourcesPools, 12, true
	cfg.Head = Head{Ridge: RidgeAuto, Prior: PriorResidual, Rcond: -1}
	errs, leans := map[*dataset.Set]float64{}, 0
	for _, set := range []*dataset.Set{named, &apart} {
		for target := range named.Pools {
			_, st := runUnit(t, openDevice(t, 1, set), cfg, target)
			last := st.Epochs[2]
			if last.HeadToMean > 0 {
				leans++
			}
			if set != named && last.HeadToMean != 0 {
				t.Errorf("target %d: the factor of the mean is %g, expected none", target, last.HeadToMean)
			}
			errs[set] += last.Score.Value / float64(len(named.Pools))
		}
	}
	if leans == 0 || errs[named] > errs[&apart]+0.03 {
		t.Errorf("%d lean on the mean, and the error is %g, with names that say nothing %g", leans, errs[named], errs[&apart])
	}
}

// Heads that say less of labels than float32 can add to them say nothing, whatever the unit of both.
func TestNegligibleHeads(t *testing.T) {
	rng := testrand.New(t)
	const n, outputs = 20, 2
	x, a, f, y := dense(rng, n, 12), dense(rng, n, 3), dense(rng, n, outputs), dense(rng, n, outputs)
	times := func(by float64, m *mat.Dense) *mat.Dense {
		out := new(mat.Dense)
		out.Scale(by, m)
		return out
	}
	for _, unit := range []float64{1, 1e-9, 1e9} {
		y := times(unit, y)
		alone := must.Get(newKernelRidge(rowsApart(mat.DenseCopyOf(x)), nil, y, 0.3, leastPower))(t).search(kappas, RidgeAuto)
		for _, size := range []float64{1e-44, 1e-9} {
			k := must.Get(newKernelRidge(rowsApart(mat.DenseCopyOf(x)), times(size*unit, a), y, 0.3, leastPower))(t)
			_, fit, g := k.searchTowards(times(size*unit, f), kappas, RidgeAuto)
			must.Hold(t, g == 0 && near(fit.loo, alone.loo, 1e-9), "heads of %g of the labels: factor %g, leave-one-out %g, without %g",
				size, g, fit.loo, alone.loo)
		}
		k := must.Get(newKernelRidge(rowsApart(mat.DenseCopyOf(x)), times(1e-3*unit, a), y, 0.3, leastPower))(t)
		must.Hold(t, k.unit > 0, "heads of a thousandth of labels of unit %g say nothing", unit)
	}
}

// Rounds of few samples, whose penalty takes all from the sources' heads, have numbers for a result.
func TestHeadsOfFewSamples(t *testing.T) {
	rng := testrand.New(t)
	set := &dataset.Set{Name: "line"}
	for p, rows := range []int{10, 30} {
		pool := &dataset.Pool{Name: []string{"s", "t"}[p], Rows: rows, Cols: 1, Scale: 1, F32: narrow(normals(rng, rows))}
		task := dataset.Task{Name: pool.Name, Pool: p, Output: dataset.Output{Name: "y"}}
		for i, v := range pool.F32 {
			task.Labels = append(task.Labels, float32(5+2*float64(v)+0.2*rng.NormFloat64()))
			if p == 0 || i < 11 {
				task.Train = append(task.Train, int32(i))
			} else {
				task.Test = append(task.Test, int32(i))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, pool), append(set.Tasks, task)
	}
	dev := openDevice(t, 1, set)
	for seed := range uint64(60) {
		cfg := defaultConfig(t)
		cfg.K, cfg.TargetSamples, cfg.Seed, cfg.Sources = 1, 11, seed, []string{SourcesPools, SourcesTasks}[seed%2]
		cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 4, Budget: 4}
		l := must.Get(newLearner(dev, cfg, 1))(t)
		st, err := l.Solve(context.Background(), State{}, quiet, unsaved)
		must.Hold(t, err == nil, "seed %d: %v", seed, err)
		for _, e := range st.Epochs {
			_, err := json.Marshal(e)
			must.Hold(t, err == nil, "seed %d, round %d: %v", seed, e.Epoch, err)
		}
		l.Close()
	}
}
