package dataset

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
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

	// Other train rows are divided by the same base items.
	set.Tasks[1].Train = slices.Clone(old.Train[:len(old.Train)/2])
	val = must.Get(set.Validation())(t)
	for _, r := range val.Tasks[1].Test {
		if slices.Contains(val.Tasks[0].Train, r) {
			t.Fatalf("row %d is held out in one task and drawn from in another", r)
		}
	}
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
