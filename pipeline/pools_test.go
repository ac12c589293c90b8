package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

var nan32 = float32(math.NaN())

// shops returns a set of pools with several outputs each, which depend on one representation
// with two features, with noise: the classes of one column, or columns of numbers in different
// units, with some labels missing. Every fifth row is for tests.
func shops(rng *rand.Rand, pools, rows, d, outputs int, classes bool) *dataset.Set {
	const k = 2
	set := &dataset.Set{Name: "shops", Binary: classes}
	phi := normals(rng, d*k)
	for p := range pools {
		pool := &dataset.Pool{Name: fmt.Sprint("shop", p), Rows: rows, Cols: d, Scale: 1, F32: narrow(normals(rng, rows*d))}
		set.Pools = append(set.Pools, pool)
		scores := make([][]float64, outputs)
		for c := range outputs {
			w := normals(rng, k)
			if classes { // the same head in all pools
				w = []float64{3 * math.Cos(float64(c)*6.3/float64(outputs)), 3 * math.Sin(float64(c)*6.3/float64(outputs))}
			}
			scores[c] = make([]float64, rows)
			for i := range rows {
				z := multiply(false, false, phi, k, wide(pool.F32[i*d:(i+1)*d]), d)
				scores[c][i] = linalg.Dot(z, w) + 0.1*rng.NormFloat64()
			}
		}
		for c := range outputs {
			t := dataset.Task{Name: fmt.Sprint(pool.Name, "_", c), Pool: p, Labels: make([]float32, rows)}
			if t.Output.Name = "column"; !classes {
				t.Output.Name = fmt.Sprint("column", c)
			} else {
				t.Output.Class = fmt.Sprint("class", c)
			}
			for i := range rows {
				y := float32(scores[c][i] * math.Pow(100, float64(c)))
				if classes {
					y = 1
					for o := range outputs {
						if scores[o][i] > scores[c][i] {
							y = 0
						}
					}
				}
				if !classes && c > 0 && rng.IntN(3) == 0 {
					continue // no label
				}
				t.Labels[i] = y
				if i%5 == 0 {
					t.Test = append(t.Test, int32(i))
				} else {
					t.Train = append(t.Train, int32(i))
				}
			}
			set.Tasks = append(set.Tasks, t)
		}
	}
	return set
}

// defaultConfig returns the settings of preset default for small data.
func defaultConfig(t *testing.T) Config {
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg.K, cfg.TargetSamples, cfg.Seed = 3, 25, 5
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 6, Budget: 300}
	return cfg
}

// pooledConfig is defaultConfig without a kernel, for data whose sources are pools.
func pooledConfig(t *testing.T) Config {
	cfg := defaultConfig(t)
	cfg.Methods, cfg.Sources = append(slices.Clone(defaultMethods), Pooled), SourcesPools
	return cfg
}

// Where each pool has one task, sources that are pools give the state of sources that are tasks, to the byte.
func TestPoolsOfOneTask(t *testing.T) {
	for _, binary := range []bool{true, false} {
		set := smallSet(6, 5, 200, 6, binary)
		pools := set.Pools
		set.Pools = nil
		for i := range set.Tasks {
			p := *pools[set.Tasks[i].Pool]
			p.Name, set.Tasks[i].Pool = set.Tasks[i].Name, i
			set.Pools = append(set.Pools, &p)
		}
		dev := openDevice(t, 1, set)
		cfg := defaultConfig(t)
		cfg.Methods, cfg.Relevance.Kind = []string{Active, Uniform, Constant, Target}, Ridge
		_, want := runUnit(t, dev, cfg, 2)
		cfg.Sources = SourcesPools
		_, got := runUnit(t, dev, cfg, 2)
		for i := range got.Epochs {
			must.Equal(t, len(got.Epochs[i].NoisyLoss) > 0, binary, "labels of pools that may be wrong")
			got.Epochs[i].NoisyLoss = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("binary %v: the state with pools differs from that with tasks:\n%+v\n%+v", binary, got.Epochs, want.Epochs)
		}
	}
}

// All outputs of a row have terms in the objective, except where a label is missing.
func TestObjectiveOfSeveralOutputs(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 2)
	const k, d, lambda = 2, 7, 0.01
	for range 5 {
		outputs, rows := []int{1 + rng.IntN(3), 4, 1 + rng.IntN(5)}, []int{12, 20, rng.IntN(10)}
		x := narrow(normals(rng, 30*d))
		set := backend.SampleSet{Pools: []backend.Pool{{Data: upload(t, b, backend.Float32, x).Mat(30, d), Scale: 1}},
			SourcePool: []int{0, 0, 0}, Outputs: outputs, Offsets: []int{0}}
		r, first := &regression{d: d}, 0
		for m, n := range rows {
			for i := range n {
				set.Rows = append(set.Rows, int32(i))
				for c := range outputs[m] {
					y := float32(rng.NormFloat64())
					if rng.IntN(3) == 0 {
						set.Y = append(set.Y, nan32)
						continue
					}
					set.Y = append(set.Y, y)
					r.x, r.y, r.task = append(r.x, wide(x[i*d:(i+1)*d])), append(r.y, float64(y)), append(r.task, first+c)
				}
			}
			first += outputs[m]
			set.Offsets = append(set.Offsets, len(set.Rows))
		}
		l := must.Get(newLinear(b, k, d, first, 0, 1))(t)
		tmp := backend.NewScope(b)
		obj := must.Get(newERMObjective(l, place(t, b, set), len(r.y), lambda, tmp))(t)
		theta := narrow(normals(rng, l.theta.Len))
		g := upload(t, b, backend.Float32, make([]float32, len(theta)))
		must.Do(t, obj.Evaluate(upload(t, b, backend.Float32, theta), g))
		want, gradient := r.objective(wide(theta), k, lambda)
		if !near(obj.Value()/want, 1, 1e-5) {
			t.Errorf("the objective is %g, want %g", obj.Value(), want)
		}
		closeVectors(t, "the gradient", download(t, b, g), gradient, 1e-4, 0)
		tmp.Close()
		l.close()
	}
}

// The relevance of a source is the Frobenius norm of its block of the solution for
// all outputs of the target.
func TestRelevanceOfBlocks(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	outputs, k, targets := []int{1, 3, 10, 2}, 4, 3
	heads := float32s(normals(rng, 16*k))
	var w []backend.Vector
	nu := mat.NewDense(targets, 16, nil)
	for c := range targets {
		v := float32s(normals(rng, k))
		w = append(w, upload(t, b, backend.Float32, narrow(v)))
		nu.SetRow(c, minNormReference(heads, v, 0))
	}
	var want []float64
	for m, at := 0, 0; m < len(outputs); m++ {
		want = append(want, mat.Norm(nu.Slice(0, targets, at, at+outputs[m]), 2))
		at += outputs[m]
	}
	a := upload(t, b, backend.Float32, narrow(heads)).Mat(16, k)
	got, rank := must.Get2(Relevance{Kind: MinNorm, Rcond: -1}.estimate(b, a, w, outputs))(t)
	if closeVectors(t, "nu", got, want, 1e-6, 0); rank != k {
		t.Errorf("rank %d, want %d", rank, k)
	}
}

// The score that a round records for pools with several classes is what its parameters give,
// and each row is drawn, counted and paid once.
func TestPoolsRecord(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 6, 200, 8, 4, true)
	for p := range set.Pools {
		set.Pools[p].Cost = 1 + float64(p%3)
	}
	dev := openDevice(t, 2, set)
	cfg := pooledConfig(t)
	u, st := runUnit(t, dev, cfg, 1)
	if len(u.problem.Sources) != 5 || slices.Contains(u.problem.SourceNames(), "shop1") {
		t.Fatalf("sources %v of shop1", u.problem.SourceNames())
	}
	for _, e := range st.Epochs {
		cost, samples := 0.0, 0
		for m, n := range e.Counts {
			cost += float64(n) * (1 + float64(u.problem.Sources[m].Pool%3))
			samples += n
		}
		if !isBaseline(e.Method) && (e.Samples != samples || e.Cost != cost || cost > 300 || samples == 0) {
			t.Errorf("%s, epoch %d: %d samples at %g, want %d at %g", e.Method, e.Epoch, e.Samples, e.Cost, samples, cost)
		}
		if len(e.Nu) != 5 || e.Score.Metric != MetricError {
			t.Errorf("%d relevances, score %+v", len(e.Nu), e.Score)
		}
	}
	active := st.Epochs[2]
	full := must.Get(u.Solve(context.Background(), State{}, quiet, func(st State) error {
		if len(st.Epochs) != 3 {
			return nil
		}
		wrong, named := 0.0, map[string][]float64{}
		for _, v := range u.Tensors(st) {
			named[v.Name] = wide(v.Data)
		}
		test, centre, scale := set.Tasks[4].Test, named["representation.centre"], named["representation.scale"][0]
		for _, row := range test {
			z := wide(set.Pools[1].F32[row*8 : row*8+8])
			for j := range z {
				z[j] = (z[j] - centre[j]) / scale
			}
			phi, best, class := multiply(false, false, named["representation.weight"], 3, z, 8), math.Inf(-1), 0
			for c := range 4 {
				v := linalg.Dot(phi, named["target.weight"][3*c:3*c+3]) + linalg.Dot(z, named["target.delta"][8*c:8*c+8]) + named["target.bias"][c]
				if v > best {
					best, class = v, c
				}
			}
			wrong += float64(1-set.Tasks[4+class].Labels[row]) / float64(len(test))
		}
		if !near(active.Score.Value, wrong, 1e-6) {
			t.Errorf("the error is %g, recorded %g", wrong, active.Score.Value)
		}
		if wrong > 0.65 {
			t.Errorf("the error is %g, and that of chance 0.75", wrong)
		}
		return nil
	}))(t)
	if !reflect.DeepEqual(full, st) {
		t.Error("two runs of one seed differ")
	}
}

// From the state after any round, the remaining rounds leave the same bytes.
func TestPoolsResume(t *testing.T) {
	dev := openDevice(t, 1, inOddUnits(shops(testrand.New(t), 5, 150, 6, 3, false)))
	cfg := defaultConfig(t)
	var states []State
	u := must.Get(newLearner(dev, cfg, 4))(t)
	defer u.Close()
	if u.problem.Config.Scaling != ScalingFeature {
		t.Errorf("scaling %q", u.problem.Config.Scaling)
	}
	want := must.Get(u.Solve(context.Background(), State{}, quiet, func(st State) error {
		states = append(states, st)
		return nil
	}))(t)
	for i, st := range states {
		v := must.Get(newLearner(dev, cfg, 4))(t)
		got := must.Get(v.Solve(context.Background(), st, quiet, unsaved))(t)
		if v.Close(); !reflect.DeepEqual(got, want) {
			t.Errorf("from round %d on the end is another", i+1)
		}
	}
}

// Each column of numbers may be in any unit: the draws and the relevance are the same where
// the change of units rounds nothing. Where it does, the relevance of the first round is the
// same up to rounding, which L-BFGS that stops early amplifies from round to round.
func TestColumnsHaveUnits(t *testing.T) {
	set := shops(testrand.New(t), 6, 200, 8, 3, false)
	cfg := smallConfig()
	cfg.Sources, cfg.Intercept = SourcesPools, true
	_, want := runUnit(t, openDevice(t, 1, set), cfg, 0)
	measure := func(column int, times, plus float32) []Epoch {
		for i := column; i < len(set.Tasks); i += 3 {
			for row, y := range set.Tasks[i].Labels {
				set.Tasks[i].Labels[row] = times*y + plus
			}
		}
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		return st.Epochs
	}
	measure(0, 64, 0)
	for i, e := range measure(2, 1./128, 0) {
		if w := want.Epochs[i]; !slices.Equal(e.Counts, w.Counts) || !slices.Equal(e.Nu, w.Nu) {
			t.Errorf("%s, epoch %d: draws %v and nu %v, want %v and %v", e.Method, e.Epoch, e.Counts, e.Nu, w.Counts, w.Nu)
		}
	}
	for i, e := range measure(0, 1, 500) {
		if w := want.Epochs[i]; e.Epoch == 1 {
			closeVectors(t, "nu", e.Nu, w.Nu, 1e-2, 0)
		}
	}
}

// Outputs with labels of the same rows are fitted together, and an output with labels of
// other rows as if it were the only one.
func TestHeadsOfMissingLabels(t *testing.T) {
	dev := openDevice(t, 1, shops(testrand.New(t), 4, 120, 6, 3, false))
	for _, prior := range []string{PriorResidual, PriorSources, PriorIdentity} {
		cfg := defaultConfig(t)
		cfg.Methods, cfg.Schedule.Epochs, cfg.Head.Prior = []string{Active}, 1, prior
		u, _ := runUnit(t, dev, cfg, 1)
		var all, alone Labelled
		for i, row := range u.problem.draws.target {
			y := []float32{float32(i % 7), float32(i % 4), float32(i % 3)}
			if i%2 == 0 {
				y[1] = nan32
			} else {
				alone.Rows, alone.Y = append(alone.Rows, row), append(alone.Y, nan32, y[1], nan32)
			}
			all.Rows, all.Y = append(all.Rows, row), append(all.Y, y...)
		}
		must.Get(u.fitHead(all))(t)
		got := download(t, u.queue, u.headOf(1))
		must.Get(u.fitHead(alone))(t)
		if want := download(t, u.queue, u.headOf(1)); !slices.Equal(got, want) || norm(want) == 0 {
			t.Errorf("%s: head\n%v, want\n%v", prior, got, want)
		}
		if v := download(t, u.queue, u.headOf(0)); norm(v) != 0 {
			t.Errorf("%s: an output without labels has the head %v", prior, v)
		}
	}
}

// The rows to draw from are the training rows of any output that are test rows of none, and
// a row has a label of each output that lists it.
func TestRowsOfPools(t *testing.T) {
	set := &dataset.Set{Pools: []*dataset.Pool{zeros(8)}, Tasks: []dataset.Task{
		{Name: "x", Labels: []float32{0, 1, 2, 3, 4, 5, 6, 7}, Train: []int32{0, 3, 5}, Test: []int32{1}},
		{Name: "y", Labels: []float32{10, 11, 12, 13, 14, 15, 16, 17}, Train: []int32{4, 3}, Test: []int32{5, 6}},
	}}
	cfg := Config{Sources: SourcesPools}
	s := cfg.SourcesIn(set)[0]
	if got := s.trainRows(set); !slices.Equal(got, []int32{0, 3, 4}) {
		t.Errorf("rows to draw %v", got)
	}
	if got := s.testRows(set); !slices.Equal(got, []int32{1, 5, 6}) {
		t.Errorf("rows to test %v", got)
	}
	for _, c := range []struct {
		rows []int32
		want []float32
	}{
		{[]int32{4, 0, 3}, []float32{nan32, 14, 0, nan32, 3, 13}},
		{[]int32{1, 5, 6}, []float32{1, nan32, 5, 15, nan32, 16}},
	} {
		got := s.label(set, c.rows).Y
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("labels of %v: %v, want %v", c.rows, got, c.want)
		}
	}
}
