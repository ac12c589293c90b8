package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Columns with too few labels, or with labels of one class or number alone, are named once each, those of the target first.
func TestFewLabels(t *testing.T) {
	const rows, cols = 12, 3
	rng := testrand.New(t)
	yes, no, number := Output{"kind", "yes"}, Output{"kind", "no"}, Output{"size", ""}
	type labels struct {
		pool   int // 0 a source, 1 the target
		output Output
		y      []float32
	}
	two := []float32{0, 0, 0, 0, 1, 1, 1}
	for what, c := range must.Ordered(map[string]struct {
		tasks []labels
		want  []string
	}{
		"enough": {[]labels{{0, yes, two}, {1, yes, two}}, nil},
		"few": {[]labels{{0, yes, []float32{1}}, {1, yes, []float32{0, 1, 0}}},
			[]string{"target: 3 labelled rows of kind, too few to learn from: expected at least 5", "a: 1 labelled row of kind, too few"}},
		"one class of two": {[]labels{{0, yes, []float32{1, 1, 1, 1, 1}}, {1, yes, []float32{1, 1, 1, 1, 1}}},
			[]string{`target: all labelled rows are of class "yes" of kind`, `a: all labelled rows are of class "yes" of kind`}},
		"one class, and sources have the other": {[]labels{{0, yes, make([]float32, 6)}, {1, yes, []float32{1, 1, 1, 1, 1}}},
			[]string{`target: all labelled rows are of class "yes" of kind`, `a: all labelled rows are of class "no" of kind`}},
		"a class that no source has": {[]labels{{0, yes, two}, {0, no, ones(two)}, {1, Output{"kind", "new"}, []float32{1, 1, 1, 1, 1, 1}}},
			[]string{`target: all labelled rows are of class "new" of kind`}},
		"one class of its own task": {[]labels{{0, yes, make([]float32, 6)}, {0, no, []float32{1, 1, 1, 1, 1, 1}}, {1, yes, two}},
			[]string{`a: all labelled rows are of class "no" of kind`}},
		"one of the second class": {[]labels{{0, yes, two}, {1, yes, []float32{0, 0, 0, 0, 1}}},
			[]string{"target: only one class of kind has two labelled rows or more: expected two of each of two classes"}},
		"one of the second task": {[]labels{{0, yes, two}, {1, yes, []float32{0, 0, 0, 0, 1}}, {1, no, []float32{1, 1, 1, 1, 0}}},
			[]string{"target: only one class of kind has two labelled rows or more"}},
		"one number": {[]labels{{0, number, []float32{2, 2, 2, 2, 2}}, {1, number, []float32{.1, .1, .1, .1, .1, .1}}},
			[]string{"target: all labels of size are 0.1", "a: all labels of size are 2"}},
		"few of one number": {[]labels{{0, number, two}, {1, number, []float32{7}}}, []string{"target: 1 labelled row of size, too few"}},
		"of the second column": {[]labels{{0, yes, two}, {0, Output{"other", "yes"}, two}, {1, yes, two}, {1, Output{"other", "yes"}, two[:2]}},
			[]string{"target: 2 labelled rows of other, too few"}},
		"without names": {[]labels{{0, Output{}, make([]float32, 6)}, {1, Output{}, two}},
			[]string{"a: all rows have the same class of the label"}},
	}) {
		set := &Set{Name: "own", Binary: c.tasks[0].output.Name != "size"}
		if set.Binary && c.tasks[0].output.Name != "" {
			set.Columns = &Columns{Features: []string{"x"}, Labels: []LabelColumn{{Name: "kind", Classes: []string{"no", "yes"}},
				{Name: "other", Classes: []string{"no", "yes"}}}}
		}
		if last := c.tasks[len(c.tasks)-1].output; last.Class == "new" {
			set.Columns.Labels[0].Classes = append(set.Columns.Labels[0].Classes, last.Class)
		}
		for i, name := range []string{"a", "target"} {
			p := &Pool{Name: name, Rows: rows, Cols: cols, F32: make([]float32, rows*cols), Scale: 1, Target: i == 1}
			for j := range p.F32 {
				p.F32[j] = float32(rng.NormFloat64())
			}
			set.Pools = append(set.Pools, p)
		}
		for _, l := range c.tasks {
			y := make([]float32, rows)
			copy(y, l.y)
			set.Tasks = append(set.Tasks, Task{Name: set.Pools[l.pool].Name + l.output.Name + l.output.Class, Pool: l.pool, Output: l.output,
				Labels: y, Train: upTo[int32](len(l.y))})
		}
		must.Do(t, set.Validate())
		var got []string
		for _, o := range set.Oddities() {
			if !strings.Contains(o.Found, "which sources have") && !strings.Contains(o.Found, "far from") {
				got = append(got, o.Pool+": "+o.Found)
				must.Hold(t, o.Advice != "", "%s: %s without an advice", what, o.Found)
			}
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, expected %q", what, got, c.want)
		}
	}
}

// ones returns 1 - y: 1 where y is 0, and 0 where y is 1.
func ones(y []float32) []float32 {
	out := make([]float32, len(y))
	for i, v := range y {
		out[i] = 1 - v
	}
	return out
}
