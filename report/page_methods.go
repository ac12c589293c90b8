package report

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

func loss(v float64) Cell { return number(v, text.Digits(v)) }

// choice returns how the target's samples chose method m, with the numbers that decided.
func (r *runPage) choice(m *runs.MethodResult) Sentence {
	by, least, apart := r.Result.Criterion, r.Result.Least(), r.Result.Apart()
	above, by1 := "is more than %d above it", "by more than %d"
	line := say("It was chosen by the target's samples, each left out in turn: ")
	if groups := r.Result.Groups; groups > 0 {
		above, by1 = "is so much above it that they are e^%d times as likely", "by so much that they are e^%d times as likely"
		line = say("It was chosen by the target's samples, each of ", several(groups, "group"), " left out in turn, which count as ",
			number(r.Result.CountAs, text.Digits(r.Result.CountAs)), " samples on their own: ")
	}
	if m == apart {
		return append(line, say("the log-loss of their labels, ", loss(m.LogLoss), m.IfWrong(), ", decided. That of the method which "+
			"their mean squared error chooses "+fmt.Sprintf(above, runs.Enough)+".")...)
	}
	name := r.Result.Squares()
	if by == runs.ByLogLoss {
		name = "log-loss of the labels"
	}
	line = append(line, say("the ", name, ", ", loss(by.Of(m)), by.IfWrong(m), ", is ")...)
	switch {
	case m != least:
		whose := "the first method's"
		if m != &r.Result.Methods[0] {
			whose = "better than the first method's"
		}
		line = append(line, say(whose+". That of ", least.Method, ", ", loss(by.Of(least)), by.IfWrong(least),
			", is better by too little to take its place.")...)
	case apart != nil:
		line = append(line, plain("the least of all methods but "+apart.Method+"."))
	default:
		line = append(line, plain("the least of all methods."))
	}
	if apart != nil {
		line = append(line, say(" By the log-loss of their labels, ", loss(m.LogLoss), m.IfWrong(), ", ", apart.Method, " is not better "+
			fmt.Sprintf(by1, runs.Enough)+": its own is ", loss(apart.LogLoss), apart.IfWrong(), ".")...)
	}
	return line
}

func (r *runPage) methods() Part {
	text := say("Less is better. Each point is a model that was fitted on the samples bought so far; " +
		"bands and whiskers are 95 % intervals for other rows like those that it is measured on.")
	for _, m := range r.Result.Methods {
		if help := r.helped(m); help != "" {
			text = append(text, say(" The last round of ", m.Method, " alone has the help of ", help, ": "+
				"the step to it is not of its samples alone.")...)
		}
	}
	return Part{ID: "methods", Title: "What it was worth", Figures: []Figure{r.spend()}, Sheets: []Sheet{r.allMethods()},
		Text: []Sentence{text}}
}

// allMethods returns the table of the methods, with the columns first by which one is chosen.
func (r *runPage) allMethods() Sheet {
	sheet := Sheet{ID: "methods-table", Title: "all methods", Open: true, Rows: make([]Row, len(r.Result.Methods))}
	add := func(title string, cell func(m *runs.MethodResult) Cell) {
		sheet.Columns = append(sheet.Columns, title)
		for i := range r.Result.Methods {
			sheet.Rows[i].Cells = append(sheet.Rows[i].Cells, cell(&r.Result.Methods[i]))
		}
	}
	end := func(at int) func(m *runs.MethodResult) Cell {
		return func(m *runs.MethodResult) Cell {
			if m.Interval == nil {
				return Cell{}
			}
			return score(r.metric, m.Interval[at])
		}
	}
	lossOf := func(of func(m *runs.MethodResult) float64) func(m *runs.MethodResult) Cell {
		return func(m *runs.MethodResult) Cell {
			if of(m) == 0 {
				return Cell{}
			}
			return loss(of(m))
		}
	}
	add("method", func(m *runs.MethodResult) Cell { return plain(m.Method) })
	add(pipeline.MetricTitle(r.metric), func(m *runs.MethodResult) Cell { return score(r.metric, m.Score.Value) })
	add("95 % interval from", end(0))
	add("95 % interval to", end(1))
	if slices.ContainsFunc(r.Result.Methods, func(m runs.MethodResult) bool { return m.LogLoss > 0 }) {
		add("log-loss", lossOf(func(m *runs.MethodResult) float64 { return m.LogLoss }))
		sheet.Note = "The leave-one-out loss is the mean squared error of the target's samples, each left out; the log-loss is that of the " +
			"labels of all of them."
	}
	add("leave-one-out loss", lossOf(func(m *runs.MethodResult) float64 { return m.LeaveOneOut }))
	add("source samples", func(m *runs.MethodResult) Cell { return whole(m.Samples) })
	if dear(&r.Result) {
		add("cost", func(m *runs.MethodResult) Cell { return count(m.Cost) })
	}
	add("rounds", func(m *runs.MethodResult) Cell { return whole(m.Epochs) })
	add("iterations", func(m *runs.MethodResult) Cell { return whole(m.Iterations) })
	return sheet
}
