package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
)

// The kinds of sources.
const (
	// SourcesTasks makes each task a source that draws rows of its own.
	SourcesTasks = "tasks"
	// SourcesPools makes each pool a source: a row is paid for once and has a label for each task of the pool that
	// labels it.
	SourcesPools = "pools"
)

// Source is what samples are bought from: rows of a pool, with labels for one or more outputs. The target is described
// in the same way.
type Source struct {
	// Name is the name of the task or of the pool.
	Name string
	// Pool indexes Set.Pools, Tasks are the outputs, indices into Set.Tasks in
	// ascending order, at least one.
	Pool  int
	Tasks []int
}

// SourcesIn lists the sources of a set, in its order: one for each task, or for each pool that has tasks, and none
// where [dataset.Set.CheckShape] refuses the set. Any of them may be the target. Whether sources are pools is decided
// once the settings are complete.
func (c *Config) SourcesIn(set *dataset.Set) []Source {
	if set.CheckShape() != nil {
		return nil
	}
	if c.Sources != SourcesPools {
		all := make([]Source, len(set.Tasks))
		for i, t := range set.Tasks {
			all[i] = Source{t.Name, t.Pool, []int{i}}
		}
		return all
	}
	all := make([]Source, len(set.Pools))
	for i, p := range set.Pools {
		all[i].Name, all[i].Pool = p.Name, i
	}
	for i, t := range set.Tasks {
		all[t.Pool].Tasks = append(all[t.Pool].Tasks, i)
	}
	return slices.DeleteFunc(all, func(s Source) bool { return len(s.Tasks) == 0 })
}

// SourcesFor lists what a target, given by its index in SourcesIn, can learn from: all other sources, except those of
// pools that are a target's alone, and the target itself where it is to be included. With pools, the other outputs of
// the target's rows are its own.
func (c *Config) SourcesFor(set *dataset.Set, target int) []Source {
	var sources []Source
	for i, s := range c.SourcesIn(set) {
		if i == target && c.IncludeTarget || i != target && !set.Pools[s.Pool].Target {
			sources = append(sources, s)
		}
	}
	return sources
}

// TargetsIn names the sources of a set that can be the target: where some pools are a target's alone those, else all.
func (c *Config) TargetsIn(set *dataset.Set) []string {
	all := c.SourcesIn(set)
	marked := slices.ContainsFunc(all, func(s Source) bool { return set.Pools[s.Pool].Target })
	var names []string
	for _, s := range all {
		if set.Pools[s.Pool].Target || !marked {
			names = append(names, s.Name)
		}
	}
	return names
}

// FindSource returns the index of a name in the SourcesIn of the completed settings, or an error that lists names close
// to it.
func (c *Config) FindSource(set *dataset.Set, name string) (int, error) {
	full := c.Complete(set)
	return full.findSource(set, name)
}

// findSource is FindSource of complete settings.
func (c *Config) findSource(set *dataset.Set, name string) (int, error) {
	if c.Sources != SourcesPools {
		return set.TaskIndex(name)
	}
	var names []string
	for i, s := range c.SourcesIn(set) {
		if s.Name == name {
			return i, nil
		}
		names = append(names, s.Name)
	}
	return 0, set.NoSuch("pool", name, names)
}

// FindTarget is FindSource among the sources that can be the target. [NewProblem] takes the index that it returns.
func (c *Config) FindTarget(set *dataset.Set, name string) (int, error) {
	full := c.Complete(set)
	i, err := full.findSource(set, name)
	targets := full.TargetsIn(set)
	switch {
	case slices.Contains(targets, name) || len(targets) == len(full.SourcesIn(set)):
		return i, err
	case err == nil:
		return 0, fmt.Errorf("%w; %s is a source alone", set.NoSuch("target", name, targets), name)
	}
	return 0, set.NoSuch("target", name, targets)
}

// trainRows lists the rows that samples are drawn from: the training rows of any output that are test rows of none.
// Where all outputs share one list of training rows it returns that list, else rows in ascending order.
func (s Source) trainRows(set *dataset.Set) []int32 {
	if s.agree(set, trainOf) {
		return set.Tasks[s.Tasks[0]].Train
	}
	marks := make([]bool, set.Pools[s.Pool].Rows)
	s.mark(set, trainOf, marks, true)
	s.mark(set, testOf, marks, false)
	return marked(marks)
}

// Drawable returns the number of rows that samples can be drawn from.
func (s Source) Drawable(set *dataset.Set) int { return len(s.trainRows(set)) }

// testRows lists the rows that are held out for any output.
func (s Source) testRows(set *dataset.Set) []int32 {
	if s.agree(set, testOf) {
		return set.Tasks[s.Tasks[0]].Test
	}
	marks := make([]bool, set.Pools[s.Pool].Rows)
	s.mark(set, testOf, marks, true)
	return marked(marks)
}

func trainOf(t *dataset.Task) []int32 { return t.Train }

func testOf(t *dataset.Task) []int32 { return t.Test }

// agree reports whether all outputs share one list of rows.
func (s Source) agree(set *dataset.Set, of func(*dataset.Task) []int32) bool {
	first := of(&set.Tasks[s.Tasks[0]])
	for _, t := range s.Tasks[1:] {
		if !oneList(of(&set.Tasks[t]), first) {
			return false
		}
	}
	return true
}

// oneList reports whether two lists of rows are the same slice in memory.
func oneList(a, b []int32) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (s Source) mark(set *dataset.Set, of func(*dataset.Task) []int32, marks []bool, as bool) {
	for _, t := range s.Tasks {
		for _, r := range of(&set.Tasks[t]) {
			marks[r] = as
		}
	}
}

func marked(marks []bool) []int32 {
	var rows []int32
	for i, is := range marks {
		if is {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// label returns rows with the labels of each output: NaN where the output lists the row neither for training nor for
// tests, or has no labels.
func (s Source) label(set *dataset.Set, rows []int32) Labelled {
	outputs := len(s.Tasks)
	l := Labelled{Rows: rows, Y: make([]float32, len(rows)*outputs)}
	var has []bool
	if !s.agree(set, trainOf) || !s.agree(set, testOf) {
		has = make([]bool, set.Pools[s.Pool].Rows)
	}
	for c, t := range s.Tasks {
		task := &set.Tasks[t]
		if has != nil {
			clear(has)
			one := Source{Pool: s.Pool, Tasks: []int{t}}
			one.mark(set, trainOf, has, true)
			one.mark(set, testOf, has, true)
		}
		for i, r := range rows {
			if int(uint32(r)) >= len(task.Labels) || has != nil && !has[r] {
				l.Y[i*outputs+c] = float32(math.NaN())
			} else {
				l.Y[i*outputs+c] = task.Labels[r]
			}
		}
	}
	return l
}

// outputNames returns the names of the outputs for an error message.
func (s Source) outputNames(set *dataset.Set) string {
	names := make([]string, len(s.Tasks))
	for i, t := range s.Tasks {
		names[i] = set.Tasks[t].Name
	}
	return text.OneLine(strings.Join(names, ", "), 80)
}

// outputsOf returns the number of outputs of each source.
func outputsOf(sources []Source) []int {
	n := make([]int, len(sources))
	for m, s := range sources {
		n[m] = len(s.Tasks)
	}
	return n
}

// sumInts returns the sum of n.
func sumInts(n []int) int {
	total := 0
	for _, v := range n {
		total += v
	}
	return total
}

// checkRows returns an error if a task lists a row that its pool does not have.
func checkRows(set *dataset.Set) error {
	var checked dataset.Task // the next task often has the same lists
	for _, t := range set.Tasks {
		before := [][]int32{checked.Train, checked.Test}
		for i, rows := range [][]int32{t.Train, t.Test} {
			most := set.Pools[t.Pool].Rows - 1
			if t.Pool == checked.Pool && oneList(rows, before[i]) {
				continue
			}
			if at := slices.IndexFunc(rows, func(r int32) bool { return r < 0 || int(r) > most }); at >= 0 {
				return fmt.Errorf("%s: task %q: %s row %d of %d: expected 0 to %d, found %d", set.Title(), t.Name, []string{"train", "test"}[i], at,
					len(rows), most, rows[at])
			}
		}
		checked = t
	}
	return nil
}

// checkSources returns an error if two pools have the same name, since nobody could tell them apart, or if a pool has two outputs that
// do not say of which column they are.
func checkSources(set *dataset.Set, all []Source) error {
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			return fmt.Errorf("%s has two pools %q: expected names of their own for sources %s", set.Title(), s.Name, SourcesPools)
		}
		seen[s.Name] = true
		unnamed := -1
		for _, t := range s.Tasks {
			if set.Tasks[t].Output != (dataset.Output{}) {
				continue
			}
			if unnamed >= 0 {
				return fmt.Errorf("%s: pool %q has the tasks %q and %q, whose outputs have no names: expected one for each, since "+
					"sources %s compare outputs by name", set.Title(), s.Name, set.Tasks[unnamed].Name, set.Tasks[t].Name, SourcesPools)
			}
			unnamed = t
		}
	}
	return nil
}
