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

// plainAndStacked returns the learners and the last states of active without trees and of active averaged with them, and of
// trees alone, for one problem.
func plainAndStacked(t *testing.T, set *dataset.Set, cfg Config, target int) (l [3]*Learner, st [3]State) {
	dev := openDevice(t, 1, set)
	cfg.Methods = []string{Active}
	l[0], st[0] = runUnit(t, dev, cfg, target)
	cfg.Methods = []string{Active, Trees}
	for i, upto := range []int{cfg.Schedule.Epochs, cfg.Schedule.Epochs + 1} {
		l[1+i] = must.Get(newLearner(dev, cfg, target))(t)
		t.Cleanup(l[1+i].Close)
		for range upto {
			p := must.Get(l[1+i].problem.Propose(st[1+i]))(t)
			st[1+i] = must.Get(l[1+i].Learn(context.Background(), st[1+i], l[1+i].problem.LookUp(p)))(t)
		}
	}
	return l, st
}

// The predictions of the last round of active are means of those that it has without trees and of those of trees, for rows
// and for left-out samples, and its model file predicts them. Nothing else of the round changes, and no other round.
func TestTreesJoin(t *testing.T) {
	type problem struct{ classes, held bool }
	rng := testrand.New(t)
	for _, c := range must.Some(rng, 2, problem{true, true}, problem{false, true}, problem{true, false}, problem{false, false}) {
		set := asTable(shops(rng, 5, 200, 5, 3, c.classes))
		if together(t, set, 3); c.classes {
			for i := range set.Tasks { // of one class by the sign of a product, and of two by another feature
				task := &set.Tasks[i]
				for row := range task.Labels {
					x := set.Pools[task.Pool].F32[row*5:]
					class := 0
					if x[0]*x[1]*x[2] > 0 {
						class = 1 + b2i(x[3] > 0)
					}
					task.Labels[row] = float32(b2i(class == i%3))
				}
			}
		}
		if !c.held {
			for i := range set.Tasks {
				set.Tasks[i].Test = nil
			}
		}
		cfg := defaultConfig(t)
		cfg.Sources, cfg.TargetSamples = SourcesPools, 40
		l, st := plainAndStacked(t, set, cfg, 0)
		last := func(of int) *Epoch { return &st[of].Epochs[len(st[of].Epochs)-1] }
		plain, stacked, parts := last(0), last(1), l[1].beside.parts
		must.Hold(t, parts != nil && stacked.HeadTrees[0] == float64(parts[0]) && slices.Max(parts) > leastBeside,
			"%+v: trees have the parts %v, in the record %v", c, parts, stacked.HeadTrees)
		must.Hold(t, slices.Equal(st[0].Theta, st[1].Theta) && slices.Equal(st[0].Head, st[1].Head) && slices.Equal(plain.Nu, stacked.Nu) &&
			fmt.Sprint(st[0].Epochs[:len(st[0].Epochs)-1]) == fmt.Sprint(st[1].Epochs[:len(st[1].Epochs)-1]), "%+v: another fit", c)
		if c.classes { // the classes of one column have one part
			must.Hold(t, slices.Min(parts) == slices.Max(parts), "parts %v of the classes of a column", parts)
		}
		rows := set.Tasks[0].Train
		of := [3][][]float32{}
		for i := range of {
			of[i] = must.Get(l[i].predictions(rows, must.Get(l[i].model.units())(t)))(t)
		}
		p := must.Get(NewPredictor(l[1].queue, l[1].Tensors(st[1]), 0, 0))(t)
		defer p.Close()
		pool, y := &dataset.Pool{Rows: len(rows), Cols: 5, Scale: 1}, make([]float32, 3*len(rows))
		for _, row := range rows {
			pool.F32 = append(pool.F32, set.Pools[0].F32[int(row)*5:][:5]...)
		}
		must.Do(t, p.Predict(pool, y))
		for i := range rows {
			for k, part := range parts {
				f, g, got := float64(of[0][k][i]), float64(of[2][k][i]), float64(of[1][k][i])
				size := math.Abs(f) + math.Abs(g) + math.Pow(100, float64(k))
				must.Hold(t, math.Abs(f+float64(part)*(g-f)-got) < 1e-5*size, "%+v: row %d: %g and %g by %g give %g", c, i, f, g, part, got)
				must.Hold(t, math.Abs(float64(y[3*i+k])-got) < 1e-4*size, "%+v: row %d: the model file predicts %g, expected %g", c, i, y[3*i+k], got)
			}
		}
		if c.held {
			continue
		}
		none, _ := l[0].Measured() // left out
		some, _ := l[1].Measured()
		trees, _ := l[2].Measured()
		for k := range none {
			for i, f := range none[k] {
				g, got := trees[k][i], some[k][i]
				must.Hold(t, f == got && g != g || min(f, g) <= got && got <= max(f, g), "%+v: sample %d left out: %g is not from %g to %g", c, i, got,
					f, g)
			}
		}
	}
}

// Labels of a fold that is left out do not change the part of trees in its predictions, while those of others do.
func TestTreePartLeavesFoldsOut(t *testing.T) {
	rng := testrand.New(t)
	l := must.Get(newLearner(openDevice(t, 1, asTable(shops(rng, 5, 150, 4, 1, false))), treesConfig(t), 0))(t)
	defer l.Close()
	in, n := l.problem.LookUp(Proposal{Sources: make([][]int32, 4), Target: upTo(40)}).Target, 40
	found := &fittedBeside{left: [][]float32{narrow(normals(rng, n))}, fold: make([]int, n),
		forest: &boost.Forest{Start: []float32{0}, Gain: []float64{0, 1, 0, 0}}}
	left := [][]float32{narrow(normals(rng, n))}
	for i := range found.fold {
		found.fold[i] = i % treeFolds
	}
	group := []int{0}
	was := l.besidePart(in, group, left, found, 2)
	in.Y = slices.Clone(in.Y)
	for i := 2; i < n; i += treeFolds {
		in.Y[i] = found.left[0][i]
	}
	must.Equal(t, l.besidePart(in, group, left, found, 2), was, "the part for a fold whose labels changed")
	for i := range in.Y { // the others now follow the trees
		in.Y[i] = found.left[0][i]
	}
	part := l.besidePart(in, group, left, found, 2)
	must.Hold(t, part > 0.99, "trees that are right have the part %g", part)
	wrong := &fittedBeside{left: left, fold: found.fold, forest: found.forest}
	must.Equal(t, l.besidePart(in, group, found.left, wrong, -1), 0, "the part of trees that are wrong")
	found.forest.Gain[1] = 0
	must.Equal(t, l.besidePart(in, group, left, found, -1), 0, "the part of trees without splits")
	must.Equal(t, l.besidePart(in.some([]int{1}, 1), group, left, found, -1), 0, "the part that one sample chooses")
}

// As trees become better, the part of trees rises from 0 to 0.05 at once, and then by little.
func TestLeastPartOfTrees(t *testing.T) {
	rng := testrand.New(t)
	l := must.Get(newLearner(openDevice(t, 1, asTable(shops(rng, 5, 150, 4, 1, false))), treesConfig(t), 0))(t)
	defer l.Close()
	in, n := l.problem.LookUp(Proposal{Sources: make([][]int32, 4), Target: upTo(40)}).Target, 40
	left, g := narrow(normals(rng, n)), make([]float32, n)
	found := &fittedBeside{left: [][]float32{g}, fold: make([]int, n), forest: &boost.Forest{Start: []float32{0}, Gain: []float64{0, 1, 0, 0}}}
	least := math.Inf(1)
	for better := -1.5; better <= 0; better += 1. / 256 {
		for i, f := range left {
			g[i] = f + float32(better)*(in.Y[i]-f)
		}
		part := float64(l.besidePart(in, []int{0}, [][]float32{left}, found, -1))
		must.Hold(t, part == 0 || part >= 0.05, "a part of %g", part)
		must.Hold(t, better > -1.5 || part == 0, "the worst trees have the part %g", part)
		if part > 0 {
			least = math.Min(least, part)
		}
	}
	must.Hold(t, least < 0.06, "the least part above 0 is %g", least)
}

// Where effects are lines, trees take no part that costs anything, and where they jump, they help.
func TestTreesJoinByWhatHelps(t *testing.T) {
	rng := testrand.New(t)
	for _, jump := range must.Some(rng, 1, false, true) {
		plain, stacked := 0.0, 0.0
		const problems = 8
		for range problems {
			set := asTable(shops(rng, 5, 300, 5, 1, false))
			for i := range set.Tasks {
				task := &set.Tasks[i]
				for row := range task.Labels {
					if x := set.Pools[task.Pool].F32[row*5:]; jump && x[0] > 0.2 && x[1] < 0.4 {
						task.Labels[row] += 4
					}
				}
			}
			cfg := defaultConfig(t)
			cfg.Sources, cfg.TargetSamples = SourcesPools, 40
			_, st := plainAndStacked(t, set, cfg, 0)
			plain += math.Log(st[0].Epochs[len(st[0].Epochs)-1].Score.Value) / problems
			stacked += math.Log(st[1].Epochs[len(st[1].Epochs)-1].Score.Value) / problems
		}
		t.Logf("jumps %v: squared error %.3g, averaged with trees %.3g", jump, math.Exp(plain), math.Exp(stacked))
		must.Hold(t, stacked < plain+0.05 && (!jump || stacked < plain-0.02), "jumps %v: %.3g, averaged with trees %.3g", jump, math.Exp(plain),
			math.Exp(stacked))
	}
}

// statesBeside carries out active, a method that fits beside the head, and constant, and checks that the state after that method is
// accepted and that the last round continues from it. It returns the learner, this state and the last.
func statesBeside(t *testing.T, set *dataset.Set, cfg Config, method string) (l *Learner, at, end State) {
	cfg.Methods = []string{Active, method, Constant}
	l = must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	t.Cleanup(l.Close)
	var states []State
	end = must.Get(l.Solve(context.Background(), State{}, quiet, func(st State) error {
		states = append(states, st)
		return nil
	}))(t)
	at = states[len(states)-2]
	must.Hold(t, at.Epochs[len(at.Epochs)-1].Method == method && len(at.Beside) > 0 && end.Beside == nil, "%d and %d tensors of %s",
		len(at.Beside), len(end.Beside), method)
	again := must.Get(l.Solve(context.Background(), at, quiet, unsaved))(t)
	must.Hold(t, slices.Equal(again.Head, end.Head), "another head after %s", method)
	must.Do(t, l.Check(at))
	return l, at, end
}

// changed returns the state with other numbers in one of the tensors beside the head.
func changed(t *testing.T, st State, name string, f func(v []float32) []float32) State {
	i := slices.IndexFunc(st.Beside, func(tensor Tensor) bool { return tensor.Name == name })
	must.Hold(t, i >= 0, "no tensor %s", name)
	st.Beside = slices.Clone(st.Beside)
	st.Beside[i].Data = f(slices.Clone(st.Beside[i].Data))
	return st
}
