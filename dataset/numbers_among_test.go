package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A column of classes most of whose labels are numbers, many different ones, is named with the first row whose label is none, by a check
// and before a run. Whole numbers alone, few numbers and numbers beside more words are classes.
func TestNumberClasses(t *testing.T) {
	rng := testrand.New(t)
	float := func(rng *rand.Rand) string { return fmt.Sprintf("%.1f", 4+5*rng.Float64()) }
	code := func(rng *rand.Rand) string { return fmt.Sprint(rng.IntN(90)) }
	among := func(share float64, word string, number func(*rand.Rand) string) func(*rand.Rand) string {
		return func(rng *rand.Rand) string {
			if rng.Float64() < share {
				return word
			}
			return number(rng)
		}
	}
	for name, c := range must.Ordered(map[string]struct {
		label func(*rand.Rand) string
		odd   bool
	}{
		"censored":       {among(0.3, "<4.0", float), true},
		"infinite":       {among(0.1, "inf", float), true},
		"decimal commas": {among(0.1, "<4,0", func(rng *rand.Rand) string { return strings.Replace(float(rng), ".", ",", 1) }), true},
		"counts":         {among(0.03, "> 90", among(0.03, "> 95", among(0.03, "< 2", code))), true},
		"fractions":      {float, true},
		"codes":          {code, false},
		"few codes":      {among(0.1, "other", func(rng *rand.Rand) string { return fmt.Sprint(1 + rng.IntN(10)) }), false},
		"mostly words":   {among(0.8, "low", float), false},
		"words":          {func(rng *rand.Rand) string { return fmt.Sprint("c", rng.IntN(40)) }, false},
	}) {
		set, labels := classesOf(rng, c.label)
		numbers, least, first := 0, len(labels), ""
		for i, y := range labels {
			if y[0] >= '0' && y[0] <= '9' {
				numbers++
			} else if i%60 < least { // of several pools with this row, the first
				least, first = i%60, fmt.Sprintf("; %%d are not, the first %q in row %d", y, i%60)
			}
		}
		want := fmt.Sprintf("%d of %d labels of y are numbers", numbers, len(labels)) +
			strings.Replace(first, "%d", fmt.Sprint(len(labels)-numbers), 1)
		if first == "" {
			want = "all 180 labels of y are numbers, some not whole"
		}
		for _, all := range [][]Oddity{set.Oddities(), set.Warnings().Oddities(true)} {
			all = slices.DeleteFunc(all, func(o Oddity) bool { return !strings.Contains(o.Advice, "say type: number") })
			must.Equal(t, len(all), b2i(c.odd), "%s: %+v", name, all)
			if c.odd {
				must.Equal(t, all[0].Found, want, "%s", name)
				must.Equal(t, strings.Contains(all[0].Advice, "leave them empty"), first != "", "%s: advice %s", name, all[0].Advice)
			}
		}
	}
}

// classesOf returns a set of three pools with random labels of a column of classes, and these labels in the order of the pools' rows.
func classesOf(rng *rand.Rand, label func(*rand.Rand) string) (*Set, []string) {
	set := measured(rng)
	set.Binary, set.Tasks = true, nil
	var labels, classes []string
	for range set.Pools {
		for range set.Pools[0].Rows {
			labels = append(labels, label(rng))
		}
	}
	classes = slices.Compact(slices.Sorted(slices.Values(labels)))
	set.Columns.Labels = []LabelColumn{{Name: "y", Classes: classes}}
	for i, p := range set.Pools {
		all := upTo[int32](p.Rows)
		for _, class := range classes {
			y := make([]float32, p.Rows)
			for r := range y {
				y[r] = float32(b2i(labels[i*p.Rows+r] == class))
			}
			set.Tasks = append(set.Tasks, Task{Name: p.Name + "_" + class, Pool: i, Output: Output{"y", class}, Labels: y, Train: all[20:],
				Test: all[:20]})
		}
	}
	return set, labels
}
