package dataset

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// repeated returns n of the words in turn.
func repeated(n int, words ...string) []string { return slices.Repeat(words, n/len(words)+1)[:n] }

// ofClasses returns a set whose last pool is the target. Row r of pool p has the class of[p][r].
func ofClasses(t *testing.T, of ...[]string) *Set {
	rng := testrand.New(t)
	s := &Set{Name: "own", Binary: true}
	for i, labels := range of {
		p := &Pool{Name: fmt.Sprint("s", i), Rows: len(labels), Cols: 3, Scale: 1, Target: i == len(of)-1}
		for range 3 * len(labels) {
			p.F32 = append(p.F32, float32(rng.NormFloat64()))
		}
		must.Do(t, s.AddClasses(p, "back", labels, nil))
	}
	return s
}

// A source with classes of its own is named, and the target is not asked for rows of them. Sources whose classes differ by nature
// are not.
func TestOwnClasses(t *testing.T) {
	usual := repeated(30, "no", "yes", "no")
	const unseen = "no labelled sample is of class "
	for what, c := range map[string]struct {
		of   [][]string
		want []string
	}{
		"usual": {[][]string{usual, usual, usual, usual}, nil},
		"codes": {[][]string{usual, repeated(30, "0", "1"), usual, usual},
			[]string{`s1: it alone has the classes "0", "1" of back, and none of those of the others ("no", "yes")`}},
		"the target": {[][]string{usual, usual, usual, repeated(30, "Y", "N")},
			[]string{`s3: it alone has the classes "N", "Y" of back, and none of those of the others ("no", "yes")`}},
		"three": {[][]string{usual, repeated(30, "0", "1"), repeated(20, "N", "Y"), repeated(30, "Y", "N"), usual, usual, usual},
			[]string{`: 3 sources have classes of back of their own, and none of those of the others ("no", "yes"): ` +
				`s1 ("0", "1"), s2, s3 ("N", "Y")`}},
		"one class, by code":  {[][]string{usual, repeated(30, "Y"), usual, usual}, []string{`s1: it alone has the classes "Y" of back`}},
		"one class by nature": {[][]string{usual, repeated(30, "bear"), usual, usual}, []string{"s3: " + unseen + `"bear" of back`}},
		"a few rows of the others": {[][]string{usual, append(repeated(40, "0", "1"), "yes"), usual, usual},
			[]string{`s1: it alone has the classes "0", "1" of back, and hardly any of those of the others`}},
		"half of them": {[][]string{usual, append(repeated(20, "0", "1"), repeated(20, "no")...), usual, usual},
			[]string{"s3: " + unseen + `"0", "1" of back`}},
		"some of the others'": {[][]string{usual, repeated(30, "0", "1"), repeated(30, "no", "late"), usual, usual},
			[]string{"s4: " + unseen + `"late" of back`, `s1: it alone has the classes "0", "1" of back`}},
		"each its own": {[][]string{repeated(30, "a", "b"), repeated(30, "c", "d"), repeated(30, "e", "f"), repeated(30, "g", "h")},
			[]string{"s3: " + unseen + `"a", "b", "c", "d", "e", "f" of back`}},
		"two of two": {[][]string{usual, usual, repeated(30, "0", "1"), repeated(30, "0", "1")},
			[]string{"s3: " + unseen + `"no", "yes" of back`}},
		"four rows": {[][]string{usual, repeated(4, "0", "1"), usual, usual}, []string{"s3: " + unseen + `"0", "1" of back`}},
	} {
		set := ofClasses(t, c.of...)
		var got []string
		for _, o := range set.Oddities() {
			if !strings.Contains(o.Found, "all labelled rows are of") && !strings.Contains(o.Found, "too few to learn from") {
				got = append(got, o.Pool+": "+o.Found)
				must.Hold(t, o.Advice != "", "%s: %s without an advice", what, o.Found)
			}
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, expected %q", what, got, c.want)
		}
		before := set.Warnings().Oddities(true)
		must.Equal(t, strings.Contains(fmt.Sprint(before), "those of the others"), strings.Contains(fmt.Sprint(got), "those of the others"),
			"%s: before a run: %v", what, before)
	}
}

// Rows are counted by class, also those of the one of two classes that has no task, and those for tests.
func TestClassCounts(t *testing.T) {
	labels := []LabelColumn{{Name: "y", Classes: []string{"no", "yes"}}}
	s := &Set{Binary: true, Columns: &Columns{Labels: labels}, Pools: []*Pool{{Rows: 4}, {Rows: 2}, {Rows: 3}},
		Tasks: []Task{
			{Pool: 0, Output: Output{"y", "yes"}, Labels: []float32{1, 1, 0, 0}, Train: []int32{0, 2}, Test: []int32{1}},
			{Pool: 2, Output: Output{"y", "yes"}, Labels: []float32{0, 0, 1}, Train: []int32{0, 1}},
			{Pool: 2, Output: Output{"z", ""}, Labels: []float32{0, 0, 1}, Train: []int32{0, 1}},
		}}
	got := s.classCounts()
	must.Equal(t, len(got), 1, "columns")
	want := columnWords{"y", []string{"yes", "no"}, [][]wordCount{{{0, 2}, {1, 1}}, nil, {{1, 2}}}}
	must.Hold(t, reflect.DeepEqual(*got[0], want), "%v", *got[0])
}
