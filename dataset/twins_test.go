package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A source that repeats the rows of another, in another order and with rows of its own, is named. The same rows with other labels are not.
func TestCopiesOfSources(t *testing.T) {
	rng := testrand.New(t)
	copied := func(change func(set *Set)) (found []string) {
		set := measured(rng)
		order := rng.Perm(60)
		of, from := set.Pools[1], set.Pools[0]
		for to, row := range order[:45] {
			copy(of.F32[to*of.Cols:(to+1)*of.Cols], from.F32[row*of.Cols:])
			set.Tasks[1].Labels[to] = set.Tasks[0].Labels[row]
		}
		change(set)
		for _, o := range set.Oddities() {
			if strings.Contains(o.Found, "are those of") {
				found = append(found, o.Pool+" "+o.Found)
			}
		}
		return found
	}
	must.Equal(t, strings.Join(copied(func(*Set) {}), "; "), "b 75 % of its labelled rows are those of a, with the same labels", "of a copy")
	must.Equal(t, len(copied(func(set *Set) {
		for i := range set.Tasks[1].Labels {
			set.Tasks[1].Labels[i] += float32(rng.NormFloat64())
		}
	})), 0, "of the same rows with labels of others")
	must.Equal(t, strings.Join(copied(func(set *Set) { set.Tasks[1].Train, set.Tasks[1].Test = upTo[int32](20), nil }), "; "),
		"b 100 % of its labelled rows are those of a, with the same labels", "of a part")
	must.Equal(t, len(copied(func(set *Set) { set.Tasks[1].Train, set.Tasks[1].Test = upTo[int32](60)[40:], nil })), 0,
		"of the same rows without labels")
	must.Equal(t, len(copied(func(set *Set) {
		for i := range 5 {
			set.Tasks[1].Labels[9*i]++
		}
	})), 0, "of the same rows by another who labels")
	must.Equal(t, len(copied(func(set *Set) { copy(set.Pools[1].F32, slices.Repeat([]float32{1}, 30*3)) })), 0, "of a quarter")
}

// Rows of the target in a source are named by the check and before a run, with labels or without. They are not where rows are equal because
// features have few values.
func TestTargetCopies(t *testing.T) {
	for name, c := range must.Ordered(map[string]struct {
		change func(set *Set)
		want   string
	}{
		"none": {func(*Set) {}, ""},
		"seven": {func(set *Set) {
			copy(set.Pools[0].F32[30:], set.Pools[2].F32[:21])
			copy(set.Tasks[0].Labels[10:], set.Tasks[2].Labels[:7])
		}, "a 7 of 60 rows have the features of a row of the target, the first is row 10, like row 0"},
		"seven beside a source without features": {func(set *Set) {
			copy(set.Pools[0].F32[30:], set.Pools[2].F32[:21])
			copy(set.Tasks[0].Labels[10:], set.Tasks[2].Labels[:7])
			clear(set.Pools[1].F32[:20*3])
		}, "a 7 of 60 rows have the features of a row of the target, the first is row 10, like row 0"},
		"one without labels": {func(set *Set) {
			copy(set.Pools[1].F32[:3], set.Pools[2].F32[3:])
			for i := range set.Tasks {
				set.Tasks[i].Labels = nil
			}
		}, "b 1 of 60 rows has the features of a row of the target: row 0, like row 1"},
		"with other labels": {func(set *Set) {
			for i := range 2 {
				copy(set.Pools[i].F32[30:], set.Pools[2].F32[:12])
			}
		}, " 8 rows of 2 sources have the features of a row of the target, and labels differ in 8 of 8 cases"},
		"few values": {func(set *Set) {
			fewOfAll(set)
			for i := range set.Tasks {
				set.Tasks[i].Labels = nil
			}
		}, ""},
		"few values, labels": {fewOfAll, ""},
	}) {
		set := measured(testrand.New(t))
		c.change(set)
		var found []string
		for _, o := range set.Warnings().Oddities(true) {
			if strings.Contains(o.Found, "of the target") {
				found = append(found, o.Pool+" "+o.Found)
				must.Hold(t, slices.Contains(set.Oddities(), o) || set.Tasks[0].Labels == nil, "%s: the check lacks %+v", name, o)
			}
		}
		must.Equal(t, strings.Join(found, "; "), c.want, "%s", name)
	}
}

// Where values of features are many, rows of several sources that repeat with other labels are named, and hide no copies of the target's.
func TestRepeatedMeasurements(t *testing.T) {
	set := measured(testrand.New(t))
	for i := range 2 {
		copy(set.Pools[i].F32[30:], set.Pools[i].F32[:15])
	}
	copy(set.Pools[2].F32[30:], set.Pools[2].F32[:9])
	var found []string
	for _, o := range set.Oddities() {
		if strings.Contains(o.Found, "the features of a") {
			found = append(found, o.Pool+" "+o.Found)
		}
	}
	must.EqualSlices(t, found, []string{
		"a 5 of 60 rows have the features of a row before it in the source, the first is row 10, like row 0; labels differ in 5 of 5 cases",
		"b 5 of 60 rows have the features of a row before it in the source, the first is row 10, like row 0; labels differ in 5 of 5 cases",
		"target 3 labelled rows have the features of a labelled row before, the first is row 10, like row 0"}, "rows that repeat")
}

// Where features have few values and only the target has labels, as when a study begins, one line says that rows are often alike.
func TestFewValuesWithoutLabels(t *testing.T) {
	set := measured(testrand.New(t))
	fewOfAll(set)
	set.Tasks = set.Tasks[2:]
	var found []string
	for _, o := range set.Oddities() {
		if strings.Contains(o.Found, "the features of a row") {
			found = append(found, o.Pool+" "+o.Advice)
		}
	}
	must.EqualSlices(t, found, []string{" take out copies alone: features of few values are often alike"}, "rows that are alike")
}

// fewOfAll gives every feature only a few values.
func fewOfAll(set *Set) {
	for _, p := range set.Pools {
		for i := range p.F32 {
			p.F32[i] = float32(i*i%7/3 + i%3)
		}
	}
}
