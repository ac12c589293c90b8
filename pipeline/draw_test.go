package pipeline

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
)

// rowsSet is a set whose tasks share one pool of n rows, for the tests of what
// is drawn; the pool's content does not matter to them.
func rowsSet(tasks, n int) *dataset.Set {
	set := &dataset.Set{Name: "rows", Pools: []*dataset.Pool{{Name: "p", Rows: n, Cols: 1, F32: make([]float32, n), Scale: 1}}}
	train := make([]int32, n)
	for i := range train {
		train[i] = int32(i)
	}
	for i := range tasks {
		set.Tasks = append(set.Tasks, dataset.Task{Name: string(rune('a' + i)), Labels: make([]float32, n), Train: train})
	}
	return set
}

func TestDrawsAreWithoutReplacement(t *testing.T) {
	set := rowsSet(3, 100)
	d := newDraws(set, sourcesOf(set, 1)[0], sourcesOf(set, 0, 1, 2), 30, 7)
	if len(d.target) != 30 {
		t.Fatalf("%d target samples, want 30", len(d.target))
	}
	for i, want := range []int{100, 70, 100} {
		rows := slices.Clone(d.source[i])
		if len(rows) != want {
			t.Errorf("source %d can give %d rows, want %d", i, len(rows), want)
		}
		slices.Sort(rows)
		if len(slices.Compact(rows)) != want {
			t.Errorf("source %d would draw a row twice", i)
		}
	}
	for _, r := range d.source[1] {
		if slices.Contains(d.target, r) {
			t.Errorf("row %d is a target sample and is drawn from the target as a source", r)
		}
	}
	if !slices.IsSorted(set.Tasks[0].Train) {
		t.Error("the set's own rows were shuffled")
	}
}

// What a source draws depends on nothing but seed, target and source.
func TestDrawsDependOnNames(t *testing.T) {
	set := rowsSet(4, 200)
	a := newDraws(set, sourcesOf(set, 3)[0], sourcesOf(set, 0, 1, 2), 10, 7)
	b := newDraws(set, sourcesOf(set, 3)[0], sourcesOf(set, 2, 0), 10, 7)
	if !slices.Equal(a.source[2], b.source[0]) || !slices.Equal(a.source[0], b.source[1]) {
		t.Error("the draws of a source depend on the other sources")
	}
	other := newDraws(set, sourcesOf(set, 3)[0], sourcesOf(set, 0, 1, 2), 10, 8)
	if slices.Equal(a.source[0], other.source[0]) || slices.Equal(a.target, other.target) {
		t.Error("the seed does not change the draws")
	}
	if slices.Equal(a.source[0], a.source[1]) {
		t.Error("two sources draw in the same order")
	}
	if slices.Equal(a.source[0], newDraws(set, sourcesOf(set, 1)[0], sourcesOf(set, 0), 10, 7).source[0]) {
		t.Error("two targets draw in the same order")
	}
}
