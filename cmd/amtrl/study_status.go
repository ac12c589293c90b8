package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// studyTables are the options of a command that prints what there is of a study.
type studyTables struct {
	studyFolder
	output
}

func (o *studyTables) addFlags(set *flags.Set, json string) {
	o.studyFolder.addFlags(set)
	set.Group(groupOutput)
	o.addJSON(set, json)
	o.addQuiet(set)
	o.addFormat(set)
}

func (o *studyTables) check() error { return o.checkOutput() }

type studyStatusOptions struct{ studyTables }

func (o *studyStatusOptions) addFlags(set *flags.Set) { o.studyTables.addFlags(set, "the status") }

func (o *studyStatusOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	st, err := s.Status()
	if err != nil {
		return err
	}
	if o.json.V {
		return o.emitJSON(st)
	}
	t := report.Table{Header: []string{"source", "rows", "in the data", "answered", "pending", "skipped", "spent"}, Right: []int{1, 2, 3, 4,
		5, 6}}
	for _, r := range st.Sources {
		name := r.Source
		if r.Target {
			name += " (target)"
		}
		t.Rows = append(t.Rows, []string{name, report.Count(float64(r.Rows)), strconv.Itoa(r.Known), strconv.Itoa(r.Answered),
			strconv.Itoa(r.Pending), strconv.Itoa(r.Skipped), number(r.Spent)})
	}
	text := t.Render(o.format) + fmt.Sprintf("\nspent %s on sources in %d asks: %d rows answered, %d pending, %d skipped\n",
		number(st.Spent), st.Asks,
		st.Answered, st.Pending, st.Skipped)
	if st.Late > 0 {
		text += fmt.Sprintf("%d pending rows are past their time: the next ask or tell gives them back\n", st.Late)
	}
	text += lastRoundText(st)
	if st.Fresh {
		text += "labels came since: the next ask, or amtrl study fit, learns from them\n"
	}
	if st.Next != nil {
		text += fmt.Sprintf("the next round is expected to lower it by %s\n", st.Next)
	}
	return o.emit(text)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// lastRoundText says what the last round found.
func lastRoundText(st *study.Status) string {
	if st.Last == nil {
		return "nothing was learned yet\n"
	}
	r := st.Last
	text := fmt.Sprintf("round %d, from %d labels of sources and %d of the target:", r.Round, r.Labelled, r.Target)
	for i, m := range r.Result.Methods {
		text += fmt.Sprintf(" %s %s", m.Method, report.Score(m.Score.Metric, m.Score.Value))
		if i < len(r.Held) {
			text += fmt.Sprintf(" (on %d held-out rows %s)", r.Test, report.Score(r.Held[i].Metric, r.Held[i].Value))
		}
		text += ","
	}
	text = strings.TrimSuffix(text, ",")
	if len(r.Result.Methods) > 0 && r.Result.Methods[0].Score.LeaveOneOut {
		text += ", each sample of the target left out"
	}
	if r.Result.Recommended != "" {
		text += "; the model is that of " + r.Result.Recommended
	}
	return text + "\n"
}

type studyPlanOptions struct {
	studyTables
	budget flags.Value[float64]
}

func (o *studyPlanOptions) addFlags(set *flags.Set) {
	o.studyTables.addFlags(set, "the plan")
	set.Group(groupSampling)
	set.Number(&o.budget, "budget", "what the rows of sources may cost", 0).DefaultText = "that of the study"
}

func (o *studyPlanOptions) check() error {
	if o.budget.Set && !(o.budget.V > 0) {
		return flags.Misuse("--budget is %g: expected a positive number", o.budget.V)
	}
	return o.studyTables.check()
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
	if o.json.V {
		return o.emitJSON(p)
	}
	t := report.Table{Header: []string{"source", "rows", "cost", "reason"}, Right: []int{1, 2}}
	for _, r := range p.Sources {
		t.Rows = append(t.Rows, []string{r.Source, strconv.Itoa(r.Rows), number(r.Cost), r.Reason})
	}
	text := t.Render(o.format) + "\n"
	if p.Gain == nil {
		text += "what it would bring is known after two rounds\n"
	} else {
		text += fmt.Sprintf("expected to lower the error of the target's samples, each left out, by %s, from %d rounds\n", p.Gain,
			p.Gain.Rounds)
		text += fmt.Sprintf("twice the labels, a cost of %s in all: by %s\n", number(p.Double.To), p.Double)
	}
	return o.emit(text + fmt.Sprintf("the theory's bound with all samples, excess risk by Theorem 4.1, whatever the data: %.3g\n", p.Bound))
}

type studyRelevanceOptions struct{ studyTables }

func (o *studyRelevanceOptions) addFlags(set *flags.Set) {
	o.studyTables.addFlags(set, "what each round found")
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
	text := studyShares(&last, o.top.V).Render(o.format)
	const most = 8
	first := max(0, len(rounds)-most)
	t := report.Table{Header: []string{"share after round"}}
	for i := first; i < len(rounds); i++ {
		t.Header, t.Right = append(t.Header, strconv.Itoa(rounds[i].Round)), append(t.Right, i-first+1)
	}
	for k, source := range last.Result.Sources {
		if k == o.top.V {
			break
		}
		line := []string{source.Source}
		for _, r := range rounds[first:] {
			line = append(line, shareIn(&r, source.Source))
		}
		t.Rows = append(t.Rows, line)
	}
	return o.emit(text + "\n" + t.Render(o.format))
}

// studyShares is the table of the sources with the largest relevance after a round.
func studyShares(r *runs.RoundScore, top int) report.Table {
	t := report.Table{
		Title:  fmt.Sprintf("relevance for target %s after round %d", r.Result.Target, r.Round),
		Header: []string{"source", "nu", "share", "90 % interval", "samples"}, Right: []int{1, 2, 3, 4},
	}
	for k, s := range r.Result.Sources {
		if k == top {
			break
		}
		between := "-"
		if i := s.SourceIntervals; i != nil {
			between = fmt.Sprintf("%.1f to %.1f %%", 100*i.ShareLow, 100*i.ShareHigh)
		}
		t.Rows = append(t.Rows, []string{s.Source, fmt.Sprintf("%+.4f", s.Nu), fmt.Sprintf("%.1f %%", 100*s.Share), between,
			strconv.Itoa(s.Samples)})
	}
	return t
}

// shareIn is the share of a source after a round.
func shareIn(r *runs.RoundScore, source string) string {
	for _, s := range r.Result.Sources {
		if s.Source == source {
			return fmt.Sprintf("%.1f %%", 100*s.Share)
		}
	}
	return "-"
}

type studyVerifyOptions struct{ studyLearning }

func (o *studyVerifyOptions) addFlags(set *flags.Set) {
	o.studyLearning.addFlags(set, "what was replayed")
}

func (o *studyVerifyOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	choice, err := o.device.open(o.device.threads.V, &o.output)
	if err != nil {
		return err
	}
	defer choice.Device.Close()
	v, err := s.Verify(ctx, choice.Device, func(round int) { o.note("learning round %d again", round) })
	if err != nil {
		return err
	}
	if o.json.V {
		return o.emitJSON(v)
	}
	return o.emit(fmt.Sprintf("%d events replayed: %d asks and %d rounds are what the journal says\n", v.Events, v.Asks, v.Rounds))
}
