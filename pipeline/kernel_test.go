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
	"github.com/amtrl/amtrl/pipeline/internal/boost"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// kernelConfig is defaultConfig for active and a kernel alone.
func kernelConfig(t *testing.T) Config {
	cfg := defaultConfig(t)
	cfg.Methods, cfg.Sources = []string{Active, Kernel}, SourcesPools
	return cfg
}

// curved replaces the labels of a set of numbers by a function of two features that no line follows, and those of classes by which of as
// many rings about the origin a row lies in. Labels that are missing stay so.
func curved(t *testing.T, set *dataset.Set) {
	rng := testrand.New(t)
	outputs := 0
	for set.Tasks[outputs].Pool == set.Tasks[0].Pool {
		if outputs++; outputs == len(set.Tasks) {
			break
		}
	}
	for i := range set.Tasks {
		task := &set.Tasks[i]
		pool := set.Pools[task.Pool]
		for row := range task.Labels {
			x := pool.F32[row*pool.Cols:]
			r := float64(x[0]*x[0] + x[1]*x[1])
			if set.Binary {
				task.Labels[row] = float32(b2i(min(int(r/1.2), outputs-1) == i%outputs))
			} else if task.Labels[row] != 0 {
				task.Labels[row] = float32(math.Cos(r) + 0.1*rng.NormFloat64())
			}
		}
	}
}

// fewTried makes regressions on all rows differ from those that are tried, at a size for tests.
func fewTried(t *testing.T, rows, samples, tried int) {
	was := [3]int{kernelRowsMost, kernelSamplesMost, kernelRowsTried}
	t.Cleanup(func() { kernelRowsMost, kernelSamplesMost, kernelRowsTried = was[0], was[1], was[2] })
	kernelRowsMost, kernelSamplesMost, kernelRowsTried = rows, samples, tried
}

// What a kernel says of a row is, for each output, a bias and a sum over its rows by definition, as numbers or as log-odds; a state that
// is read again and the model file say the same, for rows in any format.
func TestKernelPredictions(t *testing.T) {
	for _, c := range []struct {
		outputs int
		classes bool
	}{{1, true}, {3, true}, {1, false}, {2, false}} {
		rng := testrand.New(t)
		set := shops(rng, 4, 120, 5, c.outputs, c.classes)
		curved(t, set)
		fewTried(t, 150, 20, 60)
		l, st := runUnit(t, openDevice(t, 1, set), kernelConfig(t), 1)
		k := l.beside.kernel
		must.Hold(t, len(k.parts) > 0 && slices.Equal(l.beside.parts, slices.Repeat([]float32{1}, c.outputs)), "%+v: parts %v", c,
			l.beside.parts)
		rows := set.Tasks[c.outputs].Train
		got := must.Get(l.predictions(rows, must.Get(l.model.units())(t)))(t)
		x := make([]float32, 5)
		for i, row := range rows {
			want := wide(k.bias)
			for _, part := range k.parts {
				n := len(part.rows) / 5
				for o, width := range part.width {
					if width == 0 {
						continue
					}
					set.Pools[1].ReadRow(int(row), x)
					for j := range n {
						square := 0.0
						for f := range x {
							v := float64(x[f]) - float64(part.centre[f])
							if k.scale != nil {
								v /= float64(k.scale[f])
							}
							square += (v - float64(part.rows[j*5+f])) * (v - float64(part.rows[j*5+f]))
						}
						want[o] += float64(part.weight[o*n+j]) * math.Exp(-square/float64(width))
					}
				}
			}
			if c.outputs > 1 && c.classes {
				boost.ToLogOdds(want)
			}
			for o, v := range want {
				must.Hold(t, math.Abs(v-float64(got[o][i])) < 1e-3*(1+math.Abs(v)), "%+v: output %d of row %d is %g, expected %g", c, o, i,
					got[o][i], v)
			}
		}
		must.Do(t, l.Check(st))
		p := must.Get(NewPredictor(l.queue, l.Tensors(st), 0, 0))(t)
		defer p.Close()
		some := &dataset.Pool{Rows: len(rows), Cols: 5, Scale: 1}
		for _, row := range rows {
			some.F32 = append(some.F32, set.Pools[1].F32[int(row)*5:][:5]...)
		}
		y := make([]float32, len(rows)*c.outputs)
		must.Do(t, p.Predict(some, y))
		for i, v := range y {
			want := float64(got[i%c.outputs][i/c.outputs])
			must.Hold(t, math.Abs(float64(v)-want) <= 1e-5*(1+math.Abs(want)), "the model file says %g, the learner %g", v, want)
		}
	}
}

// The last round of active is averaged with the kernel, for rows and for left-out samples, and nothing else of it changes.
func TestKernelJoins(t *testing.T) {
	for _, classes := range []bool{true, false} {
		set := shops(testrand.New(t), 5, 200, 5, 3, classes)
		curved(t, set)
		dev, cfg := openDevice(t, 1, set), kernelConfig(t)
		cfg.TargetSamples, cfg.Schedule.Epochs = 40, 2
		var l [2]*Learner
		var st [2]State
		for i, methods := range [][]string{{Active}, {Active, Kernel}} {
			cfg.Methods = methods
			l[i] = must.Get(newLearner(dev, cfg, 0))(t)
			defer l[i].Close()
			for range 2 {
				p := must.Get(l[i].problem.Propose(st[i]))(t)
				st[i] = must.Get(l[i].Learn(context.Background(), st[i], l[i].problem.LookUp(p)))(t)
			}
		}
		plain, stacked, parts := st[0].Epochs[1], st[1].Epochs[1], l[1].beside.parts
		must.Hold(t, parts != nil && stacked.HeadKernel[0] == float64(parts[0]) && slices.Max(parts) > leastBeside && stacked.HeadTrees == nil,
			"the kernel has the parts %v, in the record %v", parts, stacked.HeadKernel)
		must.Hold(t, slices.Equal(st[0].Theta, st[1].Theta) && slices.Equal(st[0].Head, st[1].Head) && slices.Equal(plain.Nu, stacked.Nu) &&
			fmt.Sprint(st[0].Epochs[0]) == fmt.Sprint(st[1].Epochs[0]), "another fit")
		must.Hold(t, (classes || stacked.LeaveOneOut != plain.LeaveOneOut) && stacked.BaseModels() != plain.BaseModels(), "%s, was %s",
			stacked.BaseModels(), plain.BaseModels())
		rows := set.Tasks[0].Train
		var of [2][][]float32
		for i := range of {
			of[i] = must.Get(l[i].predictions(rows, must.Get(l[i].model.units())(t)))(t)
		}
		g := must.Get(l[1].besidePredictions(poolRows{l[1].problem.Target.Pool, rows}))(t)
		for c, part := range parts {
			for i := range rows {
				want := (1-part)*of[0][c][i] + part*g[c][i]
				must.Hold(t, math.Abs(float64(of[1][c][i]-want)) <= 1e-5*(1+math.Abs(float64(want))), "row %d of output %d is %g, expected %g", i, c,
					of[1][c][i], want)
			}
		}
	}
}

// Where classes are rings and effects bend, a kernel takes away most of the errors, and where they are planes it costs next to nothing.
func TestKernelHelps(t *testing.T) {
	rng := testrand.New(t)
	problems := must.Long(2, 1)
	for _, classes := range []bool{true, false} {
		var errs [2][2]float64 // bent or not, without a kernel and with it
		for range problems {
			for i := range errs {
				set := shops(rng, 6, 300, 5, 2, classes)
				if i == 0 {
					curved(t, set)
				}
				cfg := kernelConfig(t)
				cfg.TargetSamples, cfg.Schedule.Budget = 40, 600
				dev := openDevice(t, 1, set)
				for with, methods := range [][]string{{Active}, {Active, Kernel}} {
					cfg.Methods = methods
					_, st := runUnit(t, dev, cfg, 0)
					errs[i][with] += st.Epochs[cfg.Schedule.Epochs-1].Score.Value / float64(problems)
				}
			}
		}
		t.Logf("classes %v: without a kernel and with one, %.3g where effects bend, %.3g where they do not", classes, errs[0], errs[1])
		must.Hold(t, errs[0][1] < 0.8*errs[0][0] && errs[1][1] < 1.15*errs[1][0]+0.02, "classes %v: errors %.3g and %.3g",
			classes, errs[0], errs[1])
	}
}

// The labels of a fold do not choose the weights by which its samples are predicted, and those of the others do.
func TestKernelWeightsOfFolds(t *testing.T) {
	for _, classes := range []bool{true, false} {
		rng := testrand.New(t)
		set := shops(rng, 4, 150, 5, 2, classes)
		curved(t, set)
		l := must.Get(newLearner(openDevice(t, 1, set), kernelConfig(t), 0))(t)
		defer l.Close()
		in := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t))
		rows, group := l.problem.kernelRows(in), l.problem.columnGroups()[0]
		k := l.problem.kernelColumn(in, rows, group)
		part := l.problem.kernelPartOf(rows.at, nil, nil)
		fold := make([]int, len(in.Target.Rows))
		for i := range fold {
			fold[i] = i % treeFolds
		}
		must.Do(t, k.choose(t.Context(), []*mat.SymDense{must.Get(l.squaredDistances(part.rows, len(rows.at)))(t)}, fold))
		was, all, sum := k.ofFold[2], k.weights, 0.0
		for _, w := range was {
			sum += w
		}
		must.Hold(t, math.Abs(sum-1) < 1e-9, "the weights add up to %g", sum)
		for a, i := range k.samples {
			for j := range group {
				if i%treeFolds == 2 {
					k.labels[a*len(group)+j] = float64(b2i(j == rng.IntN(len(group)))) + float64(5*b2i(!classes))
				}
			}
		}
		k.weigh(fold)
		must.EqualSlices(t, k.ofFold[2], was, "weights for a fold whose labels are others")
		must.Hold(t, !slices.Equal(k.weights, all), "weights for all folds depend on no label")
	}
}

// A column of which the target has no sample is predicted by the sources' rows.
func TestKernelWithoutSamples(t *testing.T) {
	set := shops(testrand.New(t), 4, 150, 5, 2, false)
	for i := range set.Tasks {
		for row := range set.Tasks[i].Labels {
			set.Tasks[i].Labels[row] = 7 + set.Pools[set.Tasks[i].Pool].F32[row*5]
		}
	}
	train, drawn := set.Tasks[1].Train, true
	for i := 0; drawn; i++ { // the only label of the target's second column is not among its samples
		set.Tasks[1].Train = train[i : i+1]
		p := must.Get(NewProblem(set, kernelConfig(t), 0))(t)
		drawn = slices.Contains(p.draws.target[:p.Config.TargetSamples], train[i])
	}
	l, _ := runUnit(t, openDevice(t, 1, set), kernelConfig(t), 0)
	rows := set.Tasks[0].Test
	predicted := must.Get(l.predictions(rows, must.Get(l.model.units())(t)))(t)
	sum := 0.0
	for i, row := range rows {
		sum += math.Pow(float64(predicted[1][i]-7-set.Pools[0].F32[int(row)*5]), 2) / float64(len(rows))
	}
	must.Hold(t, sum < 0.3, "the squared error of a column without samples is %g", sum)
}

// Where the target is a source, its samples are not among the rows of sources, which would reveal their labels.
func TestKernelOfTargetAsSource(t *testing.T) {
	cfg := kernelConfig(t)
	cfg.IncludeTarget = true
	l := must.Get(newLearner(openDevice(t, 1, shops(testrand.New(t), 4, 150, 5, 2, true)), cfg, 0))(t)
	defer l.Close()
	in := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t))
	k := l.problem.kernelRows(in)
	at := map[poolRow]bool{}
	for _, r := range k.at {
		must.Hold(t, !at[r], "row %v is there twice", r)
		at[r] = true
	}
	must.Hold(t, slices.ContainsFunc(k.at[:k.first], func(r poolRow) bool { return r.pool == 0 }), "no row of the target as a source")
}

// Squared distances are those of the definition.
func TestSquaredDistances(t *testing.T) {
	rng := testrand.New(t)
	l := must.Get(newLearner(openDevice(t, 1, shops(rng, 3, 50, 4, 2, true)), kernelConfig(t), 0))(t)
	defer l.Close()
	const n, d = 9, 7
	x := narrow(normals(rng, n*d))
	got := must.Get(l.squaredDistances(x, n))(t)
	for i := range n {
		for j := range n {
			less := make([]float64, d)
			for f := range less {
				less[f] = float64(x[i*d+f]) - float64(x[j*d+f])
			}
			must.Hold(t, math.Abs(got.At(i, j)-linalg.Dot(less, less)) < 1e-12, "rows %d and %d: %g", i, j, got.At(i, j))
		}
	}
}

// A state after a kernel goes on, and one whose kernel is gone, is of another method or is damaged is refused.
func TestKernelInStates(t *testing.T) {
	cfg := kernelConfig(t)
	cfg.Scaling = ScalingFeature
	l, at, end := statesBeside(t, shops(testrand.New(t), 4, 120, 4, 2, true), cfg, Kernel)
	change := func(name string, f func(v []float32) []float32) State { return changed(t, at, name, f) }
	set := func(to float32) func([]float32) []float32 {
		return func(v []float32) []float32 { v[0] = to; return v }
	}
	fewer := func(v []float32) []float32 { return v[1:] }
	none, more := at, end
	none.Beside, more.Beside = nil, at.Beside
	for what, st := range map[string]State{
		"no kernel": none, "a kernel of another method": more,
		"a row that is no number":     change(KernelRows+"0", set(nan32)),
		"a row that is infinite":      change(KernelRows+"0", set(float32(math.Inf(-1)))),
		"fewer rows":                  change(KernelRows+"0", fewer),
		"a width below 0":             change(kernelWidth+"0", set(-1)),
		"fewer weights":               change(kernelWeight+"0", fewer),
		"a weight that is no number":  change(kernelWeight+"0", set(nan32)),
		"a centre that is infinite":   change(kernelCentre+"0", set(float32(math.Inf(1)))),
		"a scale of 0":                change(kernelScale, set(0)),
		"fewer scales":                change(kernelScale, fewer),
		"fewer biases":                change(kernelBias, fewer),
		"another column":              change(kernelGroup, set(7)),
		"a column that no int holds":  change(kernelGroup, set(1e30)),
		"a part of 2":                 change(KernelPart, set(2)),
		"fewer parts":                 change(KernelPart, fewer),
		"a part that is not a number": change(KernelPart, set(nan32)),
	} {
		must.Fail(t, what, l.Check(st), "kernel")
	}
}

// A kernel is fitted by default where features are no columns of a table, and is refused where it cannot be.
func TestKernelByDefault(t *testing.T) {
	rng := testrand.New(t)
	cfg := must.Get(NewConfig(PresetDefault))(t)
	for _, of := range []struct {
		set  *dataset.Set
		want bool
	}{
		{shops(rng, 3, 40, 4, 2, true), true}, {shops(rng, 3, 40, 4, 2, false), true}, {asTable(shops(rng, 3, 40, 4, 2, true)), false},
		{shops(rng, 3, 20, 4, kernelColumns+1, false), false}, {shops(rng, 3, 20, 4, kernelColumns+1, true), true},
	} {
		must.Equal(t, slices.Contains(cfg.Complete(of.set).Methods, Kernel), of.want, "a kernel by default")
	}
	conv := cfg
	conv.Representation = ClassConv
	must.Hold(t, !slices.Contains(conv.Complete(shops(rng, 3, 40, 4, 2, true)).Methods, Kernel), "a kernel beside a network")
	cfg = kernelConfig(t)
	must.Fail(t, "a table", must.Err(NewProblem(asTable(shops(rng, 3, 100, 4, 2, true)), cfg, 0)), "kernel", "columns of a table")
	cfg.Sources = SourcesTasks
	must.Fail(t, "tasks", must.Err(NewProblem(shops(rng, 3, 100, 4, 2, true), cfg, 0)), "kernel", "pools")
}
