package pipeline

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Leave-one-out can choose a method where there are five samples and, for classes, two of each of two classes.
func TestTooFew(t *testing.T) {
	nan := float32(math.NaN())
	number := []dataset.Task{{}}
	classes := []dataset.Task{{Output: dataset.Output{Name: "a", Class: "x"}}, {Output: dataset.Output{Name: "a", Class: "y"}},
		{Output: dataset.Output{Name: "a", Class: "z"}}, {Output: dataset.Output{Name: "b"}}}
	for name, c := range map[string]struct {
		tasks  []dataset.Task
		binary bool
		y      []float32
		few    string
	}{
		"one":                   {number, false, []float32{7}, "1 target sample tells"},
		"four":                  {number, false, []float32{1, 2, 3, 4}, "4 target samples"},
		"five":                  {number, false, []float32{1, 2, 3, 4, 5}, ""},
		"four of two classes":   {number, true, []float32{0, 0, 1, 1}, "4 target samples"},
		"one class":             {number, true, []float32{1, 1, 1, 1, 1, 1}, "two of each"},
		"one of the other":      {number, true, []float32{1, 1, 0, 1, 1, 1}, "two of each"},
		"two of the other":      {number, true, []float32{1, 1, 0, 1, 0, 1}, ""},
		"one of each, no b":     {classes, true, []float32{1, 0, 0, nan, 0, 1, 0, nan, 0, 1, 0, nan, 0, 1, 0, nan, 0, 0, 1, nan}, "two of each"},
		"two of x and y, no b":  {classes, true, []float32{1, 0, 0, nan, 0, 1, 0, nan, 0, 1, 0, nan, 1, 0, 0, nan, 0, 0, 1, nan}, ""},
		"of b alone two of two": {classes, true, []float32{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}, ""},
	} {
		p := &Problem{Set: &dataset.Set{Pools: []*dataset.Pool{{}}, Tasks: c.tasks, Binary: c.binary}}
		for i := range c.tasks {
			p.Target.Tasks = append(p.Target.Tasks, i)
		}
		few := p.TooFew(Labelled{make([]int32, len(c.y)/len(c.tasks)), c.y})
		must.Hold(t, (few == "") == (c.few == "") && strings.Contains(few, c.few), "%s: %q", name, few)
	}
}

// Methods are compared by the columns whose samples can choose or, where there are none, by all columns.
func TestComparedGroups(t *testing.T) {
	pools := []*dataset.Pool{{}}
	p := &Problem{Set: &dataset.Set{Pools: pools, Binary: true, Tasks: []dataset.Task{{Output: dataset.Output{Name: "a", Class: "x"}},
		{Output: dataset.Output{Name: "a", Class: "y"}}, {Output: dataset.Output{Name: "b"}}}}, Target: Source{Tasks: []int{0, 1, 2}}}
	all := [][]int{{0, 1}, {2}}
	for b, want := range map[string][][]int{"000000": {{0, 1}}, "000001": {{0, 1}}, "000011": all} {
		in := Labelled{Rows: make([]int32, len(b))}
		for i, is := range b {
			in.Y = append(in.Y, float32(i%2), float32(1-i%2), float32(is-'0'))
		}
		got := p.comparedGroups(in)
		must.Hold(t, reflect.DeepEqual(got, want), "b is %s: %v, expected %v", b, got, want)
	}
	none := Labelled{make([]int32, 6), slices.Repeat([]float32{1, 0, 0}, 6)}
	must.Hold(t, reflect.DeepEqual(p.comparedGroups(none), all), "no column tells anything: %v", p.comparedGroups(none))
}

// Where the test rows are the rest of the target's training rows, they have the labels that the data list for them, and else NaN.
func TestLabelsOfTheRest(t *testing.T) {
	for _, classes := range []bool{false, true} {
		set := shops(testrand.New(t), 3, 60, 4, 2, classes)
		for i := range set.Tasks {
			task := &set.Tasks[i]
			if task.Test = nil; i%2 == 1 {
				task.Train = task.Train[len(task.Train)/2:]
			}
		}
		p := must.Get(NewProblem(set, defaultConfig(t), 0))(t)
		test := p.LookUp(must.Get(p.Propose(State{}))(t)).Test
		must.Hold(t, len(test.Rows) > 0, "no test rows")
		for i, r := range test.Rows {
			for c, task := range set.Tasks[:2] {
				want, got := nan32, test.Y[2*i+c]
				if slices.Contains(task.Train, r) {
					want = task.Labels[r]
				}
				must.Hold(t, got == want || got != got && want != want, "row %d has the label %g of %s, expected %g", r, got, task.Name, want)
			}
		}
	}
}

// Labels missing from a set or a round are an error that names the source and the output, and never count as 0.
func TestLabelsThatAreNotThere(t *testing.T) {
	for _, classes := range []bool{true, false} {
		set := shops(testrand.New(t), 3, 80, 4, 2, classes)
		cfg := defaultConfig(t)
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		p := l.problem
		must.Do(t, p.CheckLabels())
		prop := must.Get(p.Propose(State{}))(t)
		for _, c := range []struct {
			task   int
			source string
		}{{0, "shop0"}, {3, "shop1"}, {5, "shop2"}} {
			task := &p.Set.Tasks[c.task]
			labels := task.Labels
			task.Labels = nil
			want := "shops: " + c.source + ": expected labels of the output " + task.Name
			must.Fail(t, "the problem", p.CheckLabels(), want)
			must.Fail(t, "Solve", must.Err(l.Solve(t.Context(), State{}, quiet, unsaved)), want)
			in := p.LookUp(prop)
			of := append(slices.Clone(in.Sources), in.Target)[(c.task/2+2)%3]
			for i := range of.Rows {
				y := of.Y[2*i+c.task%2]
				must.Hold(t, y != y, "row %d of %s has the label %g of an output without labels", of.Rows[i], c.source, y)
			}
			task.Labels = labels
		}
		for _, task := range []int{2, 3} {
			p.Set.Tasks[task].Labels = nil
		}
		must.Fail(t, "rows without any label", must.Err(l.Learn(t.Context(), State{}, p.LookUp(prop))), "rows of shop1: row ",
			"has no label of the outputs shop1_0, shop1_1")
		in := p.LookUp(prop)
		in.Sources[0].Y = nil
		must.Fail(t, "a round without labels", must.Err(l.Learn(t.Context(), State{}, in)), "rows of shop1: expected ",
			"one for each row and each of the outputs shop1_0, shop1_1, found 0")
	}
}
