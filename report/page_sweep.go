package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report/chart"
	"github.com/amtrl/amtrl/runs"
)

// SweepPage returns the report of the sweep in a folder, with its identity and summary. The command is the one that
// repeats the sweep.
func SweepPage(dir string, id *runs.Identity, s *runs.Summary, command Command) (*Page, error) {
	d, err := readSweep(dir, id, s)
	if err != nil {
		return nil, err
	}
	p := &Page{Kind: string(runs.KindSweep), Title: oneLine(id.Data.Name)}
	p.Under = say(several(len(id.Targets), "target"), ", ", several(id.Config.TargetSamples, "sample"), " of each, ",
		several(len(d.sources), "source"), ", ", several(len(id.Seeds), "seed"), ", ", several(len(d.budgets), "budget"))
	if p.Answer = d.answer(); d.advised {
		p.Answer.Lines = append(p.Answer.Lines, convLine)
	}
	if len(d.methods) > 1 && (len(d.targets) > 1 || len(s.Comparisons) == 0) {
		p.Parts = append(p.Parts, d.differences())
		if len(d.targets) > 1 {
			p.Parts = append(p.Parts, d.histogram())
		}
	}
	if len(d.budgets) > 1 {
		p.Parts = append(p.Parts, d.curves())
	}
	if len(s.Comparisons) > 0 {
		p.Parts = append(p.Parts, d.comparisons())
	}
	if d.anyDrawn() {
		if len(d.methods) > 1 && len(d.targets) > 1 {
			p.Parts = append(p.Parts, d.extremes())
		}
		p.Parts = append(p.Parts, d.relevance())
	}
	p.Parts = append(p.Parts, d.table())
	if d.anyDrawn() && len(d.targets) > 1 {
		p.Parts = append(p.Parts, d.perTarget())
	}
	p.Parts = append(p.Parts, provenance(id, command, 0, s.Files))
	return p, nil
}

// several returns a number with the noun in its form.
func several(n int, what string) Sentence {
	return say(whole(n), " ", text.Form(n, what, what+"s"))
}

func (d *sweepData) anyDrawn() bool {
	return slices.ContainsFunc(d.targets, func(t *targetData) bool { return t.drawn > 0 })
}

// atBudget returns words for the budget, "at the largest" where there are several, and nil where there is none.
func (d *sweepData) atBudget() Sentence {
	if d.budget == 0 {
		return nil
	}
	if len(d.budgets) == 1 {
		return say(" at a budget of ", count(d.budget))
	}
	return say(" at the largest budget, ", count(d.budget))
}

func (d *sweepData) answer() Answer {
	var a Answer
	metric := d.summary.Metric
	var first runs.BudgetComparison
	for _, c := range d.summary.Comparisons {
		if c.Budget == d.budget {
			if a.Verdicts = append(a.Verdicts, judge(metric, c.Comparison)); len(a.Verdicts) == 1 {
				first = c
			}
		}
	}
	if len(a.Verdicts) == 0 {
		m := d.summary.Methods[slices.IndexFunc(d.summary.Methods, func(m runs.MethodSummary) bool { return m.Budget == d.budget })]
		a.Headline = say("The ", meanTitle(metric), " of ", methodWords(m.Method), " is ", score(metric, m.Value), d.atBudget())
		return a
	}
	over := say(" on average over targets")
	if len(d.id.Targets) == 1 {
		over = say(" for ", code(d.id.Targets[0]))
	}
	than := say(" than ", methodWords(first.B), over, d.atBudget())
	switch a.Verdicts[0].Answer {
	case Yes:
		a.Headline = say(upper(methodWords(first.A)), " is better", than)
	case No:
		a.Headline = say(upper(methodWords(first.A)), " is worse", than)
	default:
		who := "The targets do not tell"
		if first.Targets == 1 {
			who = text.Form(max(1, first.Seeds), "One run does not tell", "The runs do not tell")
		}
		a.Headline = say(who, " whether ", methodWords(first.A), " is better", than)
	}
	line := say(upper(meanTitle(metric)), ": ")
	for i, m := range d.summary.Methods {
		if m.Budget == d.budget {
			if i > 0 && len(line) > 2 {
				line = append(line, plain(", "))
			}
			line = append(line, say(m.Method, " ", score(metric, m.Value))...)
		}
	}
	a.Lines = append(a.Lines, append(line, plain(".")))
	switch {
	case first.Targets > 1:
		a.Lines = append(a.Lines, say(upper(methodWords(first.A)), " is the same or better on ", whole(first.SameOrBetter()), " of ",
			whole(first.Targets), " targets. Positive differences below are in its favour."))
	case first.Seeds > 1:
		a.Lines = append(a.Lines, say(upper(methodWords(first.A)), " is the same or better in ", whole(first.SameOrBetter()), " of ",
			whole(first.Seeds), " runs. Positive differences below are in its favour."))
	default:
		a.Lines = append(a.Lines, say("Positive differences below are in favour of ", methodWords(first.A), "."))
	}
	return a
}

// meanTitle returns the title of the mean of scores over targets: a mean of mean squared errors is one too.
func meanTitle(metric string) string {
	title := pipeline.MetricTitle(metric)
	if strings.HasPrefix(title, "mean ") {
		return title
	}
	return "mean " + title
}

// differenceAxis returns an axis of differences of scores.
func differenceAxis(metric string) chart.Axis {
	a := scoreAxis(metric, "")
	a.Name = "difference of " + pipeline.MetricTitle(metric)
	write := a.Text
	a.Text = func(v float64) string { return plus(write(v)) }
	if metric == pipeline.MetricError {
		a.Name = "difference of error (points)"
	}
	return a
}

// differences returns the part with the paper's map: the difference for each target, by corruption and digit.
func (d *sweepData) differences() Part {
	a, b := d.methods[0], d.methods[1]
	metric := d.summary.Metric
	title := fmt.Sprintf("%s over %s by target", upper(a), b)
	desc := fmt.Sprintf("The difference of the %s of %s and %s for each target; blue where %s is better.",
		pipeline.MetricTitle(metric), b, a, a)
	sheet := Sheet{ID: "map-table", Columns: []string{targetBeside(d.methods), a, b, "difference"}}
	var names []string
	var gains []float64
	for _, t := range d.targets {
		names, gains = append(names, t.name), append(gains, t.gain())
		sheet.Rows = append(sheet.Rows, row1(name(t.name), score(metric, t.values[0]), score(metric, t.values[1]),
			number(t.gain(), points(metric)(t.gain()))))
	}
	axis := differenceAxis(metric)
	f := Figure{ID: "map", Sheet: sheet}
	if g := gridOf(names); g != nil {
		f.Chart = chart.Heat(chart.Map{Title: title, Desc: desc, XName: "last part of the name", YName: "target", Columns: oneLines(g.columns),
			Rows: oneLines(g.rows), Values: g.lay(gains), Split: true, Legend: axis.Name, Text: func(v float64) string {
				if metric == pipeline.MetricError {
					return signed(strconv.FormatFloat(100*v, 'f', 1, 64))
				}
				return signed(strconv.FormatFloat(v, 'g', 2, 64))
			}})
	} else {
		f.Chart = chart.Differences(title, desc, "target", axis, extremesOf(names, gains, 40), b+" better", a+" better")
		if len(names) > 40 {
			f.Note = "The figure has the ends of the list, the table all targets."
		}
	}
	return Part{ID: "differences", Title: "Where it helped", Figures: []Figure{f},
		Text: []Sentence{say("Blue: ", a, " is better. Orange: ", b, " is better. Means over seeds", d.atBudget(), ".")}}
}

func oneLines(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = oneLine(n)
	}
	return out
}

// extremesOf returns bars for the largest and the smallest values, n in all, in descending order.
func extremesOf(names []string, values []float64, n int) []chart.Bar {
	var bars []chart.Bar
	for i, v := range values {
		bars = append(bars, chart.Bar{Name: oneLine(names[i]), Value: v})
	}
	slices.SortStableFunc(bars, func(a, b chart.Bar) int { return cmp.Compare(b.Value, a.Value) })
	if len(bars) > n {
		bars = slices.Concat(bars[:n/2], bars[len(bars)-n/2:])
	}
	return bars
}

// histogram returns the part that counts the targets by their scores.
func (d *sweepData) histogram() Part {
	metric := d.summary.Metric
	var all []float64
	for _, t := range d.targets {
		all = append(all, t.values[0], t.values[1])
	}
	edges := chart.Bins(all, 16)
	sheet := Sheet{ID: "scores-table", Columns: []string{pipeline.MetricTitle(metric) + " from", "below", d.methods[0], d.methods[1]}}
	series := []chart.Counts{{Name: d.methods[0]}, {Name: d.methods[1]}}
	for k := range series {
		series[k].Counts = make([]int, len(edges)-1)
		for _, t := range d.targets {
			series[k].Counts[binOf(edges, t.values[k])]++
		}
	}
	for i := range len(edges) - 1 {
		sheet.Rows = append(sheet.Rows, row1(score(metric, edges[i]), score(metric, edges[i+1]), whole(series[0].Counts[i]),
			whole(series[1].Counts[i])))
	}
	return Part{ID: "histogram", Title: "How the targets fare",
		Text: []Sentence{say("Further left is better. Each target counts once, with its mean over seeds", d.atBudget(), ".")},
		Figures: []Figure{{ID: "scores", Sheet: sheet, Chart: chart.Histogram(
			fmt.Sprintf("Targets by their %s", pipeline.MetricTitle(metric)),
			fmt.Sprintf("Two histograms of the targets by %s: %s filled, %s as an outline.",
				pipeline.MetricTitle(metric), d.methods[0], d.methods[1]),
			scoreAxis(metric, ""), countAxis("number of targets"), edges, series)}}}
}

func binOf(edges []float64, v float64) int {
	i, found := slices.BinarySearch(edges, v)
	if !found {
		i--
	}
	return min(max(i, 0), len(edges)-2)
}

// curves returns the part with the mean score of each method over the budgets.
func (d *sweepData) curves() Part {
	metric := d.summary.Metric
	sheet := Sheet{ID: "curves-table", Columns: []string{"method", "budget", "source samples", meanTitle(metric), "runs"}}
	var lines []chart.Line
	for _, m := range d.summary.Methods {
		i := slices.IndexFunc(lines, func(l chart.Line) bool { return l.Name == m.Method })
		if i < 0 {
			i = len(lines)
			lines = append(lines, chart.Line{Name: m.Method, Color: methodColor(m.Method), Level: m.Samples == 0})
		}
		lines[i].Points = append(lines[i].Points, chart.Point{X: m.Samples, Y: m.Value})
		sheet.Rows = append(sheet.Rows, row1(plain(m.Method), count(m.Budget), count(m.Samples), score(metric, m.Value), whole(m.Runs)))
	}
	least, most := math.Inf(1), 0.0
	for i := range lines {
		slices.SortFunc(lines[i].Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		if !lines[i].Level {
			least, most = min(least, lines[i].Points[0].X), max(most, lines[i].Points[len(lines[i].Points)-1].X)
		}
	}
	lines, far := withoutFar(lines)
	note := ""
	for _, l := range far {
		note += fmt.Sprintf("%s lies far above the others and is not drawn. ", upper(l.Name))
	}
	x := countAxis("source samples, mean over targets")
	x.Log = most > 4*least
	return Part{ID: "budgets", Title: "What more samples bring",
		Text: []Sentence{say("Means over targets and seeds. What is certain about the differences is below, by pairs.")},
		Figures: []Figure{{ID: "curves", Sheet: sheet, Note: note, Chart: chart.Lines(upper(meanTitle(metric))+" over budgets",
			fmt.Sprintf("A line for each method through its %s at each budget.", meanTitle(metric)),
			x, scoreAxis(metric, strings.TrimSuffix(meanTitle(metric), pipeline.MetricTitle(metric))), lines)}}}
}

// comparisons returns the part with all pairs of methods that were compared, and their intervals.
func (d *sweepData) comparisons() Part {
	metric := d.summary.Metric
	write := points(metric)
	sheet := Sheet{ID: "pairs-table", Columns: []string{"budget", "method", "compared with", "difference",
		"95 % interval from", "95 % interval to", "better", "same", "worse", "sign test p"}}
	var bars []chart.Bar
	for _, c := range d.summary.Comparisons {
		budget := Cell{}
		label := c.A + " over " + c.B
		if c.Budget > 0 {
			budget = count(c.Budget)
			if len(d.budgets) > 1 {
				label += ", " + Count(c.Budget)
			}
		}
		b := chart.Bar{Name: label, Value: c.Difference}
		cells := []Cell{budget, plain(c.A), plain(c.B), number(c.Difference, write(c.Difference)), {}, {}, whole(c.Better), whole(c.Same),
			whole(c.Worse), number(c.SignP, fmt.Sprintf("%.2g", c.SignP))}
		if c.Interval != nil {
			b.Low, b.High, b.Band = c.Interval[0], c.Interval[1], true
			cells[4], cells[5] = number(b.Low, write(b.Low)), number(b.High, write(b.High))
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
		bars = append(bars, b)
	}
	near := slices.Clone(bars)
	if most := nearest(bars); len(near) > 1 {
		near = slices.DeleteFunc(near, func(b chart.Bar) bool { return math.Abs(b.Value) > 8*most })
	}
	note := ""
	if len(near) < len(bars) {
		note = "Differences that are many times the others' are in the table alone."
	}
	pairing := "Paired over targets, the seeds of a target averaged"
	if d.summary.OverSeeds() {
		pairing = "Paired over seeds"
	}
	return Part{ID: "comparisons", Title: "What is certain",
		Text: []Sentence{say(pairing, "; positive where the first is better. ", d.whatIsCertain())},
		Figures: []Figure{{ID: "pairs", Sheet: sheet, Note: note, Chart: chart.Differences("Paired differences, with 95 % intervals",
			"A point with an interval for each pair of methods and budget.", "methods", differenceAxis(metric), near, "worse", "better")}}}
}

// whatIsCertain returns a sentence on what the interval of a difference is over.
func (d *sweepData) whatIsCertain() string {
	const other = "An interval that leaves out zero is a difference that "
	if len(d.id.Targets) > 1 {
		return other + "other targets like these would show too."
	}
	c := d.summary.Comparisons[0]
	switch {
	case c.Seeds > 0 && c.Rows > 0:
		return other + "this target would show with other seeds and other rows too; other targets may differ."
	case c.Seeds > 0:
		return other + "other seeds would show on these rows too; other rows and other targets may differ."
	}
	return other + "other rows of this target would show with this seed too; other seeds and other targets may differ."
}

// nearest returns a scale for the smaller differences: the median of their sizes, at least 1e-12.
func nearest(bars []chart.Bar) float64 {
	var sizes []float64
	for _, b := range bars {
		sizes = append(sizes, math.Abs(b.Value))
	}
	slices.Sort(sizes)
	return max(sizes[(len(sizes)-1)/2], 1e-12)
}
