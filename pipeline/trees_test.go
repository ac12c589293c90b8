package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/boost"
)

// asTable names the features of a set as columns of a table.
func asTable(set *dataset.Set) *dataset.Set {
	set.Columns = &dataset.Columns{}
	for j := range set.Pools[0].Cols {
		set.Columns.Features = append(set.Columns.Features, fmt.Sprint("x", j))
	}
	return set
}

// treesConfig is defaultConfig for active and trees alone.
func treesConfig(t *testing.T) Config {
	cfg := defaultConfig(t)
	cfg.Methods, cfg.Sources = []string{Active, Trees}, SourcesPools
	return cfg
}

// together replaces the labels of a set of numbers by the sign of the product of three features, times 1 for the first
// output and a scale for each further one, with noise. Labels that are missing stay so.
func together(t *testing.T, set *dataset.Set, outputs int) {
	rng := testrand.New(t)
	for i := range set.Tasks {
		task := &set.Tasks[i]
		pool := set.Pools[task.Pool]
		for row := range pool.Rows {
			x := pool.F32[row*pool.Cols:]
			y := math.Copysign(1, float64(x[0])*float64(x[1])*float64(x[2])) + 0.1*rng.NormFloat64()
			task.Labels[row] = float32(y * math.Pow(100, float64(i%outputs)))
		}
	}
}

// Trees draws the rows of the last round of the first method, and its predictions of test rows are those that a fit to all
// its rows and samples by package boost gives, also for several outputs and classes.
func TestTrees(t *testing.T) {
	const target = 1
	rng, ctx := testrand.New(t), context.Background()
	for _, classes := range []bool{true, false} {
		set := asTable(shops(rng, 2, 150, 5, 2, classes))
		dev := openDevice(t, 1, set)
		u, st := runUnit(t, dev, treesConfig(t), target)
		active, e := st.Epochs[len(st.Epochs)-2], st.Epochs[len(st.Epochs)-1]
		must.Hold(t, e.Method == Trees && slices.Equal(e.Counts, active.Counts) && e.Cost == active.Cost && e.LeaveOneOut > 0,
			"the last round is %+v, that of active %+v", e, active)
		must.Equal(t, e.LogLoss > 0, classes, "log-loss")
		groups, kind := [][]int{{0}, {1}}, boost.Numbers
		if classes {
			groups, kind = [][]int{{0, 1}}, boost.Classes
		}
		for _, group := range groups {
			var x []float32
			var y []float64
			add := func(s Source, rows []int32) {
				for _, row := range rows {
					if task := set.Tasks[s.Tasks[group[0]]]; !slices.Contains(task.Train, row) {
						continue
					}
					x = append(x, set.Pools[s.Pool].F32[int(row)*5:][:5]...)
					for _, c := range group {
						y = append(y, float64(set.Tasks[s.Tasks[c]].Labels[row]))
					}
				}
			}
			add(u.problem.Sources[0], u.problem.draws.source[0][:e.Counts[0]])
			first := len(y) / len(group)
			add(u.problem.Target, u.problem.TargetSamples().Rows)
			trees := 0
			for _, tree := range u.beside.forest.Trees {
				if slices.Contains(group, tree.Output) {
					trees++
				}
			}
			n := len(y) / len(group)
			rows := treeRows{kind: kind, group: group, y: y, sources: [][]int32{upTo(first)}, first: first, samples: make([]int, n-first)}
			start, ofTarget := rows.start(upTo(n))
			columns := boost.NewColumns(x, 5)
			columns.SplitBySource(append(make([]int32, first), slices.Repeat([]int32{1}, n-first)...), 2, 1)
			want := must.Get(boost.Fit(ctx, columns, y, start, len(group), kind, upTo(n), trees/boost.StageTrees/len(group)))(t)
			for j := range group {
				want.Start[j] = float32(ofTarget[j])
			}
			test := set.Tasks[2*target].Test
			got, predicted := must.Get(u.predictions(test, units{}))(t), make([]float64, len(group))
			for i, row := range test {
				want.Predict(set.Pools[target].F32[int(row)*5:][:5], predicted)
				for j, c := range group {
					if v := float64(got[c][i]); math.Abs(v-predicted[j]) > 1e-4*(1+math.Abs(predicted[j])) {
						t.Fatalf("classes %v: output %d of row %d is %g, expected %g", classes, c, row, v, predicted[j])
					}
				}
			}
		}
	}
}

// What three features do together, trees learn and lines do not, and the left-out error agrees with that on test rows. A
// model file of theirs predicts what the learner does, whatever is subtracted from the features. Neither units nor a shift
// of features or labels matter.
func TestTreesOfThreeFeatures(t *testing.T) {
	set := asTable(shops(testrand.New(t), 6, 400, 5, 2, false))
	together(t, set, 2)
	cfg := treesConfig(t)
	cfg.TargetSamples, cfg.Schedule.Budget = 60, 1500
	score := func(shift, scale float64, centring string) (active, trees *Epoch) {
		other := *set
		other.Pools, other.Tasks = nil, slices.Clone(set.Tasks)
		for _, p := range set.Pools {
			q := *p
			q.F32 = make([]float32, len(p.F32))
			for i, v := range p.F32 {
				q.F32[i] = float32(shift + scale*float64(v))
			}
			other.Pools = append(other.Pools, &q)
		}
		cfg.Centring = centring
		dev := openDevice(t, 1, &other)
		l, st := runUnit(t, dev, cfg, 0)
		if st.Epochs[len(st.Epochs)-1].Centring != centring && centring == CentringSource {
			t.Fatalf("centring %q, expected %q", st.Epochs[len(st.Epochs)-1].Centring, centring)
		}
		p := must.Get(NewPredictor(l.queue, l.Tensors(st), 0, 0))(t)
		defer p.Close()
		pred, _ := l.Measured()
		pool, test := other.Pools[0], l.problem.draws.test
		rows := &dataset.Pool{Rows: len(test), Cols: pool.Cols, Scale: 1}
		for _, row := range test {
			rows.F32 = append(rows.F32, pool.F32[int(row)*pool.Cols:][:pool.Cols]...)
		}
		y := make([]float32, 2*len(test))
		must.Do(t, p.Predict(rows, y))
		differ := 0
		for i := range test {
			if y[2*i] != pred[0][i] || y[2*i+1] != pred[1][i] {
				differ++
			}
		}
		must.Equal(t, differ, 0, "rows predicted differently by model and learner, shift %g, scale %g, centring %q", shift, scale, centring)
		rows.F32[0] = nan32
		must.Do(t, p.Predict(rows, y))
		must.Hold(t, y[0] != y[0] && y[1] != y[1] && y[2] == y[2], "predictions of a row without a feature are %v", y[:3])
		return &st.Epochs[len(st.Epochs)-2], &st.Epochs[len(st.Epochs)-1]
	}
	active, trees := score(0, 1, CentringGlobal)
	plain := cfg
	plain.Methods = []string{Active}
	_, st := runUnit(t, openDevice(t, 1, set), plain, 0)
	lines := &st.Epochs[len(st.Epochs)-1]
	for _, e := range []*Epoch{active, trees} {
		must.Hold(t, e.LeaveOneOut < lines.LeaveOneOut/2, "left out, %s has %g, lines %g", e.Method, e.LeaveOneOut, lines.LeaveOneOut)
		must.Hold(t, e.Score.Value < lines.Score.Value/2, "on test rows, %s has %g, lines %g", e.Method, e.Score.Value, lines.Score.Value)
	}
	must.Hold(t, len(active.HeadTrees) == 2 && slices.Min(active.HeadTrees) > 0.5, "trees have the parts %v of active", active.HeadTrees)
	for _, of := range []struct{ shift, scale float64 }{{0, 4}, {0, 1. / 8}} {
		_, again := score(of.shift, of.scale, CentringGlobal)
		must.Equal(t, again.LeaveOneOut, trees.LeaveOneOut, "left-out error of features times %g", of.scale)
	}
	_, own := score(0, 1, CentringSource)
	must.Hold(t, own.LeaveOneOut < lines.LeaveOneOut/2, "with rows less the means of their sources %g, lines %g", own.LeaveOneOut,
		lines.LeaveOneOut)
	_, shifted := score(3, 1, CentringGlobal)
	must.Hold(t, math.Abs(shifted.LeaveOneOut/trees.LeaveOneOut-1) < 0.2, "%g with features moved by 3, %g without", shifted.LeaveOneOut,
		trees.LeaveOneOut)
}

// Trees are refused where features are not columns of a table, where sources are tasks, and where no method comes before
// them. They are among the defaults of tables that are not too wide.
func TestTreesMethods(t *testing.T) {
	rng := testrand.New(t)
	cfg := treesConfig(t)
	must.Fail(t, "no table", must.Err(NewProblem(shops(rng, 3, 100, 4, 2, true), cfg, 0)), "trees", "columns of a table")
	cfg.Methods = []string{Trees}
	must.Fail(t, "alone", must.Err(NewProblem(asTable(shops(rng, 3, 100, 4, 2, true)), cfg, 0)), "trees comes first")
	cfg.Methods, cfg.Sources = []string{Uniform, Trees}, SourcesTasks
	must.Fail(t, "tasks", must.Err(NewProblem(asTable(shops(rng, 3, 100, 4, 2, true)), cfg, 0)), "trees", "pools")
	cfg = defaultConfig(t)
	for _, of := range []struct {
		set  *dataset.Set
		want bool
	}{
		{shops(rng, 3, 20, 4, 2, true), false}, {asTable(shops(rng, 3, 20, 4, 2, true)), true},
		{asTable(shops(rng, 3, 20, 4096, 2, true)), true}, {asTable(shops(rng, 3, 20, 4097, 2, true)), false},
		{asTable(shops(rng, 3, 20, 4, 33, true)), false},
	} {
		must.Equal(t, slices.Contains(cfg.Complete(of.set).Methods, Trees), of.want, "trees by default")
	}
}

// A state after trees goes on, and one whose trees are gone, are of another method or are damaged is refused.
func TestTreesInStates(t *testing.T) {
	l, at, end := statesBeside(t, asTable(shops(testrand.New(t), 4, 120, 4, 2, true)), treesConfig(t), Trees)
	change := func(name string, f func(v []float32) []float32) State { return changed(t, at, name, f) }
	set := func(i int, to float32) func([]float32) []float32 {
		return func(v []float32) []float32 { v[i] = to; return v }
	}
	older := at // trees of earlier versions have room for 61 nodes
	older.Beside = slices.Clone(at.Beside)
	for i, tensor := range older.Beside {
		if tensor.Name == TreeNodes {
			var wide []float32
			for tree := range slices.Chunk(tensor.Data, boost.MaxNodes*nodeFields) {
				wide = append(append(wide, tree...), make([]float32, (61-boost.MaxNodes)*nodeFields)...)
			}
			older.Beside[i] = Tensor{TreeNodes, []int{tensor.Shape[0], 61, nodeFields}, wide}
		}
	}
	must.Do(t, l.Check(older))
	none, more := at, end
	none.Beside, more.Beside = nil, at.Beside
	for what, st := range map[string]State{
		"no trees": none, "trees of another method": more,
		"a node with another column": change(TreeNodes, set(0, 4)), "one before the first": change(TreeNodes, set(0, -1)),
		"a column that no int holds": change(TreeNodes, set(0, 1e30)), "an infinite one": change(TreeNodes, set(0, float32(math.Inf(1)))),
		"an output that no int holds": change(treeOutput, set(0, 1e30)),
		"no number":                   change(TreeNodes, set(1, nan32)),
		"a loop":                      change(TreeNodes, set(2, 0.5)),
		"no node":                     change(TreeNodes, set(3, boost.MaxNodes)),
		"no output":                   change(treeOutput, set(0, 2)),
		"no part":                     change(TreePart, set(1, nan32)),
		"a part of 2":                 change(TreePart, set(0, 2)),
		"fewer parts":                 change(TreePart, func(v []float32) []float32 { return v[1:] }),
		"fewer nodes":                 change(TreeNodes, func(v []float32) []float32 { return v[1:] }),
		"fewer starts":                change(treeStart, func(v []float32) []float32 { return v[1:] }),
	} {
		must.Fail(t, what, l.Check(st), "trees")
	}
}
