package main

import (
	"fmt"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// predictNotes collects what is odd about the predicted rows, by column.
type predictNotes struct {
	filled                         []dataset.FilledColumn
	unknown, far, outside, lacking []string
	scaled                         *float64 // how many times as large the vectors are as the run's; nil if about the same size
	read                           runs.RowsRead
}

func (n *predictNotes) addFilled(column string, cells, rows int64) {
	if n.filled = append(n.filled, dataset.FilledColumn{Column: column, Cells: cells}); cells == rows {
		n.lacking = append(n.lacking, text.OneLine(column, 80))
	}
}

func (n *predictNotes) addBlank(column string) {
	n.lacking = append(n.lacking, text.OneLine(column, 80))
}

func (n *predictNotes) addFar(c runs.FarColumn) {
	name, low, high := text.OneLine(c.Name, 80), text.Digits(c.Low), text.Digits(c.High)
	if c.Rows > 0 {
		n.far = append(n.far, fmt.Sprintf("%s (%s, the first %s; the samples have %s to %s)", name, text.Several(int(c.Rows), "row"),
			text.Digits(c.First), low, high))
	}
	if c.Outside > 0 {
		n.outside = append(n.outside, fmt.Sprintf("%s (%s, outside of %s to %s)", name, text.Several(int(c.Outside), "row"), low, high))
	}
}

func (n *predictNotes) addScaled(times float64) { n.scaled = &times }

func (n *predictNotes) addRead(r runs.RowsRead) { n.read = r }

func (n *predictNotes) addUnknown(column, word string, rows int64) {
	n.unknown = append(n.unknown, fmt.Sprintf("%s (%s, such as %q)", column, text.Several(int(rows), "row"), text.OneLine(word, 80)))
}

func (n *predictNotes) print(to *output) {
	n.printRead(to)
	if len(n.filled) > 0 {
		to.note("filled missing cells with the means of the run: %s", filledText(n.filled))
	}
	if len(n.lacking) > 0 {
		to.note("all rows lack what some rows of the data of the run have: %s", strings.Join(n.lacking, ", "))
	}
	if len(n.unknown) > 0 {
		to.note("words that the data of the run have not, which count as none: %s", strings.Join(n.unknown, ", "))
	}
	switch {
	case n.scaled == nil:
	case *n.scaled == 0:
		to.note("the vectors of these rows are all zeros: expected vectors like those that the model learned from")
	default:
		to.note("the vectors of these rows are %s times as large as those that the model learned from: expected the same units",
			text.Digits(*n.scaled))
	}
	if len(n.far) > 0 {
		to.note("far outside of the target's samples, so that predictions are a guess there: %s", text.List(n.far, mostListed))
	}
	if len(n.outside) > 0 {
		to.note("many rows lie outside of the target's samples; the error that the run states is not of such rows: %s",
			text.List(n.outside, mostListed))
	}
}

// printRead prints what is odd about the rows as rows.
func (n *predictNotes) printRead(to *output) {
	rows := func(count int64, one, more string) string {
		return report.Count(float64(count)) + " " + text.Form(int(min(count, 2)), "row "+one, "rows "+more)
	}
	r := n.read
	if r.Rows == 0 {
		to.note("0 rows to predict: what is written has the columns alone")
	}
	switch {
	case r.Blank > 0 && r.Blank == r.Nameless && r.FirstBlank == r.FirstNameless:
		to.note("%s blank, the first %s: predicted as if all features had their means, with the number of the row for an id; leave such rows out",
			rows(r.Blank, "is", "are"), text.OneLine(r.FirstBlank, 200))
		r.Nameless = 0
	case r.Blank > 0:
		to.note("%s none of the features, the first %s: predicted as if all had their means", rows(r.Blank, "has", "have"),
			text.OneLine(r.FirstBlank, 200))
	}
	if r.Nameless > 0 {
		to.note("%s no id, the first %s: the number of the row, from 0, stands in its place", rows(r.Nameless, "has", "have"),
			text.OneLine(r.FirstNameless, 200))
	}
	if r.Repeated > 0 {
		to.note("%s the id of an earlier row, the first %q", rows(r.Repeated, "has", "have"), text.OneLine(r.FirstRepeated, 80))
	}
}
