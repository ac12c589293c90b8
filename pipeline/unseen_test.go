package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// hide removes a class of the first pool, its task and its rows, and returns these rows.
func hide(set *dataset.Set, classes, class int) []int32 {
	of := set.Tasks[class]
	is := func(i int32) bool { return of.Labels[i] == 1 }
	rows := slices.Concat(of.Train, of.Test)
	for c := range classes {
		t := &set.Tasks[c]
		t.Train, t.Test = slices.DeleteFunc(slices.Clone(t.Train), is), slices.DeleteFunc(slices.Clone(t.Test), is)
	}
	set.Tasks = slices.Delete(slices.Clone(set.Tasks), class, class+1)
	return slices.DeleteFunc(rows, func(i int32) bool { return !is(i) })
}

// A class without a sample of the target is predicted by what the sources know of it, and the error on the other classes stays low.
func TestUnseenClass(t *testing.T) {
	rng := testrand.New(t)
	const classes, sets = 4, 3
	all := [][]string{{Active}, {Uniform, Pooled}}
	var sampled, unseen [2]float64
	for range sets {
		set := shops(rng, 6, 400, 6, classes, true)
		class := rng.IntN(classes)
		rows := hide(set, classes, class)
		tasks := len(set.Tasks)
		dev := openDevice(t, 1, set)
		for i, methods := range all {
			cfg := defaultConfig(t)
			cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = 40, 900, methods
			l := must.Get(newLearner(dev, cfg, 0))(t)
			defer l.Close()
			p := l.problem
			must.Hold(t, len(p.Target.Tasks) == classes && len(set.Tasks) == tasks, "found %d outputs of the target and %d tasks of the set",
				len(p.Target.Tasks), len(set.Tasks))
			st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
			sampled[i] += st.Epochs[len(st.Epochs)-1].Score.Value / sets
			in := Labelled{Rows: rows}
			for range rows {
				for _, task := range p.Target.Tasks {
					in.Y = append(in.Y, float32(b2i(p.Set.Tasks[task].Output.Class == fmt.Sprint("class", class))))
				}
			}
			score, _, err := l.ScoreOn(in)
			must.Do(t, err)
			unseen[i] += score.Value / sets
		}
	}
	for i, methods := range all {
		must.Hold(t, sampled[i] < 0.35, "%v err %g of classes with samples", methods, sampled[i])
		must.Hold(t, unseen[i] < 0.25, "%v err %g of rows of a class without a sample", methods, unseen[i])
	}
}

// The outputs of the target, with those added for classes without a sample, are in the order of the classes of their column, one column
// after the other, and the added ones are named like the others. With the squared loss none are added.
func TestUnseenOrder(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 60, 3, 4, true)
	for i := range set.Tasks { // two columns
		if set.Tasks[i].Output.Class >= "class2" {
			set.Tasks[i].Output.Name = "other"
		}
		set.Tasks[i].Name = fmt.Sprint(set.Pools[set.Tasks[i].Pool].Name, "_", set.Tasks[i].Output.Class)
	}
	set.Columns = &dataset.Columns{Labels: []dataset.LabelColumn{
		{Name: "column", Classes: []string{"class0", "class1"}}, {Name: "other", Classes: []string{"class3", "class2"}},
	}}
	set.Tasks = slices.Delete(set.Tasks, 0, 1) // column has class1, other has both
	set.Tasks = slices.Delete(set.Tasks, 2, 3) // other has class2
	cfg := defaultConfig(t)
	p := must.Get(NewProblem(set, cfg, 0))(t)
	var names []string
	for _, task := range p.Target.Tasks {
		names = append(names, p.Set.Tasks[task].Name)
	}
	want := "shop0_class0 shop0_class1 shop0_class3 shop0_class2"
	must.Hold(t, strings.Join(names, " ") == want, "found %v, expected %s", names, want)
	cfg.Head.Loss = LossSquared
	p = must.Get(NewProblem(set, cfg, 0))(t)
	must.Hold(t, len(p.Target.Tasks) == 2 && p.Set == set, "found %d outputs", len(p.Target.Tasks))
}

// The classes without a sample are those of the set, of a run and of a round that has all its labels.
func TestUnseenClasses(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		set := shops(rng, 4, 60, 3, 2+rng.IntN(3), true)
		hide(set, len(set.Tasks)/len(set.Pools), 0)
		cfg := defaultConfig(t)
		cfg.TargetSamples = 1 + rng.IntN(5)
		p := must.Get(NewProblem(set, cfg, 0))(t)
		in := Round{Target: p.Target.label(p.Set, p.draws.target), Test: p.Target.label(p.Set, p.draws.test)}
		for _, s := range p.Sources {
			in.Sources = append(in.Sources, s.label(p.Set, s.trainRows(p.Set)))
		}
		found := p.UnseenClasses()
		must.Equal(t, len(found), 1, "warnings of the run")
		must.EqualSlices(t, p.UnseenIn(in), found, "warnings of the round")
		want := fmt.Sprintf("it has %s, none %s", text.Several(cfg.TargetSamples, "sample"), set.UnseenClasses(0, p.draws.target)[0])
		must.Equal(t, found[0].Found, want, "what is found")
		for m := range in.Sources {
			in.Sources[m] = Labelled{}
		}
		must.Equal(t, len(p.UnseenIn(in)), 0, "warnings without labels of sources")
	}
}

// A class of one sample is predicted by what the sources know of it too: its sample alone says nothing about other rows, however well it is
// separated from the rest.
func TestClassOfOneSample(t *testing.T) {
	rng := testrand.New(t)
	const classes, sets = 5, 6
	sum, rows := 0.0, 0
	for range sets {
		set := shops(rng, 6, 400, 6, classes, true)
		class := rng.IntN(classes)
		of := set.Tasks[class]
		first, fresh := int32(-1), Labelled{}
		for c := range classes { // one of class, and 24 others
			task := &set.Tasks[c]
			task.Train = slices.Clone(task.Train)
			kept := 0
			task.Train = slices.DeleteFunc(task.Train, func(i int32) bool {
				if of.Labels[i] == 1 {
					if first < 0 {
						first = i
					}
					return i != first
				}
				kept++
				return kept > 24
			})
		}
		cfg := defaultConfig(t)
		cfg.Schedule.Budget, cfg.Methods = 900, []string{Uniform}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
		for _, i := range of.Test {
			if of.Labels[i] == 1 {
				fresh.Rows = append(fresh.Rows, i)
			}
		}
		pred := must.Get(l.predictions(fresh.Rows, must.Get(l.model.units())(t)))(t)
		for i := range fresh.Rows {
			likely := make([]float64, classes)
			for c := range likely {
				likely[c] = -regress.LogOfLabel(float64(pred[c][i]), 1)
			}
			sum += floats.LogSumExp(likely) - likely[class]
			rows++
		}
	}
	must.Hold(t, sum/float64(rows) < 1, "-log of the probability of the class is %g on average over its %d rows", sum/float64(rows), rows)
}

// Columns of one output each are not classes of one column, and where one of them has no label, the log-loss of the other is a number.
func TestColumnsApart(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 5, 200, 4, 2, true)
	for i := range set.Tasks { // two columns of one output each
		set.Tasks[i].Output = dataset.Output{Name: fmt.Sprint("column", i%2), Class: "yes"}
	}
	cfg := defaultConfig(t)
	cfg.Methods = []string{Uniform}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	must.Hold(t, !l.problem.hasOthers(0) && !l.problem.hasOthers(1), "columns of one output have others")
	prop := must.Get(l.problem.Propose(State{}))(t)
	in := l.problem.LookUp(prop)
	for i := range in.Target.Rows {
		in.Target.Y[2*i+1] = nan32
	}
	st := must.Get(l.Learn(context.Background(), State{}, in))(t)
	must.Hold(t, st.Epochs[0].LogLoss > 0, "the log-loss is %g", st.Epochs[0].LogLoss)
}

// Where all samples of the target, or all but one, are of one class, the other classes are predicted by the regression on all rows alone.
func TestSamplesOfOneClass(t *testing.T) {
	rng := testrand.New(t)
	const classes = 4
	for _, others := range []int{0, 1} {
		set := shops(rng, 6, 400, 6, classes, true)
		first, class := &set.Tasks[0], rng.IntN(classes)
		kept := 0
		train := slices.DeleteFunc(slices.Clone(first.Train), func(row int32) bool {
			if set.Tasks[class].Labels[row] == 1 {
				return false
			}
			kept++
			return kept > others
		})
		slices.SortFunc(train, func(i, j int32) int { // one of another class first
			return int(set.Tasks[class].Labels[i] - set.Tasks[class].Labels[j])
		})
		train = train[:12]
		for c := range classes {
			set.Tasks[c].Train = train
		}
		cfg := defaultConfig(t)
		cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = len(train), 900, []string{Active}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
		last := st.Epochs[len(st.Epochs)-1]
		must.Hold(t, last.Score.Value < 0.35 && last.HeadPooled == 1, "%d samples, %d of other classes: active errs %g, %g of one regression",
			len(train), others, last.Score.Value, last.HeadPooled)
	}
}

// Samples of one class that the regression on all rows takes for other classes contradict it: f stays, and predicts that class alone.
func TestTargetOfOneClass(t *testing.T) {
	rng := testrand.New(t)
	const classes = 4
	set, class := shops(rng, 6, 400, 6, classes, true), rng.IntN(classes)
	for c := range classes {
		labels := set.Tasks[c].Labels
		for row := range labels {
			labels[row] = float32(b2i(c == class))
		}
	}
	cfg := defaultConfig(t)
	cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = 20, 900, []string{Active}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
	last := st.Epochs[len(st.Epochs)-1]
	must.Hold(t, last.Score.Value == 0 && last.HeadPooled == 0, "active errs %g, %g of one regression", last.Score.Value, last.HeadPooled)
}

// Where sources are tasks, samples of one class leave the head as it is.
func TestSamplesOfOneClassOfTasks(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 100, 5, 2, true)
	first := &set.Tasks[0]
	first.Train = slices.DeleteFunc(slices.Clone(first.Train), func(row int32) bool { return first.Labels[row] == 1 })
	cfg := defaultConfig(t)
	cfg.Sources, cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = SourcesTasks, 12, 500, []string{Active}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
	must.Equal(t, st.Epochs[len(st.Epochs)-1].HeadPooled, 0, "the part of one regression")
}

// Two to four samples of numbers cannot choose: the regression on all rows has half of the weight, and with a single sample all of it.
func TestFewNumbers(t *testing.T) {
	rng := testrand.New(t)
	for samples, part := range must.Ordered(map[int]float64{1: 1, 2: 0.5, 4: 0.5}) {
		set := shops(rng, 4, 100, 5, 1, false)
		cfg := defaultConfig(t)
		cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = samples, 300, []string{Active}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
		last := st.Epochs[len(st.Epochs)-1]
		must.Hold(t, last.HeadPooled == part, "of %d samples a part of %g, want %g", samples, last.HeadPooled, part)
	}
}

// As many samples as there are classes with one, or half a sample, may be expected in classes without any; the level takes
// more to that number, and leaves fewer as they are. The samples of a group count as one.
func TestLevelOfAbsentClasses(t *testing.T) {
	rng := testrand.New(t)
	const classes, rows = 8, 60
	for range 20 {
		set := shops(rng, 3, rows, 3, classes, true)
		for i := range rows { // groups of up to three rows, on one side of the split
			set.Pools[0].Groups = append(set.Pools[0].Groups, int32(i%5*rows+rng.IntN(4)*b2i(i%5 != 0)+i/15*4))
		}
		p := must.Get(NewProblem(set, defaultConfig(t), 0))(t)
		var group []int
		var in Labelled
		groups := make([]map[int32]bool, classes) // that have a sample of the class
		for c := range classes {
			group, groups[c] = append(group, c), map[int32]bool{}
		}
		for i := range int32(rows) {
			if of := int(rng.ExpFloat64() * 1.5); of < classes && i%5 != 0 {
				in.Rows, in.Y = append(in.Rows, i), append(in.Y, make([]float32, classes)...)
				in.Y[len(in.Y)-classes+of] = 1
				groups[of][set.Pools[0].Groups[i]] = true
			}
		}
		none, most := 0, 0.0
		for _, of := range groups {
			none, most = none+b2i(len(of) == 0), most+float64(b2i(len(of) == 1))
		}
		a := p.absentOf(in, group)
		if must.Equal(t, a != nil, none > 0, "whether classes are absent, of %d without a sample", none); a == nil {
			continue
		}
		most = max(most, 0.5)
		z := make([][]float64, classes)
		for j := range z {
			z[j] = normals(rng, len(in.Rows))
		}
		says := func(j, row int) float64 { return z[j][row] }
		before, level := a.share(0, says, true, 0), a.level(says, true, 0)
		must.Hold(t, level <= 0 && (level < 0) == (before > most), "%g samples expected in absent classes change the level by %g", before, level)
		isNear(t, a.share(level, says, true, 0), min(before, most), 1e-6, "the expected number of samples in absent classes")
	}
}
