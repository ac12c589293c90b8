package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report/chart"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// How much a figure shows of a long list; the table behind it has all.
const (
	mostBars  = 15
	mostRanks = 8
	// mostWarnings is the number of warnings that stand above all figures.
	mostWarnings = 4
)

// RunPage returns the report of a run. The command is the one that repeats the run.
func RunPage(f *runs.Finished, command Command) *Page {
	return newRunPage(f).page(runs.KindRun, command)
}

// StudyPage returns the report of a study, on what its rounds found. The command is the one that computes the rounds
// again.
func StudyPage(l *study.Learned, command string) *Page {
	r, last := newRunPage(l.Run), l.Rounds[len(l.Rounds)-1]
	r.learned = l
	p := r.page(runs.KindStudy, Command{Line: command})
	line := say("This is a study: ", several(len(l.Rounds), "round"), ", ", several(last.Labelled, "labelled row"),
		" of sources, which cost ", count(last.Cost), " with those that the data had, and ", whole(last.Target), " of the target.")
	for i, s := range last.Held {
		if i == 0 {
			line = append(line, say(" On ", several(last.Test, "held-out row"), ": ")...)
		} else {
			line = append(line, plain(", "))
		}
		line = append(line, say(last.Result.Methods[i].Method, " ", score(s.Metric, s.Value))...)
	}
	if len(last.Held) > 0 {
		line = append(line, plain("."))
	}
	p.Answer.Lines = append(p.Answer.Lines, line)
	return p
}

func newRunPage(f *runs.Finished) *runPage {
	r := &runPage{Finished: f, metric: f.Result.Methods[0].Score.Metric}
	for _, e := range f.Epochs {
		if e.Method == f.Epochs[0].Method {
			r.rounds = append(r.rounds, e)
		}
	}
	return r
}

func (r *runPage) page(kind runs.Kind, command Command) *Page {
	f := r.Finished
	p := &Page{Kind: string(kind), Title: oneLine(f.Result.Target)}
	samples := f.Identity.Config.TargetSamples
	if r.learned != nil { // a study has those that were asked for beside these too
		samples = r.learned.Rounds[len(r.learned.Rounds)-1].Target
	}
	p.Under = say("target of ", name(f.Result.Data), ", ", several(samples, "target sample"), ", ",
		several(len(f.Sources), "source"), ", seed ", code(strconv.FormatUint(f.Result.Seed, 10)))
	p.Answer = r.answer()
	p.Parts = append(p.Parts, r.methods())
	if len(f.Result.Sources) > 0 && r.rounds[len(r.rounds)-1].Samples > 0 {
		p.Parts = append(p.Parts, r.sources(), r.labels())
		if len(r.rounds) > 1 && len(r.Sources) > 1 {
			p.Parts = append(p.Parts, r.movement())
		}
	}
	if len(r.Evaluations) > 0 {
		p.Parts = append(p.Parts, r.predictions())
	}
	for _, of := range r.Coefficients {
		if part := coefficientPart(of); part != nil {
			p.Parts = append(p.Parts, *part)
		}
	}
	p.Parts = append(p.Parts, provenance(&f.Identity, command, f.Seconds, f.Result.Files))
	return p
}

type runPage struct {
	*runs.Finished
	metric string
	// rounds are the rounds of the first method.
	rounds []pipeline.Epoch
	// learned is what a study found, nil for a run.
	learned *study.Learned
}

// chosen returns the result of the method whose model is saved.
func (r *runPage) chosen() *runs.MethodResult {
	return r.Result.Method(cmp.Or(r.Result.Recommended, r.Result.Methods[0].Method))
}

// spend returns a figure of the score of each method against what was spent.
func (r *runPage) spend() Figure {
	axis := "source samples"
	if dear(&r.Result) {
		axis = "cost of source samples"
	}
	sheet := Sheet{ID: "spend-table", Columns: []string{"method", "round", axis, pipeline.MetricTitle(r.metric), "from", "to"}}
	add := func(method string, round Cell, x float64, levels bool, y float64, i *[2]float64) {
		cells := []Cell{plain(method), round, count(x), score(r.metric, y), {}, {}}
		if levels {
			cells[2] = Cell{}
		}
		if i != nil {
			cells[4], cells[5] = score(r.metric, i[0]), score(r.metric, i[1])
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
	}
	var lines []chart.Line
	others := false // whether earlier rounds were measured on other rows
	for _, m := range r.Result.Methods {
		rounds := r.roundsOf(m)
		var l chart.Line
		for i, q := range rounds {
			if i == 0 || q.Rows != rounds[i-1].Rows {
				if i > 0 {
					lines = append(lines, l)
				}
				l = chart.Line{Name: m.Method, Color: methodColor(m.Method), Level: m.Samples == 0}
				if q.Rows > 0 {
					l.Name, others = fmt.Sprintf("%s, on %s", m.Method, text.Several(q.Rows, "row")), true
				}
			}
			l.Points = append(l.Points, point(q.Cost, q.Value, q.Interval))
			add(l.Name, whole(i+1), q.Cost, l.Level, q.Value, q.Interval)
		}
		lines = append(lines, l)
		rounds = slices.DeleteFunc(slices.Clone(rounds), func(q runs.RoundResult) bool { return q.Rows > 0 })
		if guess := r.extrapolated(m, rounds); guess != nil {
			l := chart.Line{Name: m.Method + ", extrapolated", Color: methodColor(m.Method), Guess: true}
			for i, q := range guess {
				l.Points = append(l.Points, point(q.Cost, q.Value, q.Interval))
				if i == len(guess)-1 {
					add(l.Name, Cell{}, q.Cost, false, q.Value, q.Interval)
				}
			}
			lines = append(lines, l)
		}
	}
	lines, above := withoutFar(lines)
	desc, note := fmt.Sprintf("%s of each method against %s; the table below has the numbers.", pipeline.MetricTitle(r.metric), axis), ""
	if others {
		note = "Some rounds were measured on other rows of the target than the last: their scores cannot be compared with its own, and the " +
			"curve begins anew. "
	}
	for _, l := range above {
		note += fmt.Sprintf("%s lies far above the others and is not drawn. ", upper(l.Name))
	}
	if slices.ContainsFunc(lines, func(l chart.Line) bool { return !l.Level && len(l.Points) == 1 }) {
		note += "Methods of one round stand beside the place of their spend. "
	}
	if slices.ContainsFunc(lines, func(l chart.Line) bool { return l.Guess }) {
		note += "The dashed line is no measurement: it "
		if r.learned == nil {
			note += "continues the straight line through the rounds, in logarithms, to twice the spend."
		} else {
			note += "lowers the score of the last round by what amtrl study plan expects of twice its labels, or of all rows that are left. " +
				"Its interval (90 %) is that of the expected gain alone."
		}
	}
	return Figure{ID: "spend", Sheet: sheet, Note: note,
		Chart: chart.Lines(upper(pipeline.MetricTitle(r.metric))+" against spend", desc, countAxis(axis), scoreAxis(r.metric, ""), lines)}
}

// upper returns a title with its first letter in upper case.
func upper(s string) string {
	first := s[:min(1, len(s))]
	return strings.ToUpper(first) + s[len(first):]
}

func point(x, y float64, i *[2]float64) chart.Point {
	p := chart.Point{X: x, Y: y}
	if i != nil {
		p.Low, p.High, p.Band = i[0], i[1], true
	}
	return p
}

// helped names the regressions that help the predictions in the last round of a method but not in the round before, or
// returns "".
func (r *runPage) helped(m runs.MethodResult) string {
	var was, is string
	for _, e := range r.Epochs {
		if e.Method == m.Method {
			was, is = is, e.BaseModels()
		}
	}
	if m.Epochs < 2 || was != "" {
		return ""
	}
	return is
}

// roundsOf returns the rounds of a method: from result.json, or from epochs.jsonl where that has none.
func (r *runPage) roundsOf(m runs.MethodResult) []runs.RoundResult {
	if len(m.Rounds) > 0 {
		return m.Rounds
	}
	if m.Epochs < 2 {
		return []runs.RoundResult{{Samples: m.Samples, Cost: m.Cost, Value: m.Score.Value, Interval: m.Interval}}
	}
	var out []runs.RoundResult
	for _, e := range r.Epochs {
		if e.Method == m.Method {
			out = append(out, runs.RoundResult{Samples: e.Samples, Cost: e.Cost, Value: e.Score.Value})
		}
	}
	return out
}

// withoutFar splits off the lines of which every point is more than twice as high as all of the first line.
func withoutFar(lines []chart.Line) (near, far []chart.Line) {
	most := 0.0
	for _, p := range lines[0].Points {
		most = math.Max(most, p.Y)
	}
	for i, l := range lines {
		if i > 0 && most > 0 && !slices.ContainsFunc(l.Points, func(p chart.Point) bool { return p.Y <= 2*most }) {
			far = append(far, l)
		} else {
			near = append(near, l)
		}
	}
	return near, far
}

func (r *runPage) sources() Part {
	list := r.Result.Sources
	next, drawn := nextShares(list)
	full := floats.Sum(drawn) > 0
	sheet := Sheet{ID: "shares-table", Columns: []string{"source", "share", "share from", "share to", "relevance",
		"relevance from", "relevance to", "rows drawn", "rows there", "cost of those drawn"}}
	if full {
		sheet.Columns = append(sheet.Columns, "of the next budget")
	}
	asked, of := r.asked(), "share of the next budget"
	if asked > 0 {
		sheet.Columns = append(sheet.Columns, "rows of the next ask")
		of = "share of the cost of all rows"
	}
	var bars []chart.Bar
	for _, i := range falling(len(list), func(i int) float64 { return list[i].Share }) {
		s := list[i]
		cells := []Cell{name(s.Source), part(s.Share), {}, {}, places(s.Nu, 4), {}, {}, whole(s.Samples), whole(r.Available[s.Source]),
			count(r.Cost[s.Source])}
		if u := s.SourceIntervals; u != nil {
			cells[2], cells[3] = part(u.ShareLow), part(u.ShareHigh)
			cells[5], cells[6] = places(u.NuLow, 4), places(u.NuHigh, 4)
		}
		if full {
			cells = append(cells, part(next[i]))
		}
		if asked > 0 {
			cells = append(cells, whole(s.Next))
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
	}
	for _, i := range falling(len(list), func(i int) float64 { return next[i] })[:min(mostBars, len(list))] {
		b := chart.Bar{Name: oneLine(list[i].Source), Value: next[i]}
		if u := list[i].SourceIntervals; u != nil && !full {
			b.Low, b.High, b.Band = u.ShareLow, u.ShareHigh, true
		}
		bars = append(bars, b)
	}
	about := say("The share is the part of the next budget that the relevance after the last round gives a source. It counts " +
		"all rows: where those drawn are kept, as in a study, a source gets what it lacks of its part. ")
	if asked > 0 {
		about = say("The share is the part that the relevance after the last round gives a source of the cost of all rows, those drawn and " +
			"those of the next ask. An ask is for what a source lacks of its part: the numbers below have its rows, for a round's budget. ")
	}
	if r.rowCosts() != nil {
		about = append(about, plain("It is a part of the cost: of two sources with equal shares the one with dearer rows gets fewer. "))
	}
	interval := "Its interval (90 %)"
	if full {
		interval = "Its interval (90 %), in the numbers below,"
	}
	about = append(about, plain(interval+" is over other target samples and other rows of the sources, as many of each as here: of sources "+
		"that are alike, another run may choose others."))
	if due := DueTo(list, list); due != "" {
		about = append(about, plain(" "+due))
	}
	if full {
		about = append(about, plain(" Of some sources no row is left: the bars are what the others get of the next budget, more than "+
			"their shares."))
	}
	return Part{ID: "sources", Title: "Where the next labels go",
		Text: []Sentence{about},
		Figures: []Figure{{ID: "shares", Sheet: sheet, Note: ofAll(len(bars), len(list)), Chart: chart.Bars(upper(of),
			"Bars of the sources with the largest shares, with 90 % intervals where they are known.", "source",
			percentAxis(of), bars)}}}
}

// rowCosts returns what a row of each source costs, or nil where all cost the same, or one is not known because no row of its
// source was drawn.
func (r *runPage) rowCosts() []float64 {
	list, costs := r.Result.Sources, make([]float64, len(r.Result.Sources))
	for i, s := range list {
		if costs[i] = r.Cost[s.Source] / float64(s.Samples); !(costs[i] > 0) {
			return nil
		}
	}
	if !slices.ContainsFunc(costs, func(c float64) bool { return math.Abs(c-costs[0]) > 1e-9*costs[0] }) {
		return nil
	}
	return costs
}

// ofAll says that a figure shows some of all sources, "" where it shows all.
func ofAll(shown, all int) string {
	if shown == all {
		return ""
	}
	return "Only the first sources are drawn; the numbers have all."
}

func (r *runPage) labels() Part {
	last := r.rounds[len(r.rounds)-1]
	order := falling(len(r.Sources), func(m int) float64 { return float64(last.Counts[m]) })
	sheet := Sheet{ID: "labels-table", Columns: []string{"source"}}
	var names []string
	for i := range r.rounds {
		names = append(names, fmt.Sprintf("round %d", i+1))
	}
	sheet.Columns = append(append(sheet.Columns, names...), "in all", "rows there", "all drawn")
	var stacks []chart.Stack
	full := 0
	for k, m := range order {
		src := r.Sources[m]
		st := chart.Stack{Name: oneLine(src), Full: last.Counts[m] > 0 && last.Counts[m] >= r.Available[src]}
		cells, before := []Cell{name(src)}, 0
		for _, e := range r.rounds {
			st.Parts = append(st.Parts, float64(e.Counts[m]-before))
			cells = append(cells, whole(e.Counts[m]-before))
			before = e.Counts[m]
		}
		drawn := ""
		if st.Full {
			drawn = Yes
			full++
		}
		sheet.Rows = append(sheet.Rows, row1(append(cells, whole(last.Counts[m]), whole(r.Available[src]), plain(drawn))...))
		if k < mostBars {
			stacks = append(stacks, st)
		}
	}
	line := say("By the end of the last round of ", last.Method, ", ", several(last.Samples, "row"), " of the sources ",
		text.Form(last.Samples, "was", "were"), " labelled.")
	if full > 0 {
		line = append(line, plain(" Of some sources every row was drawn: they can give no more, and their share goes to others."))
	}
	return Part{ID: "labelled", Title: "What was labelled in each round", Text: []Sentence{line},
		Figures: []Figure{{ID: "labels", Sheet: sheet, Note: ofAll(len(stacks), len(order)), Chart: chart.Stacks("Rows labelled per source",
			"Bars of the sources with the most rows, one shade for each round, the last the darkest.", "source",
			countAxis("rows labelled"), names, stacks, "all rows drawn")}}}
}
