// Package dataset defines the data that tasks draw from, pools of rows with their labels, and the readers, writers and generators that make
// them. Nothing in it depends on the device that fits models.
package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Pool is a row-major matrix of stored rows, shared by any number of tasks. Exactly one of U8, F16 and F32 is set, with Rows*Cols elements.
// The features of a row are its stored elements times Scale, which is never 0.
type Pool struct {
	// Name identifies the pool, such as the corruption "glass_blur".
	Name       string
	Rows, Cols int
	U8         []uint8
	F16        []uint16 // IEEE 754 binary16 bit patterns
	F32        []float32
	Scale      float32
	// Height and Width are the size of the images, or 0 where rows are not images. Element (y, x, c) of a row, c one of [Pool.Channels], is
	// at (y Width + x) Channels + c.
	Height, Width int
	// Mapped reports whether the elements lie in a file that is mapped into memory: a copy of them may then need more memory than there is.
	Mapped bool
	// Origin finds the row of the input that each row came from. It is nil where nobody needs it: the rows are then those of one file, in
	// its order.
	Origin Origin
	// Cost is the cost of one row's label, from MinCost to MaxCost; 0 stands for 1.
	Cost float64
	// Target marks a pool that belongs to the target alone: none of its tasks is a source. Where a set has pools with this mark, only their
	// tasks can be the target.
	Target bool
	// Groups holds the number of each row's group. Rows that belong together, such as the visits of one patient, several photographs of one
	// animal or copies of a row, have the same number, also across pools; a number below 0 marks a row on its own. nil means that every row
	// is on its own. The rows of a target's group are drawn, left out and held out together. The order of the numbers has no meaning.
	Groups []int32
}

// Channels returns the number of channels of the images, 0 where rows are not images.
func (p *Pool) Channels() int {
	if p.Height == 0 {
		return 0
	}
	return p.Cols / p.Height / p.Width
}

// Origin finds the rows of a user's data that the rows of a pool came from.
type Origin interface {
	// Find returns the id of row i, empty where rows have no ids, and its row number in the data, counted from 0 over all files.
	Find(i int) (id string, row int64, err error)
}

// Placer is an Origin that also knows the files of the data.
type Placer interface {
	// Place names the file that row i is from and its line or row there. It returns an empty string where that is not known.
	Place(i int) string
}

// Output identifies what the labels of a task mean. For numbers it is a column; for classes it is a column and one of its classes, so that
// a pool has a task for each class. Equal outputs of two pools have the same meaning. Data that name their columns are a user's own, and
// their sources are pools.
type Output struct {
	// Name is the column of the label, empty where the data do not name it.
	Name string
	// Class is the class whose rows have label 1, empty where labels are numbers.
	Class string
}

// Columns describes the columns of the tables that a set was made from.
type Columns struct {
	// ID names the column of row ids, and Source the column that names the pool of each row. Either may be empty.
	ID, Source string
	// Features names the columns of the features in their order: a name for each feature, or one for all elements of a column of lists.
	// Those that Words add and then those that Derived adds come last.
	Features []string
	// Logs lists the features that are logarithms of columns of the files, by [table.LogOf].
	Logs []string
	// Words lists the columns of categories. Each word is one feature, such as "shift=night"; these stand in order before the features
	// that Derived adds.
	Words []table.Words
	// Derived says which features are computed from the columns: those that knots add, and products.
	Derived table.Derived
	// Codes lists the numbers that stood for a missing value in columns of the files.
	Codes []table.Codes
	// Centre and Spread are the shift and the scale of each feature: the pools hold (x - Centre) / Spread. They are empty where the pools
	// hold features in the units of the files.
	Centre, Spread []float64
	// Cuts lists the features that were cut to limits, as a few cells lay far from all others.
	Cuts []Cut
	// Means holds the value of each feature that takes the place of a missing cell, in the units of the columns, and Filled the number of
	// cells that it filled. They are empty where no cell may be missing.
	Means  []float64
	Filled []int64
	Labels []LabelColumn
}

// read returns the number of features that are columns or words, without those that are computed from them.
func (c *Columns) read() int { return len(c.Features) - c.Derived.Count() }

// Cut is the range, in the unit of its column, to which the cells of a feature were cut.
type Cut struct {
	Feature int     `json:"feature"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

// Of returns the number in the range that is nearest to x.
func (c Cut) Of(x float64) float64 { return math.Min(math.Max(x, c.Low), c.High) }

// unscaled returns the value of feature j, x as it is stored, in the unit of the column, and how large 1 is in it.
func (c *Columns) unscaled(j int, x float64) (value, spread float64) {
	if len(c.Centre) == 0 {
		return x, 1
	}
	return x*c.Spread[j] + c.Centre[j], c.Spread[j]
}

// LabelColumn describes a column of labels.
type LabelColumn struct {
	Name string
	// LogOf names the column whose logarithm, taken by Log, the labels are. It is empty for other labels.
	LogOf string
	Log   table.Log
	// Classes names the classes. It is empty where labels are numbers.
	Classes []string
	// Missing lists the values that stand for no label.
	Missing []string
}

// Task is one labelling of the rows of a pool.
type Task struct {
	// Name identifies the task, such as "glass_blur_2".
	Name string
	// Pool indexes Set.Pools.
	Pool int
	// Output says what the labels mean. The tasks of a pool have different outputs.
	Output Output
	// Labels has one entry for each row of the pool, 0 where a row has no label. Rows without a label are in neither Train nor Test. Tasks
	// may share the slice. It is nil where labels are yet to be asked for: Train then lists the rows whose labels can be had.
	Labels []float32
	// Train lists the rows that samples may be drawn from, and Test those that the error is measured on. They are disjoint, also by base
	// item: where row i of several pools shows the same item, no item is in Train of one task and in Test of another. Tasks may share the
	// slices.
	Train, Test []int32
}

// Set is a family of tasks over shared pools. Any task can be the target. Its sources are then the other tasks, or, where the data name
// their outputs, those of other pools. A program makes a set with [Set.AddClasses] or [Set.AddNumbers], or task by task, and calls
// [Set.Validate] before it hands the set on. From then on it leaves the set and its slices, which are not copied, unchanged. Any number of
// goroutines can then use the set.
type Set struct {
	// Name says where the set came from, such as "embedded digits".
	Name  string
	Pools []*Pool
	Tasks []Task
	// Binary reports whether labels are 0 or 1, as for classes; a prediction is then wrong where it falls on the other side of 0.5. Without
	// it labels are numbers.
	Binary bool
	// Columns describes the user's tables that the set was made from, or is nil. A program whose features are columns of a table sets it to
	// a Columns with their names as Features, which [github.com/amtrl/amtrl/pipeline.Trees] needs; the rest may be empty.
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

// TaskIndex returns the index of the named task, or the error of [Set.NoSuch] where there is none.
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

// Title returns the name of the set, for messages, or "the set" where it has none.
func (s *Set) Title() string { return cmp.Or(s.Name, "the set") }

// NoSuch returns the error that the set has nothing of that kind with that name; names are those that it has. It quotes at most 80 bytes of
// the name. It lists all names where there are at most twelve, and otherwise the five nearest, each in quotes where it holds a comma.
func (s *Set) NoSuch(kind, name string, names []string) error {
	return s.none(kind, "", name, names)
}

// NoMatch is [Set.NoSuch] for a pattern that matches none of the names.
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
	return fmt.Errorf("%s has no %s %s%q: expected one of %s", s.Title(), kind, that, name[:min(len(name), 80)], hint)
}
