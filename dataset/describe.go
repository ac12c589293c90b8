package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Description says what a set has. It is what amtrl data info --json prints.
type Description struct {
	Name   string            `json:"name"`
	SHA256 string            `json:"sha256"`
	Labels string            `json:"labels"`
	Cols   int               `json:"cols"`
	Bytes  int64             `json:"bytes"`
	Pools  []PoolDescription `json:"pools"`
	Tasks  []TaskDescription `json:"tasks"`
	// Filled lists the feature columns with missing cells.
	Filled []FilledColumn `json:"filled,omitempty"`
	// Logs is the number of features that are logarithms of columns.
	Logs int `json:"logs,omitempty"`
	// Knots is the number of features that were added as knots of other features.
	Knots int `json:"knots,omitempty"`
	// Products is the number of features that are the product of two others.
	Products int `json:"products,omitempty"`
}

// FilledColumn is a column of features with the number of its missing cells, which were filled.
type FilledColumn struct {
	Column string `json:"column"`
	Cells  int64  `json:"cells"`
}

// PoolDescription describes one pool. Type is that of its elements.
type PoolDescription struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Type string `json:"type"`
	// Height, Width and Channels are absent unless the rows are images.
	Height   int `json:"height,omitempty"`
	Width    int `json:"width,omitempty"`
	Channels int `json:"channels,omitempty"`
	Tasks    int `json:"tasks"`
	// Train and Test count the labelled rows of the pool's tasks in each split, every row once; Labelled is their sum.
	Train    int     `json:"train"`
	Test     int     `json:"test"`
	Labelled int     `json:"labelled"`
	Cost     float64 `json:"cost"`
	Target   bool    `json:"target,omitempty"`
	// Groups is the number of groups among the labelled rows, if the data say which rows belong together.
	Groups int `json:"groups,omitempty"`
}

// TaskDescription describes one task.
type TaskDescription struct {
	Name string `json:"name"`
	Pool string `json:"pool"`
	// Output and Class are absent where the data do not name them.
	Output string `json:"output,omitempty"`
	Class  string `json:"class,omitempty"`
	Train  int    `json:"train"`
	Test   int    `json:"test"`
	// Positive is the number of rows in Train and Test with label 1.
	Positive int `json:"positive"`
	// Numbers is absent for classes.
	Numbers *NumberRange `json:"numbers,omitempty"`
}

// NumberRange summarises the labels of a regression task.
type NumberRange struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Mean float64 `json:"mean"`
}

// Describe counts what the set has. It reads every label, and all elements for the hash.
func (s *Set) Describe() Description {
	d := Description{Name: s.Name, SHA256: s.Hash(), Labels: "numbers (regression)", Cols: s.Pools[0].Cols}
	switch {
	case s.Binary:
		d.Labels = "0 and 1 (one class against the rest)"
	case s.Model != nil:
		d.Labels = fmt.Sprintf("numbers of a known linear model, K = %d, sigma = %g", s.Model.K, s.Model.Sigma)
	}
	for _, p := range s.Pools {
		kind, size := "float32", int64(4)
		switch {
		case p.U8 != nil:
			kind, size = "uint8", 1
		case p.F16 != nil:
			kind, size = "float16", 2
		}
		d.Bytes += size * int64(p.Rows) * int64(p.Cols)
		d.Pools = append(d.Pools, PoolDescription{Name: p.Name, Rows: p.Rows, Type: kind, Height: p.Height, Width: p.Width,
			Channels: p.Channels(), Cost: cmp.Or(p.Cost, 1), Target: p.Target})
	}
	for i, p := range s.Pools {
		if p.Groups != nil {
			train, test := s.LabelledRows(i)
			d.Pools[i].Groups = p.CountGroups(slices.Concat(train, test))
		}
	}
	if c := s.Columns; c != nil {
		d.Logs, d.Knots, d.Products = len(c.Logs), c.Derived.Knots.Count(), c.Derived.Products()
		for j, n := range c.Filled {
			if n > 0 {
				d.Filled = append(d.Filled, FilledColumn{c.Features[j], n})
			}
		}
	}
	labelled := make([][]bool, len(s.Pools))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		p := &d.Pools[t.Pool]
		p.Tasks++
		if labelled[t.Pool] == nil {
			labelled[t.Pool] = make([]bool, p.Rows)
		}
		positive := 0
		numbers := &NumberRange{Low: math.Inf(1), High: math.Inf(-1)}
		rows := slices.Concat(t.Train, t.Test)
		for at, r := range rows {
			y := float64(t.Labels[r])
			numbers.Low, numbers.High, numbers.Mean = min(numbers.Low, y), max(numbers.High, y), numbers.Mean+y/float64(len(rows))
			if t.Labels[r] == 1 {
				positive++
			}
			if labelled[t.Pool][r] {
				continue
			}
			labelled[t.Pool][r] = true
			if p.Labelled++; at < len(t.Train) {
				p.Train++
			} else {
				p.Test++
			}
		}
		if s.Binary || len(rows) == 0 {
			numbers = nil
		}
		d.Tasks = append(d.Tasks, TaskDescription{t.Name, p.Name, t.Output.Name, t.Output.Class, len(t.Train), len(t.Test), positive, numbers})
	}
	return d
}
