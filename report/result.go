package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// compared returns the methods that the first one is compared with. There are none where the samples are too few to
// choose a method and no rows compare the methods, as where the target's single sample is left out.
func compared(r *runs.Result) []runs.MethodResult {
	if r.TooFew && len(r.Comparisons) == 0 {
		return nil
	}
	return r.Methods[1:]
}

// Result renders what a run found: the score of each method, how they compare, and the top most relevant sources.
func Result(r *runs.Result, top int, f Format) string {
	parts, metric := []string{methodTable(r).Render(f)}, metricOf(r)
	if len(r.Methods) > 1 {
		a := r.Methods[0]
		var lines []string
		for _, b := range compared(r) {
			lines = append(lines, verdict(metric, a, b, r.Comparisons))
		}
		if r.Recommended != "" {
			lines = append(lines, fmt.Sprintf("recommended, and saved: %s (%s)", r.Recommended, r.Reason))
			if line := besideIn(r.Method(r.Recommended)); line != "" {
				lines = append(lines, line)
			}
		}
		if c := r.Contradicted; c != nil {
			lines = append(lines, Contradiction(metric, c))
		}
		if r.Doubt != "" {
			lines = append(lines, "but "+r.Doubt)
		}
		if r.Dominant != nil {
			lines = append(lines, r.Dominant.String())
		}
		for _, line := range pipeline.OverlookedLines(r.Overlooked) {
			lines = append(lines, "but "+line)
		}
		parts = append(parts, Lines(f, lines...))
	}
	if line := Earlier(r); line != "" {
		parts = append(parts, Lines(f, "note: "+line))
	}
	if r.ConvAdvised {
		parts = append(parts, Lines(f, convLine.String()))
	}
	n := max(0, min(top, len(r.Sources)))
	sources := Table{
		Title:  fmt.Sprintf("the %d most relevant of %s (%s)", n, text.Several(len(r.Sources), "source"), firstMethod(r)),
		Header: []string{"source", "nu", "share", "samples"},
		Right:  []int{1, 2, 3},
	}
	sure := n > 0 && r.Sources[0].SourceIntervals != nil
	if sure {
		sources.Header, sources.Right = []string{"source", "nu", "share", "90 % interval", "samples"}, []int{1, 2, 3, 4}
	}
	next, drawn := nextShares(r.Sources)
	most := 0.0
	for _, v := range next[:n] {
		most = max(most, v)
	}
	if f == Text && most > 0 {
		sources.Header = append(sources.Header, "next budget")
	}
	for i, s := range r.Sources[:n] {
		row := []string{s.Source, fmt.Sprintf("%+.4f", s.Nu), percent(s.Share)}
		if u := s.SourceIntervals; u != nil {
			row = append(row, fmt.Sprintf("%.1f to %s", 100*u.ShareLow, percent(u.ShareHigh)))
		}
		row = append(row, Count(float64(s.Samples)))
		if f == Text && most > 0 {
			if s.AllDrawn {
				row = append(row, "all drawn")
			} else {
				row = append(row, bar(next[i]/most))
			}
		}
		sources.Rows = append(sources.Rows, row)
	}
	if n > 0 {
		parts = append(parts, sources.Render(f))
		var below []string
		if sure && firstMethod(r) == pipeline.Active {
			below = append(below, "The intervals are for these numbers of samples. Of sources that are alike, another run may choose others.")
		}
		if floats.Sum(drawn) > 0 && floats.Max(next) == 0 {
			below = append(below, noneLeft+".")
		}
		if dear(r) {
			below = append(below, "Shares are parts of the cost: the same share buys fewer rows where they are dearer.")
		}
		if due := DueTo(r.Sources[:n], r.Sources); due != "" {
			below = append(below, due)
		}
		if len(below) > 0 {
			parts = append(parts, Lines(f, below...))
		}
	}
	return strings.Join(parts, "\n")
}

// Lines renders sentences: as lines for a terminal, and as the items of a list in Markdown, where lines would become one paragraph.
func Lines(f Format, sentences ...string) string {
	item := ""
	if f == Markdown {
		item = "- "
	}
	var out strings.Builder
	for _, s := range sentences {
		out.WriteString(item + s + "\n")
	}
	return out.String()
}

func metricOf(r *runs.Result) string {
	metric := "score"
	for _, m := range r.Methods {
		metric = m.Score.Metric
	}
	return metric
}

// dear reports whether samples have costs other than 1.
func dear(r *runs.Result) bool {
	return slices.ContainsFunc(r.Methods, func(m runs.MethodResult) bool { return m.Cost != float64(m.Samples) })
}

// methodTable returns a table of what each method scored, with its 95 % interval where there is one, and what it drew.
func methodTable(r *runs.Result) Table {
	metric := metricOf(r)
	costs := dear(r)
	sure := slices.ContainsFunc(r.Methods, func(m runs.MethodResult) bool { return m.Interval != nil })
	t := Table{Title: fmt.Sprintf("target %s of %s, seed %d", r.Target, r.Data, r.Seed),
		Header: []string{"method", pipeline.MetricTitle(metric)}}
	if sure {
		t.Header = append(t.Header, "95 % interval")
	}
	t.Header = append(t.Header, "source samples", "epochs", "iterations")
	if costs {
		t.Header = append(t.Header, "cost")
	}
	for i := range t.Header[1:] {
		t.Right = append(t.Right, i+1)
	}
	for _, m := range r.Methods {
		row := []string{m.Method, Score(metric, m.Score.Value)}
		if sure {
			row = append(row, Ends(metric, m.Interval))
		}
		row = append(row, Count(float64(m.Samples)), strconv.Itoa(m.Epochs), strconv.Itoa(m.Iterations))
		if costs {
			row = append(row, Count(m.Cost))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Ends formats the ends of the interval of a score, "" for nil.
func Ends(metric string, i *[2]float64) string {
	switch {
	case i == nil:
		return ""
	case metric == pipeline.MetricError:
		return strings.TrimSuffix(Score(metric, i[0]), " %") + " to " + Score(metric, i[1])
	}
	return Score(metric, i[0]) + " to " + Score(metric, i[1])
}

// bar draws a fraction with block characters, in eighths of a block. Anything above 0 has at least one eighth.
func bar(part float64) string {
	const width = 12
	eighths := int(math.Round(min(1, max(0, part)) * width * 8))
	if part > 0 {
		eighths = max(1, eighths)
	}
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return out
}

// verdict compares the scores of two methods; less is better. Where the first is worse, the interval changes its sign
// with the difference, so that it holds the number that is printed before it.
func verdict(metric string, a, b runs.MethodResult, all []pipeline.Comparison) string {
	d := b.Score.Value - a.Score.Value
	c := pipeline.Comparison{}
	if i := slices.IndexFunc(all, func(c pipeline.Comparison) bool { return c.A == a.Method && c.B == b.Method }); i >= 0 {
		c = all[i]
	}
	if c.Interval != nil && d < 0 {
		c.Interval = &[2]float64{-c.Interval[1], -c.Interval[0]}
	}
	over := fmt.Sprintf(" (no interval%s)", noInterval(c))
	if c.Interval != nil {
		over = fmt.Sprintf(" (95 %% interval %s)", interval(metric, c))
	}
	word := "better"
	switch {
	case d == 0:
		return fmt.Sprintf("%s and %s are equal%s", a.Method, b.Method, over)
	case d < 0:
		word, d = "worse", -d
	}
	return fmt.Sprintf("%s is %s %s than %s%s", a.Method, strings.TrimPrefix(difference(metric, d), "+"), word, b.Method, over)
}

// besideIn returns a line on the part of trees or of a kernel in the predictions of a method, "" for none.
func besideIn(m *runs.MethodResult) string {
	const (
		trees  = "trees follow jumps, and what several columns do together; lines, bends and products of two columns do not"
		kernel = "a Gaussian kernel predicts by the rows that are nearest, which follows classes and effects that no plane divides"
	)
	switch {
	case m.Method == pipeline.Trees:
		return trees
	case m.Method == pipeline.Kernel:
		return kernel
	case len(m.Trees) > 0:
		return fmt.Sprintf("trees have a part of %s in its predictions: %s", partsIn(m.Trees), trees)
	case len(m.Kernel) > 0:
		return fmt.Sprintf("a kernel regression has a part of %s in its predictions: %s", partsIn(m.Kernel), kernel)
	}
	return ""
}

// partsIn says which parts something has in the predictions of columns.
func partsIn(parts []float64) string {
	part := percent(slices.Min(parts))
	if most := percent(slices.Max(parts)); most != part {
		part += " to " + most + ", by column,"
	}
	return part
}

// Earlier returns a sentence that an earlier round was better than the last one, "" where none was.
func Earlier(r *runs.Result) string {
	e := r.Earlier
	if e == nil {
		return ""
	}
	last := r.Methods[0]
	return fmt.Sprintf("round %d of %s, of %s samples, made the target's samples much likelier than the last one, of %s "+
		"(%s, each left out, %s for %s): more samples may not have helped", e.Round, last.Method, Count(float64(e.Samples)),
		Count(float64(last.Samples)), r.Squares(), text.Digits(e.LeaveOneOut), text.Digits(last.LeaveOneOut))
}

// Contradiction returns a sentence that a method is better than the recommended one on held-out rows.
func Contradiction(metric string, c *pipeline.Comparison) string {
	bare, rows, in := *c, Count(float64(c.Rows)), inGroups(c.Groups)
	bare.Rows = 0
	return fmt.Sprintf("but over the %s test rows%s %s is %s better than %s (95 %% interval %s)", rows, in, c.A,
		strings.TrimPrefix(difference(metric, c.Difference), "+"), c.B, interval(metric, bare))
}

func firstMethod(r *runs.Result) string {
	if len(r.Methods) == 0 {
		return "no method"
	}
	return r.Methods[0].Method
}

// Relevance renders a table of nu and share of the most relevant sources of one model, at most top of them.
func Relevance(title string, sources []runs.SourceResult, top int, f Format) string {
	t := Table{Title: title, Header: []string{"source", "nu", "share"}, Right: []int{1, 2}}
	for _, s := range sources[:max(0, min(top, len(sources)))] {
		t.Rows = append(t.Rows, []string{s.Source, fmt.Sprintf("%+.4f", s.Nu), percent(s.Share)})
	}
	return t.Render(f)
}
