package report

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

func (r *runPage) answer() Answer {
	m := r.chosen()
	lines := slices.Concat([]Sentence{r.stated(m)}, r.why(m), r.nextLabels(m), r.caveats())
	return Answer{Headline: r.headline(m), Lines: lines, Verdicts: r.verdicts()}
}

// byRelevance reports whether a method draws by relevance.
func byRelevance(method string) bool { return method == pipeline.Active || method == pipeline.Known }

// chooser returns the method that chose the rows which the model of m is fitted to.
func (r *runPage) chooser(m *runs.MethodResult) *runs.MethodResult {
	if pipeline.IsBeside(m.Method) {
		return &r.Result.Methods[0]
	}
	return m
}

// headline returns what to do next, by the method whose model is saved.
func (r *runPage) headline(m *runs.MethodResult) Sentence {
	choice := " was not tried"
	if slices.ContainsFunc(r.Result.Methods, func(m runs.MethodResult) bool { return byRelevance(m.Method) }) {
		choice = " did not help here"
	}
	switch r.chooser(m).Method {
	case pipeline.Active, pipeline.Known:
		next := r.nextRows()
		alike := len(next) > 1 && slices.Max(next)*float64(len(next)) < nearlyEven
		switch top := withShares(r.Result.Sources, next, 3); {
		case len(top) == 0:
			return say(noneLeft)
		case len(next) == 1:
			return say("Label next: ", name(r.Result.Sources[0].Source), ", the only source")
		case spreadEvenly(r.Result.Sources) && (alike || r.asked() == 0):
			return say("Spread the next labels evenly: nothing tells the sources apart yet")
		case alike:
			return say("Spread the next labels evenly: the sources are about equally relevant")
		default:
			return say("Label next: ", top, r.ofRows())
		}
	case pipeline.Uniform:
		return say("Spread labels evenly over the sources: choosing them by relevance", choice)
	case pipeline.Target:
		return say("Use the target's own samples alone: the sources are not shown to help here")
	case pipeline.Pooled:
		return say("Use one model over the rows of all sources: choosing by relevance", choice)
	}
	return say("Nothing learned here beats always predicting the same")
}

// asked returns the number of rows of the next ask of a study, 0 for a run.
func (r *runPage) asked() (rows int) {
	for _, s := range r.Result.Sources {
		rows += s.Next
	}
	return rows
}

// nextRows divides the next rows over the sources: as the next ask of a study does, or as [nextShares] divides what they cost.
func (r *runPage) nextRows() []float64 {
	if all := r.asked(); all > 0 {
		var parts []float64
		for _, s := range r.Result.Sources {
			parts = append(parts, float64(s.Next)/float64(all))
		}
		return parts
	}
	rows, _ := nextShares(r.Result.Sources)
	costs := r.rowCosts()
	if costs == nil || floats.Sum(rows) == 0 {
		return rows
	}
	floats.Div(rows, costs)
	floats.Scale(1/floats.Sum(rows), rows)
	return rows
}

// ofRows says what the parts of nextRows are of, where they are not those of the budget.
func (r *runPage) ofRows() Sentence {
	switch all := r.asked(); {
	case all > 0:
		return say(" of the ", several(all, "row"), " of an ask after round ", whole(len(r.rounds)))
	case r.rowCosts() != nil:
		return say(" of the rows")
	}
	return nil
}

// stated returns the error of the saved model, and what it was measured on.
func (r *runPage) stated(m *runs.MethodResult) Sentence {
	line := say("The model that is saved is that of ", m.Method, ". Its ",
		pipeline.MetricTitle(r.metric), " is ", score(r.metric, m.Score.Value))
	if m.Interval != nil {
		line = append(line, say(" (95 % interval ", span(m.Interval, func(v float64) string { return Score(r.metric, v) }), ")")...)
	}
	switch {
	case m.Score.LeaveOneOut:
		line = append(line, say(", on ", leftOut(m.Rows, m.Groups))...)
	case m.Rows > 0:
		line = append(line, say(", on ", several(m.Rows, "held-out row"), inGroups(m.Groups), " of the target")...)
	}
	return append(line, plain("."))
}

// nextLabels returns lines on where the next labels would go, and why.
func (r *runPage) nextLabels(m *runs.MethodResult) (lines []Sentence) {
	_, drawn := nextShares(r.Result.Sources)
	next := r.nextRows()
	if due := DueTo(wanted(r.Result.Sources, next, 3), r.Result.Sources); due != "" && byRelevance(r.chooser(m).Method) {
		lines = append(lines, say(due))
	}
	if top := withShares(r.Result.Sources, next, 3); !byRelevance(r.chooser(m).Method) && len(top) > 0 {
		lines = append(lines, say("By relevance, the next labels would go to ", top, r.ofRows(), "."))
	}
	if full := withShares(r.Result.Sources, drawn, 3); len(full) > 0 {
		lines = append(lines, say("No rows are left of ", full, ", to which relevance alone would give these parts of the next budget."))
	}
	return lines
}

// why returns lines on why the method was chosen, and on what it is.
func (r *runPage) why(m *runs.MethodResult) (lines []Sentence) {
	if r.Result.ByLeaveOneOut() {
		lines = append(lines, r.choice(m))
	} else if r.Result.Reason != "" {
		lines = append(lines, say("It is ", r.Result.Reason, "."))
	}
	if line := besideIn(m); m.Method == pipeline.Trees {
		lines = append(lines, say("The model is a sum of trees on the rows that ", r.chooser(m).Method, " drew: "+line+"."))
	} else if m.Method == pipeline.Kernel {
		lines = append(lines, say("The model is a kernel regression on rows that ", r.chooser(m).Method, " drew: "+line+"."))
	} else if line != "" {
		lines = append(lines, say(upper(line)+"."))
	}
	return lines
}

// caveats returns lines on what speaks against the method, and on the data.
func (r *runPage) caveats() (lines []Sentence) {
	if c := r.Result.Contradicted; c != nil {
		write := points(r.metric)
		lines = append(lines, say("But over the ", whole(c.Rows), " test rows"+inGroups(c.Groups)+" ", c.A, " is ", number(c.Difference,
			strings.TrimPrefix(write(c.Difference), "+")), differenceUnit(r.metric), " better (95 % interval ", span(c.Interval, write), ")."))
	}
	if r.Result.Doubt != "" {
		lines = append(lines, say("But ", r.Result.Doubt, "."))
	}
	if d := r.Result.Dominant; d != nil {
		lines = append(lines, say(d.String()))
	}
	for _, line := range pipeline.OverlookedLines(r.Result.Overlooked) {
		lines = append(lines, say("But ", line, "."))
	}
	if line := Earlier(&r.Result); line != "" {
		lines = append(lines, say("But ", line, "."))
	}
	for i, w := range r.Result.Warnings {
		if i == mostWarnings {
			lines = append(lines, say("And ", several(len(r.Result.Warnings)-i, "more warning"), ", which amtrl data check has."))
			break
		}
		lines = append(lines, say("Of the data: ", w.String(), "."))
	}
	if r.Result.ConvAdvised {
		lines = append(lines, convLine)
	}
	return lines
}

// verdicts compares the first method with each other one.
func (r *runPage) verdicts() (out []Verdict) {
	first := r.Result.Methods[0]
	for _, m := range compared(&r.Result) {
		c := pipeline.Comparison{A: first.Method, B: m.Method, Difference: m.Score.Value - first.Score.Value}
		for _, known := range r.Result.Comparisons {
			if known.A == c.A && known.B == c.B {
				c = known
			}
		}
		out = append(out, judge(r.metric, c))
	}
	return out
}
