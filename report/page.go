package report

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report/chart"
	"github.com/amtrl/amtrl/runs"
)

// Page is the content of a report in every form: [Page.HTML], [Page.Markdown], [Page.JSON], [Page.CSV], and its figures
// as files by [Page.WriteFigures].
type Page struct {
	// Kind is run, sweep or study, Title the name of the target or of the data, and Under a line below it.
	Kind, Title string
	Under       Sentence
	Answer      Answer
	Parts       []Part
}

// Answer is the card at the top of a page, for those who read only one thing.
type Answer struct {
	Headline Sentence
	Lines    []Sentence
	Verdicts []Verdict
}

// Verdict answers a question with yes, no or cannot tell.
type Verdict struct {
	Question Sentence
	Answer   string
	Detail   Sentence
}

// The answers to the question of a verdict.
const (
	Yes        = "yes"
	No         = "no"
	CannotTell = "cannot tell"
)

// Part is a section of a page.
type Part struct {
	ID, Title string
	Text      []Sentence
	Figures   []Figure
	// Sheets are the tables of the part that belong to no figure; those with Open are not folded.
	Sheets []Sheet
	// Wide parts span the whole width of the page; others may stand beside each other.
	Wide bool
}

// Figure is a drawing with the numbers behind it.
type Figure struct {
	ID    string
	Chart *chart.Figure
	Sheet Sheet
	// Note is a sentence below the drawing.
	Note string
	// Wide figures span the whole width of the page.
	Wide bool
	// Full is the table that the CSV of the figure holds, where Sheet is only a part of it.
	Full *Sheet
	// Cells is JSON with the cells of a large map, from which the script of the page names the cell under the pointer.
	Cells string
}

// Sheet is a table that keeps its numbers as numbers.
type Sheet struct {
	ID, Title string
	Columns   []string
	Rows      []Row
	Open      bool
	// Note is a sentence below the table.
	Note string
	// Named reports that the title is a name from the data.
	Named bool
}

// Row is a row of a sheet.
type Row struct{ Cells []Cell }

// Sentence is text that may contain numbers and names.
type Sentence []Cell

// Cell is text, a name from the data, or a number with its text.
type Cell struct {
	Text   string
	Value  float64
	Number bool
	Name   bool
	// Link is the anchor of what the cell is about.
	Link string
	// Code reports that the text is for machines, such as a hash.
	Code bool
}

func plain(s string) Cell { return Cell{Text: s} }
func name(s string) Cell  { return Cell{Text: oneLine(s), Name: true} }
func code(s string) Cell  { return Cell{Text: s, Code: true} }

// number returns a cell with a number and its text.
func number(v float64, text string) Cell { return Cell{Text: text, Value: v, Number: true} }

func whole(v int) Cell { return number(float64(v), Count(float64(v))) }

func count(v float64) Cell { return number(v, Count(v)) }

func part(v float64) Cell { return number(v, percent(v)) }

func score(metric string, v float64) Cell { return number(v, Score(metric, v)) }

func places(v float64, n int) Cell { return number(v, signed(strconv.FormatFloat(v, 'f', n, 64))) }

// signed replaces the hyphen of a negative number by a minus sign, and drops the sign of 0.
func signed(s string) string {
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		if strings.Trim(rest, "0.") == "" {
			return rest
		}
		return "−" + rest
	}
	return s
}

// convLine is the advice for runs and sweeps that fitted the linear class to images, of which many were drawn.
var convLine = say("These are images: with this many source samples a network, ", code("--representation conv"),
	", usually errs less.")

// say makes a sentence of strings, cells and sentences.
func say(words ...any) Sentence {
	var s Sentence
	for _, w := range words {
		switch w := w.(type) {
		case string:
			s = append(s, plain(w))
		case Cell:
			s = append(s, w)
		case Sentence:
			s = append(s, w...)
		}
	}
	return s
}

// String returns the sentence as plain text.
func (s Sentence) String() string {
	var out strings.Builder
	for _, c := range s {
		out.WriteString(c.Text)
	}
	return out.String()
}

// oneLine returns a name in which "�" replaces characters that break lines, control a terminal or are not valid text.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufffd' {
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}

func row1(cells ...Cell) Row { return Row{Cells: cells} }

// span returns an interval as words with its ends as numbers, nil where there is no interval.
func span(i *[2]float64, write func(float64) string) Sentence {
	if i == nil {
		return nil
	}
	return say(number(i[0], write(i[0])), " to ", number(i[1], write(i[1])))
}

// points returns a function that formats a difference of scores, errors in points.
func points(metric string) func(float64) string {
	return func(v float64) string {
		if metric == pipeline.MetricError {
			return plus(strconv.FormatFloat(100*v, 'f', 2, 64))
		}
		return plus(strconv.FormatFloat(v, 'g', 4, 64))
	}
}

// plus formats a number with its sign, 0 without one.
func plus(s string) string {
	s = signed(s)
	if strings.Trim(s, "0.") == "" || strings.HasPrefix(s, "−") {
		return s
	}
	return "+" + s
}

// differenceUnit returns the unit that follows a difference of scores.
func differenceUnit(metric string) string {
	if metric == pipeline.MetricError {
		return " points"
	}
	return ""
}

// judge returns whether the first method of a comparison is better.
func judge(metric string, c pipeline.Comparison) Verdict {
	write, first := points(metric), methodWords(c.A)
	switch c.B { // these have the rows of A
	case pipeline.Trees:
		first = "a linear model, averaged with trees where these help,"
	case pipeline.Kernel:
		first = "a linear model, averaged with a kernel regression where that helps,"
	}
	v := Verdict{Question: say("Is ", first, " better than ", methodWords(c.B), "?"), Answer: CannotTell,
		Detail: say(number(c.Difference, write(c.Difference)), differenceUnit(metric))}
	if c.Interval == nil {
		v.Detail = append(v.Detail, say(", no interval", noInterval(c))...)
		return v
	}
	v.Detail = append(v.Detail, say(" (95 % interval ", span(c.Interval, write), ")")...)
	switch {
	case c.Interval[0] > 0:
		v.Answer = Yes
	case c.Interval[1] < 0:
		v.Answer = No
	}
	return v
}

// methodWords returns words for what a method does.
func methodWords(m string) string {
	switch m {
	case pipeline.Active:
		return "sampling by relevance"
	case pipeline.Uniform:
		return "uniform sampling at equal cost"
	case pipeline.Target:
		return "the target's samples alone"
	case pipeline.Constant:
		return "always predicting the same"
	case pipeline.Pooled:
		return "one model over all sources' rows"
	case pipeline.Trees:
		return "boosted trees on the same rows"
	case pipeline.Kernel:
		return "a kernel regression on the same rows"
	case pipeline.Known:
		return "sampling by the known relevance"
	case runs.Recommended:
		return "the recommended method"
	}
	return m
}

// methodColor returns the colour of a method, the same in all figures.
func methodColor(m string) int {
	if m == pipeline.Kernel { // never beside trees
		m = pipeline.Trees
	}
	for i, known := range []string{pipeline.Active, pipeline.Uniform, pipeline.Target, pipeline.Constant, pipeline.Pooled,
		runs.Recommended, pipeline.Known, pipeline.Trees} {
		if m == known {
			return i
		}
	}
	return chart.Series - 1
}

// scoreAxis returns an axis of scores.
func scoreAxis(metric, of string) chart.Axis {
	a := chart.Axis{Name: of + pipeline.MetricTitle(metric)}
	a.Text = func(v float64) string { return signed(strconv.FormatFloat(v, 'g', 3, 64)) }
	if metric == pipeline.MetricError {
		a.Name += " (%)"
		a.Text = func(v float64) string { return signed(strconv.FormatFloat(roundTo(100*v), 'f', -1, 64)) }
	}
	return a
}

// roundTo rounds to four significant digits, which an axis can show.
func roundTo(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return r
}

// percentAxis returns an axis of fractions, in percent.
func percentAxis(of string) chart.Axis {
	tenths := func(v float64) string { return signed(strconv.FormatFloat(100*v, 'f', 1, 64)) }
	return chart.Axis{Name: of + " (%)", Beside: tenths, Text: func(v float64) string { return strings.TrimSuffix(tenths(v), ".0") }}
}

// countAxis returns an axis of numbers of samples.
func countAxis(of string) chart.Axis {
	return chart.Axis{Name: of, Text: Count, Whole: true}
}
