package dataset

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestValidation(t *testing.T) {
	const n = 1000
	labels := make([]uint8, n)
	for i := range labels {
		labels[i] = uint8(i % 3)
	}
	set := must.Get(FromImages("x", []string{"a", "b"}, [][]uint8{make([]uint8, n*784), make([]uint8, n*784)}, labels))(t)
	before := set.Hash()
	val := must.Get(set.Validation())(t)
	must.Do(t, val.Validate())
	must.Hold(t, set.Hash() == before && val.Hash() != before, "the set changed, or its validation did not")
	old, first := set.Tasks[0], val.Tasks[0]
	if got := slices.Sorted(slices.Values(slices.Concat(first.Train, first.Test))); !slices.Equal(got, old.Train) {
		t.Error("validation rows and the rest are not the old train rows")
	}
	if share := float64(len(first.Test)) / float64(len(old.Train)); math.Abs(share-0.2) > 0.05 {
		t.Errorf("%.3f of the train rows are held out", share)
	}
	for _, task := range val.Tasks {
		if &task.Train[0] != &first.Train[0] || &task.Test[0] != &first.Test[0] {
			t.Fatalf("task %s has rows of its own", task.Name)
		}
	}

	// A task with other train rows is divided by the same base items.
	set.Tasks[1].Train = slices.Clone(old.Train[:len(old.Train)/2])
	val = must.Get(set.Validation())(t)
	for _, r := range val.Tasks[1].Test {
		if slices.Contains(val.Tasks[0].Train, r) {
			t.Fatalf("row %d is held out in one task and drawn from in another", r)
		}
	}
}

// A source needs no validation rows, and keeps its rows where they are few. The target needs rows of both kinds.
func TestValidationOfSmallSources(t *testing.T) {
	few := func(train ...int32) *Set {
		set := &Set{Name: "few"}
		for i, rows := range [][]int32{train, upTo[int32](20), upTo[int32](20)} {
			name := []string{"small", "large", "target"}[i]
			set.Pools = append(set.Pools, &Pool{Name: name, Rows: 20, Cols: 1, Scale: 1, F32: make([]float32, 20), Target: i == 2})
			set.Tasks = append(set.Tasks, Task{Name: name, Pool: i, Output: Output{Name: "y"}, Labels: make([]float32, 20), Train: rows})
		}
		must.Do(t, set.Validate())
		return set
	}
	held := must.Get(few(0).Validation())(t).Tasks[2].Test[0]
	for _, row := range []int32{held, (held + 1) % 20} {
		val := must.Get(few(row).Validation())(t)
		must.Do(t, val.Validate())
		must.EqualSlices(t, val.Tasks[0].Train, []int32{row}, "rows of a source with one")
		must.Equal(t, len(val.Tasks[0].Test), 0, "its validation rows")
		must.Hold(t, len(val.Tasks[2].Train) > 0 && len(val.Tasks[2].Test) > 0, "the target has %d rows and %d validation rows",
			len(val.Tasks[2].Train), len(val.Tasks[2].Test))
	}
	set := few(0)
	set.Tasks[2].Train = set.Tasks[2].Train[:1]
	must.Fail(t, "a target with one row", must.Err(set.Validation()), "expected enough train rows to hold a fifth out, found 1")
}

func TestValidationRefuses(t *testing.T) {
	set := must.Get(RandomLinear(4, 2, 3, 1, 20, 1))(t)
	must.Fail(t, "dividing a set with a model", must.Err(set.Validation()))
	set.Model = nil
	for i := range set.Tasks {
		set.Tasks[i].Train = set.Tasks[i].Train[:1]
	}
	must.Fail(t, "dividing one train row", must.Err(set.Validation()))
}

// Copies of a row of the target are held out together.
func TestValidationHoldsCopiesTogether(t *testing.T) {
	rng := testrand.New(t)
	const n, cols = 200, 5
	set := labelledRows(n, cols, func(int, int) float32 { return rng.Float32() })
	p := set.Pools[0]
	for i := 1; i < n; i += 2 {
		copy(p.F32[i*cols:(i+1)*cols], p.F32[(i-1)*cols:i*cols])
	}
	held := must.Get(set.Validation())(t).Tasks[0]
	must.Hold(t, len(held.Test) > 10, "%d rows are held out", len(held.Test))
	for _, r := range held.Test {
		must.Hold(t, slices.Contains(held.Test, r^1), "row %d is held out, and its copy is not", r)
	}
}
