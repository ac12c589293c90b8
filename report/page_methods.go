package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

func loss(v float64) Cell { return number(v, text.Digits(v)) }

// choice returns how the target's samples chose method m, with the numbers that decided.
func (r *runPage) choice(m *runs.MethodResult) Sentence {
	by, least, apart := r.Result.Criterion, r.Result.Least(), r.Result.Apart()
	above, by1 := "is more than %s above it", "by more than %s"
	line := say("It was chosen by the target's samples, each left out in turn: ")
	if groups := r.Result.Groups; groups > 0 {
		above, by1 = "is so much above it that they are e^%s times as likely", "by so much that they are e^%s times as likely"
		line = say("It was chosen by the target's samples, each of ", several(groups, "group"), " left out in turn, which count as ",
			number(r.Result.CountAs, text.Digits(r.Result.CountAs)), " samples on their own: ")
	}
	if m == apart {
		return append(line, say("the log-loss of their labels, ", loss(m.LogLoss), m.IfWrong(), ", decided. That of the method which "+
			"their mean squared error chooses "+fmt.Sprintf(above, nats(m))+".")...)
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
			fmt.Sprintf(by1, nats(apart))+": its own is ", loss(apart.LogLoss), apart.IfWrong(), ".")...)
	}
	return line
}

// nats returns by how much the log-loss of a method must be less than another's to take its place.
func nats(m *runs.MethodResult) string { return strconv.Itoa(m.Handicap()) }

func (r *runPage) methods() Part {
	write := func(v float64) string { return Score(r.metric, v) }
	sheet := Sheet{ID: "methods-table", Title: "all methods", Open: true, Columns: []string{"method", pipeline.MetricTitle(r.metric),
		"from (95 % interval)", "to (95 % interval)", "source samples", "cost", "rounds", "iterations", "leave-one-out loss"}}
	likely := slices.ContainsFunc(r.Result.Methods, func(m runs.MethodResult) bool { return m.LogLoss > 0 })
	if likely {
		sheet.Columns = append(sheet.Columns, "log-loss")
		sheet.Note = "The leave-one-out loss is the mean squared error of the target's samples, each left out; the log-loss is that of the " +
			"labels of all of them."
	}
	for _, m := range r.Result.Methods {
		cells := []Cell{plain(m.Method), score(r.metric, m.Score.Value), {}, {}, whole(m.Samples), count(m.Cost), whole(m.Epochs),
			whole(m.Iterations), {}}
		if m.Interval != nil {
			cells[2], cells[3] = number(m.Interval[0], write(m.Interval[0])), number(m.Interval[1], write(m.Interval[1]))
		}
		if m.LeaveOneOut != 0 {
			cells[8] = loss(m.LeaveOneOut)
		}
		if likely {
			cells = append(cells, Cell{})
		}
		if m.LogLoss > 0 {
			cells[9] = loss(m.LogLoss)
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
	}
	text := say("Less is better. Each point is a model that was fitted on the samples bought so far; " +
		"bands and whiskers are 95 % intervals for other rows like those that it is measured on.")
	for _, m := range r.Result.Methods {
		if help := r.helped(m); help != "" {
			text = append(text, say(" The last round of ", m.Method, " alone has the help of ", help, ": "+
				"the step to it is not of its samples alone.")...)
		}
	}
	return Part{ID: "methods", Title: "What it was worth", Figures: []Figure{r.spend()}, Sheets: []Sheet{sheet},
		Text: []Sentence{text}}
}
