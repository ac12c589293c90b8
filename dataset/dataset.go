// Package dataset holds what tasks draw from: pools of rows, labels, and the
// readers, writers and generators that make them. It knows no device.
package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Pool is a row-major matrix of stored rows, shared by any number of tasks.
// Exactly one of U8, F16 and F32 is set, with Rows*Cols elements; the features
// of a row are Scale, which is never 0, times its stored elements.
type Pool struct {
	// Name identifies the pool, such as the corruption "glass_blur".
	Name       string
	Rows, Cols int
	U8         []uint8
	F16        []uint16 // IEEE 754 binary16 bit patterns
	F32        []float32
	Scale      float32
	// Height and Width are the image shape, Height*Width == Cols, or 0 where
	// rows are not images.
	Height, Width int
	// Mapped says that the elements are those of a file that is mapped into memory:
	// a copy of them could take more than there is.
	Mapped bool
	// Origin says which rows of the input these are, nil where nobody needs telling:
	// then they are those of a file, in its order.
	Origin Origin
	// Cost is what a label of one row costs, 0 standing for 1.
	Cost float64
	// Target says that the rows are the target's alone: no task of this pool is a
	// source. Where a set has such pools, only their tasks can be the target.
	Target bool
	// Groups says which rows belong together, such as the visits of one patient, several photographs of one animal or copies of
	// a row: it has for each row the number of its group, below 0 for a row on its own, and the same number in two pools is
	// the same group. nil is for rows that are each on their own. Rows of a target that belong together are drawn, left out
	// and held out together. It is not to be told from the order of the numbers.
	Groups []int32
}

// Origin knows which rows of somebody's data the rows of a pool are.
type Origin interface {
	// Find returns the id of row i, empty where rows have none, and which row of the
	// data it is, counted from 0 over all files.
	Find(i int) (id string, row int64, err error)
}

// Placer is an Origin that knows the files of the data.
type Placer interface {
	// Place names the file that row i is from, and its line or row in it; it is empty where that is not known.
	Place(i int) string
}

// Output says which label of the rows a task is: of a column of numbers the column, of
// a column of classes the column and one of them, so that there is a task for each class
// of a pool. The outputs of two pools that are equal are of the same meaning. Data that
// name their columns are somebody's own, whose sources are pools.
type Output struct {
	// Name is the column of the label, empty where the data do not name it.
	Name string
	// Class is the class for which Labels is 1, empty where labels are numbers.
	Class string
}

// Columns names the columns of tables that a set was made of.
type Columns struct {
	// ID is the column of the ids of rows, and Source that which names the pool of each, or empty.
	ID, Source string
	// Features are the columns of the features, in their order.
	Features []string
	// Words are the columns of words that the last of Features but those of Knots stand for, each word in turn, as "shift=night".
	Words []table.Words
	// Knots are, for each of the first features, values t at which its effect may bend: |x - t| is a feature too. These are
	// the last of Features, in turn, as "|depth - 61.8|".
	Knots table.Knots
	// Codes are the numbers that stood for none in columns of the files.
	Codes []table.Codes
	// Centre and Spread have been taken out of each feature: the pools hold (x - Centre)
	// / Spread. They are empty where pools hold features as they were.
	Centre, Spread []float64
	// Means, in the units of the columns, stand for missing cells, of which each feature had Filled. They are empty
	// where cells must be there.
	Means  []float64
	Filled []int64
	Labels []LabelColumn
}

// read is the number of features that are columns or words, before those that knots add.
func (c *Columns) read() int { return len(c.Features) - c.Knots.Count() }

// LabelColumn is a column of labels.
type LabelColumn struct {
	Name string
	// LogOf is the column whose logarithm, Log, the labels are, or empty.
	LogOf string
	Log   table.Log
	// Classes are the names of its classes, none where labels are numbers.
	Classes []string
	// Missing are the values that stand for no label.
	Missing []string
}

// Task is one labelling of the rows of a pool.
type Task struct {
	// Name identifies the task, such as "glass_blur_2".
	Name string
	// Pool indexes Set.Pools.
	Pool int
	// Output is what the labels are of. The tasks of a pool have different ones.
	Output Output
	// Labels has one entry for each row of the pool, 0 where a row has no label.
	// Rows without one are in neither Train nor Test. Tasks may share it. It is nil
	// where labels are yet to be asked for: Train are then the rows that can be had.
	Labels []float32
	// Train are the rows that samples may be drawn from, Test those that the
	// error is measured on. They are disjoint, also as base items: where row i
	// of several pools shows one item, no item is in Train of one task and in
	// Test of another. Tasks may share them.
	Train, Test []int32
}

// Set is a family of tasks over shared pools. Any task can be the target; the
// others are then its sources, or those of other pools where the data name their
// outputs. A program makes a set with [Set.AddClasses] or [Set.AddNumbers], or task by
// task, calls [Set.Validate] before it hands it on, and leaves it and its slices, which are
// not copied, as they are from then on. Then any number of goroutines can use it.
type Set struct {
	// Name says where the set came from, such as "embedded digits".
	Name  string
	Pools []*Pool
	Tasks []Task
	// Binary says that labels are 0 or 1, as those of classes, and that the error of a
	// prediction is whether it falls on the wrong side of 0.5. Of a set without it labels
	// are numbers.
	Binary bool
	// Columns are those of somebody's tables that the set was made of, or nil.
	Columns *Columns
	// Model is the linear model that generated the labels, or nil.
	Model *LinearModel
}

// LinearModel is the realizable linear model of the paper (section 2):
// y = x'B w_t + z, z ~ N(0, Sigma^2), x ~ N(0, I).
type LinearModel struct {
	D, K, Tasks int
	// B is D by K, row-major; W is K by Tasks, row-major (column t is w_t).
	B, W []float64
	// Sigma is the standard deviation of the noise.
	Sigma float64
}

// Targets lists the tasks that can be the target.
func (s *Set) Targets() []int {
	marked := slices.ContainsFunc(s.Pools, func(p *Pool) bool { return p.Target })
	var targets []int
	for i, t := range s.Tasks {
		if s.Pools[t.Pool].Target || !marked {
			targets = append(targets, i)
		}
	}
	return targets
}

// TaskIndex returns the index of the named task, or an error of [Set.NoSuch].
func (s *Set) TaskIndex(name string) (int, error) {
	if i := slices.IndexFunc(s.Tasks, func(t Task) bool { return t.Name == name }); i >= 0 {
		return i, nil
	}
	names := make([]string, len(s.Tasks))
	for i := range s.Tasks {
		names[i] = s.Tasks[i].Name
	}
	return 0, s.NoSuch("task", name, names)
}

// NoSuch is the error that the set has nothing of that kind and name, among these.
// It quotes at most 80 bytes of the name, and lists the names where they are few and
// otherwise the five that are nearest, in quotes those that hold a comma.
func (s *Set) NoSuch(kind, name string, names []string) error {
	return s.none(kind, "", name, names)
}

// NoMatch is NoSuch of a pattern.
func (s *Set) NoMatch(kind, pattern string, names []string) error {
	return s.none(kind, "that matches ", pattern, names)
}

func (s *Set) none(kind, that, name string, names []string) error {
	const few, nearest = 12, 5
	more := ""
	if len(names) > few {
		names, more = text.Nearest(name, names, nearest), ", ..."
	}
	quoted := slices.Clone(names)
	for i, n := range quoted {
		if strings.Contains(n, ",") {
			quoted[i] = strconv.Quote(n)
		}
	}
	hint := strings.Join(quoted, ", ") + more
	if len(names) == 0 {
		hint = "none, it has no " + kind + "s"
	}
	return fmt.Errorf("%s has no %s %s%q: expected one of %s", s.Name, kind, that, name[:min(len(name), 80)], hint)
}
