package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// studyTables holds the options of a command that prints the state of a study.
type studyTables struct {
	prints string // what --json prints
	studyFolder
	output
}

func (o *studyTables) addFlags(set *flags.Set) {
	o.studyFolder.addFlags(set)
	o.addGroup(set, o.prints, o.addQuiet, o.addFormat)
}

type studyStatusOptions struct{ studyTables }

func (o *studyStatusOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	st, err := s.Status()
	if err != nil {
		return err
	}
	t := report.Table{Right: []int{1, 2, 3, 4, 5, 6}}
	t.Header = []string{"source", "rows", "in the data", "answered", "pending", "skipped", "spent"}
	for _, r := range st.Sources {
		name := r.Source
		if r.Target {
			name += " (target)"
		}
		t.Rows = append(t.Rows, []string{name, text.Count(r.Rows), text.Count(r.Known), text.Count(r.Answered), text.Count(r.Pending),
			text.Count(r.Skipped), text.Amount(r.Spent)})
	}
	of := study.SourceStatus{}
	for _, r := range st.Sources {
		if r.Target {
			of = r
		}
	}
	out := t.Render(o.format)
	if len(st.Columns) > 0 {
		out += "\n" + columnTable(st.Columns, of.Columns).Render(o.format)
	}
	says := fmt.Sprintf("spent %s on sources in %s: %s answered, %s pending, %s skipped",
		text.Amount(st.Spent), text.Several(st.Asks, "ask"), text.Several(st.Answered-of.Answered, "row"),
		text.Count(st.Pending-of.Pending), text.Count(st.Skipped-of.Skipped))
	if of.Answered+of.Pending+of.Skipped > 0 {
		says += fmt.Sprintf("; of the target %s answered, %s pending, %s skipped", text.Count(of.Answered), text.Count(of.Pending),
			text.Count(of.Skipped))
	}
	says += "\n"
	if st.Late > 0 {
		says += fmt.Sprintf("late, and given back by the next ask or tell: %s\n", text.Several(st.Late, "pending row"))
	}
	says += lastRoundText(s, st)
	switch {
	case st.Waits && s.Settings.RoundBudget > 0:
		says += "labels came since: amtrl study fit learns from them, or the next ask once hardly a row is pending\n"
	case st.Waits:
		says += "labels came since: amtrl study fit learns from them, or the next ask once no row is pending\n"
	case st.Fresh:
		says += "labels came since: the next ask, or amtrl study fit, learns from them\n"
	}
	if st.Next != nil {
		says += fmt.Sprintf("the next round is expected to lower the %s of %s by %s\n",
			pipeline.MetricTitle(st.Next.Metric), pipeline.Active, st.Next)
	}
	if st.Unknown != "" {
		says += st.Unknown + "\n"
	}
	return o.emitEither(st, wrapped(out+"\n"+o.lines(says)))
}

// columnTable returns a table with a row for each column of labels: the counts over the sources, then over the target.
func columnTable(all, target []study.ColumnStatus) *report.Table {
	t := &report.Table{Right: []int{1, 2, 3, 4, 5, 6}, Header: []string{"column", "in the data", "answered", "lacking",
		"target in the data", "answered", "lacking"}}
	for c, a := range all {
		of := target[c]
		line := []string{a.Column}
		for _, n := range []int{a.Known - of.Known, a.Answered - of.Answered, a.Lacking - of.Lacking, of.Known, of.Answered, of.Lacking} {
			line = append(line, text.Count(n))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// lastRoundText describes the result of the last round of a study.
func lastRoundText(s *study.Study, st *study.Status) string {
	if st.Last == nil {
		return "nothing was learned yet\n" + farLine(st)
	}
	r := st.Last
	out := fmt.Sprintf("round %d, from %s of sources and %s of the target:", r.Round, text.Several(r.Labelled, "label"), text.Count(r.Target))
	if r.Result.Groups > 0 {
		out = fmt.Sprintf("%s in %s:", strings.TrimSuffix(out, ":"), text.Several(r.Result.Groups, "group"))
	}
	intervals := ""
	for i, m := range r.Result.Methods {
		out += fmt.Sprintf(" %s %s", m.Method, report.Score(m.Score.Metric, m.Score.Value))
		if m.Interval != nil {
			out += fmt.Sprintf(" (%s)", report.Ends(m.Score.Metric, m.Interval))
			intervals = ", with 95 % intervals"
		}
		if i < len(r.Held) {
			out += fmt.Sprintf(" (on %s %s)", text.Several(r.Test, "held-out row"), report.Score(r.Held[i].Metric, r.Held[i].Value))
		}
		out += ","
	}
	out = strings.TrimSuffix(out, ",") + intervals
	if len(r.Result.Methods) > 0 && r.Result.Methods[0].Score.LeaveOneOut {
		if r.Result.Groups == 0 {
			out += ", each sample of the target left out"
		} else {
			out += ", each group of the target's samples left out"
		}
	}
	if r.Result.Recommended != "" {
		out += fmt.Sprintf("; the model is that of %s (%s)", r.Result.Recommended, r.Result.Reason)
	}
	if c := r.Result.Contradicted; c != nil {
		out += "\n" + report.Contradiction(r.Result.Methods[0].Score.Metric, c)
	}
	if line := report.Earlier(&r.Result); line != "" {
		out += fmt.Sprintf("\n%s; amtrl predict %s has its model", line, text.ShellQuote(s.RoundDir(r.Result.Earlier.Round)))
	}
	if r.Result.Doubt != "" {
		out += "\nbut " + r.Result.Doubt
	}
	if d := r.Result.Dominant; d != nil {
		out += "\n" + d.String()
	}
	for _, line := range pipeline.OverlookedLines(r.Result.Overlooked) {
		out += "\nbut " + line
	}
	if r.Result.ConvAdvised {
		out += "\nnote: these are images, and with this many labels a network usually errs less: amtrl study new with --representation conv, " +
			"then amtrl study tell with what amtrl study export " + text.ShellQuote(s.Dir) + " writes"
	}
	for _, odd := range r.Result.Warnings {
		out += "\nnote: " + odd.String()
	}
	return out + "\n" + farLine(st)
}

type studyPlanOptions struct {
	studyTables
	budget flags.Value[float64]
}

func (o *studyPlanOptions) addFlags(set *flags.Set) {
	o.studyTables.addFlags(set)
	set.Group(groupSampling)
	set.Number(&o.budget, "budget", "what the rows of sources may cost", 0).DefaultText = "that of the study"
}

func (o *studyPlanOptions) check() error {
	o.budget.CommandLineOnly(0) // AMTRL_BUDGET is meant for runs
	return cmp.Or(flags.Positive(o.budget), o.output.check())
}

func (o *studyPlanOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	p, err := s.Plan(o.budget.V)
	if err != nil {
		return err
	}
	var says string
	if p.Gain == nil {
		says = p.Unknown + "\n"
	} else {
		says = fmt.Sprintf("expected to lower the %s of %s on the target's samples, each left out, by %s, from %s\n",
			pipeline.MetricTitle(p.Gain.Metric), pipeline.Active, p.Gain, text.Several(p.Gain.Rounds, "round"))
		more := "twice the labels"
		if p.Double.To < 2*p.Double.From {
			more = "all rows that are left"
		}
		says += fmt.Sprintf("%s, which cost %s with those that the data had: by %s\n", more, text.Amount(p.Double.To), p.Double)
	}
	says += fmt.Sprintf("the theory's bound with all samples, excess risk by Theorem 4.1, whatever the data: %.3g\n", p.Bound)
	return o.emitEither(p, wrapped(drawText(p.Sources, o.format)+"\n"+o.lines(says)))
}

func drawText(list []study.PlanSource, format report.Format) string {
	t := report.Table{Header: []string{"source", "rows", "cost", "reason"}, Right: []int{1, 2}}
	for _, r := range list {
		t.Rows = append(t.Rows, []string{r.Source, text.Count(r.Rows), text.Amount(r.Cost), r.Reason})
	}
	return t.Render(format)
}

type studyRelevanceOptions struct{ studyTables }

func (o *studyRelevanceOptions) addFlags(set *flags.Set) {
	o.studyTables.addFlags(set)
	o.addTop(set)
}

func (o *studyRelevanceOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	rounds, err := s.Relevance()
	if err != nil {
		return err
	}
	if o.json.V {
		return o.emitJSON(rounds)
	}
	if len(rounds) == 0 {
		return fmt.Errorf("%s has learned nothing yet: expected labels, then amtrl study fit", o.dir)
	}
	last := rounds[len(rounds)-1]
	const most = 8
	rounds = rounds[max(0, len(rounds)-most):]
	t := report.Table{Header: []string{"share after round"}}
	for i, r := range rounds {
		t.Header, t.Right = append(t.Header, strconv.Itoa(r.Round)), append(t.Right, i+1)
	}
	for _, source := range last.Result.Sources[:min(o.top.V, len(last.Result.Sources))] {
		line := []string{source.Source}
		for _, r := range rounds {
			line = append(line, shareIn(&r, source.Source))
		}
		t.Rows = append(t.Rows, line)
	}
	shown := last.Result.Sources[:min(o.top.V, len(last.Result.Sources))]
	due := report.DueTo(shown, last.Result.Sources)
	if due != "" {
		due += "\n\n"
	}
	return o.emit(wrapped(studyShares(&last, o.top.V).Render(o.format) + "\n" + due + t.Render(o.format)))
}

// studyShares returns the table of the top sources by relevance after a round.
func studyShares(r *runs.RoundScore, top int) report.Table {
	t := report.Table{
		Title:  fmt.Sprintf("relevance for target %s after round %d", r.Result.Target, r.Round),
		Header: []string{"source", "nu", "share", "90 % interval", "samples"}, Right: []int{1, 2, 3, 4},
	}
	for _, s := range r.Result.Sources[:min(top, len(r.Result.Sources))] {
		between := "-"
		if i := s.SourceIntervals; i != nil {
			between = fmt.Sprintf("%.1f to %.1f %%", 100*i.ShareLow, 100*i.ShareHigh)
		}
		t.Rows = append(t.Rows, []string{s.Source, fmt.Sprintf("%+.4f", s.Nu), fmt.Sprintf("%.1f %%", 100*s.Share), between,
			text.Count(s.Samples)})
	}
	return t
}

func shareIn(r *runs.RoundScore, source string) string {
	for _, s := range r.Result.Sources {
		if s.Source == source {
			return fmt.Sprintf("%.1f %%", 100*s.Share)
		}
	}
	return "-"
}

type studyVerifyOptions struct{ studyLearning }

func (o *studyVerifyOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	open := func(learned string) (backend.Device, error) {
		d := o.device
		if d.backend.V == "auto" && !d.device.Given {
			d.backend.V = learned
		}
		choice, err := d.open(d.threads.V, &o.output)
		return choice.Device, err
	}
	v, err := s.Verify(ctx, open, func(round int) { o.note("learning round %d again", round) })
	if err != nil {
		return err
	}
	return o.emitEither(v, fmt.Sprintf("%s replayed: %s and %s are what the journal says\n", text.Several(v.Events, "event"),
		text.Several(v.Asks, "ask"), text.Several(v.Rounds, "round")))
}

func farLine(st *study.Status) (lines string) {
	for _, line := range oddLines(st.OddLabels) {
		lines += line + "\n"
	}
	return lines
}

// oddLines lists labels that are far outside of those before, labels that lie far from the others of their source and are probably slips,
// and sources whose labels are probably in another unit.
func oddLines(odd study.OddLabels) (lines []string) {
	for _, o := range odd.Outside {
		lines = append(lines, fmt.Sprintf("%s: where they are in another unit, correct them and tell them again with --replace, and where they "+
			"are right with --checked", o))
	}
	if len(odd.Far) > 0 {
		lines = append(lines, fmt.Sprintf("far from the other labels of their sources, and a few such decide what is learned: %s; where they "+
			"are slips, tell them again with --replace, and where they are right with --checked", text.List(odd.Far, mostListed)))
	}
	for i, u := range odd.OtherUnits {
		if i == mostListed {
			lines = append(lines, fmt.Sprintf("the labels of %s more are in another unit too", text.Several(len(odd.OtherUnits)-i, "source")))
			break
		}
		lines = append(lines, fmt.Sprintf("%s: where they are in another unit, tell them again with --replace, and where they are right with "+
			"--checked", u))
	}
	return lines
}
