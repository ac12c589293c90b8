package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func zeroPool(name string, rows int) *Pool {
	return &Pool{Name: name, Rows: rows, Cols: 1, F32: make([]float32, rows), Scale: 1}
}

// Each labelled row is in Train of every task of its column, or in Test where it is listed for tests, and has label 1 in the task of its
// class alone.
func TestAddClasses(t *testing.T) {
	rng := testrand.New(t)
	set, moods := &Set{Name: "own"}, []string{"", "bad", "fair", "good"}
	truth := map[string][]string{} // labels, keyed by column and pool
	for p := range 3 {
		pool := zeroPool(fmt.Sprint("pool", p), 30)
		test := []int32{7, int32(8 + rng.IntN(20)), 3}
		for _, column := range []string{"mood", ""} {
			labels := make([]string, pool.Rows)
			for i := range labels {
				labels[i] = moods[rng.IntN(len(moods))]
			}
			copy(labels[20:], []string{"bad", "fair", "good", ""}) // all classes and no label, in rows that may be held out or not
			labels[0], labels[1], labels[2] = "good", "bad", "fair"
			must.Do(t, set.AddClasses(pool, column, labels, test))
			truth[fmt.Sprint(column, p)] = labels
		}
		for _, task := range set.Tasks[6*p:] {
			labels := truth[fmt.Sprint(task.Output.Name, p)]
			for i := range int32(pool.Rows) {
				held := slices.Contains(test, i)
				must.Hold(t, slices.Contains(task.Train, i) == (labels[i] != "" && !held), "%s: row %d of Train", task.Name, i)
				must.Hold(t, slices.Contains(task.Test, i) == (labels[i] != "" && held), "%s: row %d of Test", task.Name, i)
				must.Hold(t, (task.Labels[i] == 1) == (labels[i] == task.Output.Class), "%s: row %d is %g", task.Name, i, task.Labels[i])
			}
		}
	}
	must.Do(t, set.Validate())
	var names []string
	for _, task := range set.Tasks[6:12] {
		names = append(names, task.Name)
	}
	want := []string{"pool1_mood_bad", "pool1_mood_fair", "pool1_mood_good", "pool1_bad", "pool1_fair", "pool1_good"}
	must.EqualSlices(t, names, want, "names")
	must.Hold(t, len(set.Pools) == 3 && set.Binary, "%d pools", len(set.Pools))
}

// Numbers are kept as they are. A row with NaN is in neither Train nor Test, and a pool with NaN alone has no task.
func TestAddNumbers(t *testing.T) {
	set, none := &Set{Name: "own"}, float32(math.NaN())
	pool := zeroPool("machine", 4)
	must.Do(t, set.AddNumbers(pool, "wear", []float32{3, none, -1, 0}, []int32{1, 2}))
	must.Do(t, set.AddNumbers(zeroPool("new", 2), "wear", []float32{none, none}, nil))
	must.Do(t, set.AddNumbers(pool, "heat", []float32{none, 2, none, none}, nil))
	must.Do(t, set.Validate())
	found := ""
	for _, task := range set.Tasks {
		found += fmt.Sprintln(task.Name, task.Pool, task.Output.Name, task.Labels, task.Train, task.Test)
	}
	must.Equal(t, found, "machine_wear 0 wear [3 0 -1 0] [0 3] [2]\nmachine_heat 0 heat [0 2 0 0] [1] []\n", "the tasks")
	must.Hold(t, len(set.Pools) == 2 && !set.Binary, "%d pools", len(set.Pools))
}

// A refused call leaves the set as it was.
func TestAddRefuses(t *testing.T) {
	pool, many := zeroPool("a", 2), make([]string, maxClasses+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	set := &Set{Name: "own"}
	must.Do(t, set.AddClasses(pool, "mood", []string{"bad", "good"}, nil))
	before := set.Hash()
	classes := func(pool *Pool, column string, test []int32, labels ...string) error {
		return set.AddClasses(pool, column, labels, test)
	}
	for says, err := range map[string]error{
		`own: pool "a": expected 2 labels, one for each row, found 3`:             classes(pool, "tone", nil, "x", "y", "z"),
		`own: pool "a": expected each column once, found "mood" twice`:            classes(pool, "mood", nil, "bad", ""),
		`own: pool "a": expected test rows 0 to 1, found 2`:                       classes(pool, "tone", []int32{2}, "x", "y"),
		`own: pool "b": expected test rows 0 to 1, found -1`:                      classes(zeroPool("b", 2), "mood", []int32{-1}, "bad", ""),
		`own: pool "b": column "mood": expected at most 1000 classes, found more`: classes(zeroPool("b", len(many)), "mood", nil, many...),
		"expected columns of classes alone, or of numbers alone, in one set":      set.AddNumbers(pool, "wear", []float32{1, 2}, nil),
	} {
		must.Fail(t, says, err, says)
	}
	must.Hold(t, set.Hash() == before && len(set.Pools) == 1 && len(set.Tasks) == 2, "the set has changed")
}

// Errors of a set without a name begin with what is wrong.
func TestErrorsOfUnnamedSets(t *testing.T) {
	set := &Set{Pools: []*Pool{{Rows: 1, Cols: 1, F32: []float32{1}, Scale: 1}}, Tasks: []Task{{Name: "t", Pool: 1}}}
	for want, err := range map[string]error{
		`task "t": expected one of 1 pools, found index 1`: set.Validate(),
		`expected at least one pool and one task`:          new(Set).CheckShape(),
		`column "y": expected a pool, found nil`:           set.AddNumbers(nil, "y", nil, nil),
		`the set has no task "u"`:                          must.Err(set.TaskIndex("u")),
	} {
		must.Hold(t, err != nil && strings.HasPrefix(err.Error(), want), "%v, want %s", err, want)
		set.Name = "mine"
		must.Fail(t, want, set.Validate(), "mine: task")
		set.Name = ""
	}
}
