package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/text"
)

// Overlooked is a class that the target has next to no samples of and the sources have many rows of, and that the predictor hardly
// predicts even for rows that are of it.
type Overlooked struct {
	// Column is the column of the label, empty where the data do not name it.
	Column string `json:"column,omitempty"`
	Class  string `json:"class"`
	// Samples counts the target's samples of the class, and Sources the rows of the sources.
	Samples int `json:"samples"`
	Sources int `json:"sources"`
	// Rows is the number of rows of the class that were predicted, Found how many of these are predicted to be of it, and Others the part
	// of rows of classes with more samples that are predicted right. They are the held-out rows of the target where Held says so, else rows
	// that were drawn from the sources.
	Rows   int     `json:"rows"`
	Found  int     `json:"found"`
	Others float64 `json:"others"`
	Held   bool    `json:"held,omitempty"`
}

// OverlookedLines says what was found of the first few classes, and names the others in one line.
func OverlookedLines(all []Overlooked) (lines []string) {
	const most, named = 3, 10
	for i, o := range all {
		if i == most && len(all) > most+1 {
			var names []string
			for _, o := range all[most:] {
				names = append(names, o.class())
			}
			return append(lines, fmt.Sprintf("%s are hardly ever predicted either, with next to no samples of the target: %s",
				text.Count(len(names))+" more classes", text.List(names, named)))
		}
		lines = append(lines, o.String())
	}
	return lines
}

// class names the class.
func (o Overlooked) class() string {
	class := strconv.Quote(text.OneLine(o.Class, 80))
	if o.Column != "" {
		class += " of " + text.OneLine(o.Column, 80)
	}
	return class
}

// String says what was found and what to do.
func (o Overlooked) String() string {
	class, from := "class "+o.class(), "drawn from sources"
	if o.Held {
		from = "held out of the target"
	}
	return fmt.Sprintf("%s is hardly ever predicted: the target has %s of it and the sources have %s; of %s of it %s, %s predicted to be of "+
		"it, and of those of other classes %.0f %% are predicted right: have rows of the target labelled, first those with its highest "+
		"scores by amtrl predict", class, text.Several(o.Samples, "sample"), text.Several(o.Sources, "row"), text.Several(o.Rows, "row"),
		from, text.Count(o.Found)+text.Form(o.Found, " is", " are"), 100*o.Others)
}

const (
	// overlookedSamples is the largest number of independent samples of a class that may be overlooked, and overlookedRows the least number
	// of rows that show it.
	overlookedSamples, overlookedRows = 2, 20
	// overlookedBy is how many times as often the rows of other classes are predicted right.
	overlookedBy = 4
	// mostOverlooked is the largest number of rows of a class that are predicted, fewer where there are more than ten such classes, and
	// of all classes with more samples.
	mostOverlooked = 300
)

// overlooked returns the classes of which the target has at most overlookedSamples and the sources overlookedRows rows, and of whose rows
// the predictor finds so few that
//
//	overlookedBy (found + 2) / (rows + 4) < part of the rows of classes with more samples that it predicts right.
//
// (The 2 and 4 are those of Agresti and Coull 1998: few rows show little.) The rows are held-out rows of the target where enough are of the
// class, and else rows of the sources: where the predictor tells other classes of the sources apart and not this one, it leaves what they
// know of the class unused.
func (l *Learner) overlooked(in Round) (out []Overlooked, err error) {
	p := l.problem
	if p.Config.Sources != SourcesPools || !p.Classifies() || in.Epoch != p.RoundsOf(in.Method) {
		return nil, nil
	}
	outputs := len(p.Target.Tasks)
	for _, group := range p.columnGroups() {
		samples, few := make([]int, len(group)), 0
		for j, c := range group {
			samples[j] = p.groupsOf(in.Target.Rows).Distinct(func(i int) bool { return in.Target.Y[i*outputs+c] == 1 })
			if samples[j] <= overlookedSamples {
				few++
			}
		}
		if len(group) < 2 || few == 0 {
			continue
		}
		var of [2]classRows // of the sources, and held out
		rows, y := p.pooledRows(in.Sources, group, math.MaxInt)
		of[0] = classRowsOf(rows, y, len(group))
		of[1] = classRowsOf(p.targetPoolRows(in.Test.Rows), in.Test.of(group, outputs), len(group))
		var others [2]float64
		for k := range of {
			if others[k], err = l.foundOthers(of[k], group, samples); err != nil {
				return nil, err
			}
		}
		for j, c := range group {
			if samples[j] > overlookedSamples || len(of[0][j]) < overlookedRows {
				continue
			}
			k := 0
			if len(of[1][j]) >= overlookedRows {
				k = 1
			}
			some := evenly(of[k][j], max(overlookedRows, mostOverlooked/((few+9)/10)))
			found, err := l.found(some, group, j)
			if err != nil {
				return nil, err
			}
			if overlookedBy*float64(found+2)/float64(len(some)+4) < others[k] {
				o := p.Set.Tasks[p.Target.Tasks[c]].Output
				out = append(out, Overlooked{o.Name, o.Class, samples[j], len(of[0][j]), len(some), found, others[k], k == 1})
			}
		}
	}
	return out, nil
}

// classRows holds rows by their class.
type classRows [][]poolRow

func classRowsOf(rows []poolRow, y []float64, classes int) classRows {
	out := make(classRows, classes)
	for i, row := range rows {
		if j := slices.Index(y[i*classes:(i+1)*classes], 1); j >= 0 {
			out[j] = append(out[j], row)
		}
	}
	return out
}

// foundOthers returns the part of the rows of classes with more than overlookedSamples that are predicted to be of their class.
func (l *Learner) foundOthers(of classRows, group, samples []int) (float64, error) {
	enough, found, all := 0, 0, 0
	for j := range of {
		if samples[j] > overlookedSamples && len(of[j]) > 0 {
			enough++
		}
	}
	for j, rows := range of {
		if samples[j] <= overlookedSamples {
			continue
		}
		rows = evenly(rows, (mostOverlooked+enough-1)/max(1, enough))
		n, err := l.found(rows, group, j)
		if err != nil {
			return 0, err
		}
		found, all = found+n, all+len(rows)
	}
	return float64(found) / float64(max(1, all)), nil
}

// found returns how many of the rows are predicted to be of class j of a column.
func (l *Learner) found(rows []poolRow, group []int, j int) (n int, err error) {
	u, err := l.model.units()
	if err != nil {
		return 0, err
	}
	for _, of := range byPool(rows) {
		pred, err := l.predictionsIn(of, u)
		if err != nil {
			return 0, err
		}
		heads := make([][]float32, len(group))
		for i, c := range group {
			heads[i] = pred[c]
		}
		for i := range of.rows {
			if PredictedClass(heads, i, l.logOdds) == j {
				n++
			}
		}
	}
	return n, nil
}

// evenly returns at most that many of the rows, from all over the list.
func evenly(rows []poolRow, most int) []poolRow {
	if len(rows) <= most {
		return rows
	}
	out := make([]poolRow, most)
	for i := range out {
		out[i] = rows[i*len(rows)/most]
	}
	return out
}
