package pipeline

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
)

// rowsSet returns a set whose tasks share one pool of n rows, for tests of which rows are drawn. The features do not matter to them.
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
	set := rowsSet(3, 110)
	test := set.Tasks[0].Train[100:]
	for i := range set.Tasks {
		set.Tasks[i].Train, set.Tasks[i].Test = set.Tasks[i].Train[:100], test
	}
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

// Where a target has no test rows of its own, sources of its pool draw neither its samples nor the rows that it is tested on.
func TestDrawsKeepTestRowsApart(t *testing.T) {
	for _, c := range []struct{ rows, n, test int }{{100, 30, 20}, {101, 30, 21}, {100, 80, 20}, {100, 81, 0}, {100, 100, 0}} {
		set := rowsSet(3, c.rows)
		target, others := sourcesOf(set, 1)[0], sourcesOf(set, 0, 2)
		d := newDraws(set, target, others, c.n, 7)
		must.Equal(t, len(d.test), c.test, "test rows of %d with %d samples", c.rows, c.n)
		for i, rows := range d.source {
			must.Equal(t, len(rows), c.rows-c.n-c.test, "rows of source %d of %d with %d samples", i, c.rows, c.n)
			for _, r := range rows {
				must.Hold(t, !slices.Contains(d.target, r), "source %d draws row %d, a target sample", i, r)
				must.Hold(t, !slices.Contains(d.test, r), "source %d draws row %d, a test row", i, r)
			}
		}
		included := newDraws(set, target, append(others, target), c.n, 7)
		for i, rows := range included.source {
			must.Equal(t, len(rows), c.rows-c.n, "rows of source %d with the target among the sources", i)
		}
		set.Model = &dataset.LinearModel{} // whose error is exact
		exact := newDraws(set, target, others, c.n, 7)
		must.Equal(t, len(exact.source[0]), c.rows, "rows of a source where the error is exact")
	}
	set := rowsSet(2, 100)
	set.Pools = append(set.Pools, set.Pools[0])
	set.Tasks[0].Pool = 1
	d := newDraws(set, sourcesOf(set, 1)[0], sourcesOf(set, 0), 30, 7)
	must.Hold(t, len(d.test) == 70 && len(d.source[0]) == 100, "%d test rows and %d rows of a source of another pool", len(d.test),
		len(d.source[0]))
}

// Where the target leaves no row to any source of its pool, the problem is refused if there are no other sources; otherwise the floor does
// not apply to them.
func TestSourcesWithoutRows(t *testing.T) {
	set := rowsSet(3, 100)
	cfg := defaultConfig(t)
	cfg.K, cfg.TargetSamples, cfg.Schedule.Budget = 1, 100, 60
	want := "target b has no test rows of its own: its 100 samples and 0 rows for tests leave sources of its pool no row"
	must.Fail(t, "no rows", must.Err(NewProblem(set, cfg, 1)), want)
	set.Pools = append(set.Pools, &dataset.Pool{Name: "q", Rows: 100, Cols: 1, F32: make([]float32, 100), Scale: 1})
	set.Tasks[2].Pool = 1
	p := must.Get(NewProblem(set, cfg, 1))(t)
	rows := must.Get(p.Propose(State{}))(t).Sources
	must.Hold(t, len(rows[0]) == 0 && len(rows[1]) >= cfg.Schedule.Floor, "%d and %d rows", len(rows[0]), len(rows[1]))
	for i := range set.Tasks {
		set.Tasks[i].Output = dataset.Output{Name: string(rune('a' + i))}
	}
	own := defaultConfig(t)
	own.Sources = SourcesTasks
	own, _ = own.Fit(set, []string{"b"})
	must.Hold(t, own.Schedule.Floor > 0 && own.TargetSamples == 50, "%d samples and a floor of %d", own.TargetSamples, own.Schedule.Floor)
	must.Equal(t, own.Schedule.Budget, 65., "the budget, half of 100 rows of the other pool and of 30 that the target leaves of its own")
	must.Do(t, must.Err(NewProblem(set, own, 1)))
}
