package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs/study"
)

type studyAskOptions struct {
	studyFolder
	budget, below        flags.Value[float64]
	request, out, layout flags.Value[string]
	targetRows           flags.Value[int]
	expires              flags.Value[string]
	after                time.Duration // the value of expires
	device               deviceOptions
	output
}

func (o *studyAskOptions) addFlags(set *flags.Set) {
	o.studyFolder.addFlags(set)
	set.Group(groupSampling)
	set.Number(&o.budget, "budget", "what the rows of sources may cost", 0).DefaultText = "that of the study"
	set.Int(&o.targetRows, "target-rows", "ask for `N` rows of the target to be further samples, and for no row of a source", 0)
	set.Text(&o.request, "request", "`KEY` of the request: the same key gives the same rows, however often it is asked", "")
	set.Text(&o.expires, "expires", "after how long rows without an answer may be asked for again, such as 3d, 2w or 12h; 0 for never", "0")
	set.Number(&o.below, "stop-below", "ask for nothing and end with exit code 3 where the next round is expected to lower the error by less "+
		"than this: a fraction, such as 0.005 for half a point, or for numbers a squared error", 0)
	o.device.addFlags(set)
	set.Group(groupOutput)
	set.Text(&o.out, "out",
		"`FILE` to write, whose ending .csv, .jsonl or .parquet tells the format; by default only STUDY/asks has the rows", "")
	set.Text(&o.layout, "format", "table, or label-studio for the JSON that Label Studio imports", "table")
	o.addJSON(set, "a summary")
	o.addQuiet(set)
}

func (o *studyAskOptions) check() error {
	o.layout.CommandLineOnly("table") // AMTRL_FORMAT is meant for printed tables, AMTRL_BUDGET for runs
	o.budget.CommandLineOnly(0)
	var err error
	o.after, err = flags.Span(o.expires.V)
	switch {
	case err != nil:
		return flags.Misuse("--expires is %q: %s", o.expires.V, err)
	case o.after > 0 && o.after < time.Second:
		return flags.Misuse("--expires is %s: expected a second or more", o.expires.V)
	case o.below.V < 0 || o.below.V != o.below.V:
		return flags.Misuse("--stop-below is %g: expected a number from 0 on", o.below.V)
	case o.targetRows.V > 0 && (o.budget.Given || o.below.V > 0):
		return flags.Misuse("--target-rows asks for no row of a source: expected neither --budget nor --stop-below with it")
	case o.layout.V == "label-studio" && o.out.V == "":
		return flags.Misuse("--format label-studio needs --out, the file to write")
	}
	if o.out.V != "" && o.layout.V == "table" {
		if _, err := table.NewWriter(o.out.V, nil); err != nil {
			return flags.Misuse("--out: %s", err)
		}
	}
	return cmp.Or(flags.Positive(o.budget), flags.Positive(o.targetRows), flags.OneOf(o.layout, "table", "label-studio"), o.device.check())
}

type askSummary struct {
	Ask     int                `json:"ask"`
	Expires string             `json:"expires,omitempty"`
	Rows    int                `json:"rows"`
	Cost    float64            `json:"cost"`
	Sources []study.PlanSource `json:"sources"`
	File    string             `json:"file"`
	Pending int                `json:"pending_before"`
	Repeat  bool               `json:"repeated,omitempty"`
	// ByRound is the round whose relevance divides the rows, 0 where they are spread evenly. Unlearned says that labels came since.
	ByRound   int      `json:"by_round"`
	Unlearned bool     `json:"unlearned,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

func (o *studyAskOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(o.out.V); o.out.V != "" && err == nil && o.request.V == "" {
		return fmt.Errorf("%s: expected no such file, found one; nothing was asked", o.out.V)
	}
	if _, err := os.Stat(filepath.Dir(o.out.V)); err != nil {
		return fmt.Errorf("--out: %w; nothing was asked", err)
	}
	asked, err := s.Ask(ctx, study.Request{
		Budget: o.budget.V, TargetRows: o.targetRows.V, Key: o.request.V, Expires: o.after, StopBelow: o.below.V,
		Learn: func(ctx context.Context) error { return learnRound(ctx, s, &o.device, &o.output) },
	})
	if err != nil {
		return studyError(err)
	}
	sum := askSummary{Ask: asked.Number, Expires: asked.Expires, Rows: len(asked.Rows), Pending: asked.Pending, Repeat: asked.Repeated}
	sum.File, sum.ByRound, sum.Unlearned, sum.Notes = asked.Path, asked.Round-1, asked.Unlearned, o.notes(asked)
	if o.out.V != "" {
		if err := o.write(asked); err != nil {
			return fmt.Errorf("ask %d is in %s, but not in --out: %w", asked.Number, sum.File, err)
		}
		sum.File = o.out.V
	}
	at := map[string]int{}
	for _, r := range asked.Rows {
		i, there := at[r.Source]
		if !there {
			i = len(sum.Sources)
			at[r.Source], sum.Sources = i, append(sum.Sources, study.PlanSource{Source: r.Source, Reason: r.Reason})
		}
		sum.Sources[i].Rows++
		sum.Sources[i].Cost += r.Cost
		sum.Cost += r.Cost
	}
	list := drawText(sum.Sources, o.output.format)
	if err := o.emitEither(sum, fmt.Sprintf("%s\nask %d: %s in %s\n", list, sum.Ask, text.Several(sum.Rows, "row"), sum.File)); err != nil {
		return err
	}
	for _, note := range sum.Notes {
		o.note("%s", note)
	}
	return nil
}

// notes says what is unexpected about an ask.
func (o *studyAskOptions) notes(asked *study.Asked) (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if asked.Pending > 0 {
		by := "goes by what was learned without them"
		switch fit := "amtrl study fit " + text.ShellQuote(o.dir); {
		case asked.Unlearned && asked.Round == 1:
			by = fmt.Sprintf("is spread as the first: nothing was learned yet: %s learns from what has come", fit)
		case asked.Round == 1:
			by = "is spread as the first: nothing was learned yet"
		case asked.Unlearned:
			by = fmt.Sprintf("goes by round %d, without the answers since: %s learns from what has come", asked.Round-1, fit)
		}
		add("%s of earlier asks %s pending, so this ask %s", text.Several(asked.Pending, "row"), text.Form(asked.Pending, "is", "are"), by)
	}
	if names := asked.Unlabelled; len(names) > 0 {
		add("this ask is spread evenly, as no row of %s has a label: after amtrl study fit %s the next goes by the labels of the others",
			text.List(names, mostListed), text.ShellQuote(o.dir))
	}
	switch {
	case asked.Exhausted && o.targetRows.V > 0:
		add("these are all rows of the target that can be asked for, fewer than %s", text.Count(o.targetRows.V))
	case asked.Exhausted && o.budget.Given:
		add("a budget of %s pays for more: these are all rows of sources that are left", text.Amount(o.budget.V))
	case asked.Exhausted:
		add("the budget pays for more: these are all rows of sources that are left")
	}
	if asked.Unmeasured != "" {
		add("--stop-below did not count: %s", asked.Unmeasured)
	}
	return notes
}

// write writes the rows of an ask to --out. If a repeated request finds the file with the same bytes, it leaves it.
func (o *studyAskOptions) write(asked *study.Asked) error {
	var raw []byte
	if o.layout.V == "label-studio" {
		var err error
		if raw, err = asked.LabelStudio(); err != nil {
			return err
		}
	} else {
		var to bytes.Buffer
		w, err := table.NewWriter(o.out.V, &to)
		if err != nil {
			return err
		}
		columns := study.AskColumns()
		cells := make([]table.Cells, len(columns))
		for c, name := range columns {
			cells[c] = table.Cells{Name: name, Text: make([]string, len(asked.Rows))}
			for i := range asked.Rows {
				cells[c].Text[i] = asked.Record(i)[c]
			}
		}
		if err := cmp.Or(w.Write(len(asked.Rows), cells), w.Close()); err != nil {
			return err
		}
		raw = to.Bytes()
	}
	found, err := atomicfile.ReadFile(o.out.V, math.MaxInt64-1)
	switch {
	case err == nil && bytes.Equal(found, raw):
		return nil
	case err == nil:
		return fmt.Errorf("%s: expected no such file or the rows of the same request, found another", o.out.V)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return atomicfile.WriteThrough(o.out.V, raw)
}

type studyTellOptions struct {
	studyFolder
	answers string
	replace flags.Value[bool]
	checked flags.Value[bool]
	// encoding is that of the answers.
	encoding flags.Value[string]
	output
}

func (o *studyTellOptions) addFlags(set *flags.Set) {
	o.studyFolder.addFlags(set)
	set.Bool(&o.replace, "replace", "let answers replace those that were told before; the journal keeps these")
	set.Bool(&o.checked, "checked", "the numbers of the file were looked at and are right: name them as far from others no more")
	addEncoding(set, &o.encoding)
	o.addGroup(set, "what changed", o.addQuiet)
}

func (o *studyTellOptions) readArguments(c *cli.Context) error {
	err := takeArguments(c, "expected the folder of a study and a file of answers, found %d arguments", &o.dir, &o.answers)
	o.dir = filepath.Clean(o.dir)
	return cmp.Or(err, checkEncoding(o.encoding))
}

func (o *studyTellOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	files, input, err := readStandardInput(ctx, []string{o.answers})
	if err != nil {
		return err
	}
	defer input.remove()
	told, err := s.Tell(ctx, files[0], study.TellOptions{Replace: o.replace.V, Checked: o.checked.V, Encoding: o.encoding.V})
	if err != nil {
		return studyError(input.fault(err))
	}
	for _, line := range oddLines(told.OddLabels) {
		o.note("%s", line)
	}
	if n := len(told.NoColumn); n > 0 && told.Labels+told.Replaced > 0 {
		o.note("the answers have no %s %s: their rows get no such label, and are not asked for again", text.Form(n, "column", "columns"),
			text.List(told.NoColumn, 5))
	}
	withdrawn, checked, unlabelled := "", "", ""
	if told.Withdrawn > 0 {
		withdrawn = fmt.Sprintf(" (%s with a label)", text.Count(told.Withdrawn))
	}
	if o.checked.V {
		checked = fmt.Sprintf("; %s marked as checked", text.Count(told.Checked))
	}
	if n := told.Unlabelled; n > 0 {
		unlabelled = fmt.Sprintf("; %s %s no label", text.Several(n, "row"), text.Form(n, "has", "have"))
	}
	return o.emitEither(told, wrapped(fmt.Sprintf("%s, %s replaced, %s skipped%s, %s unchanged; %s not asked for%s%s; %s %s pending\n",
		text.Several(told.Labels, "label"), text.Count(told.Replaced), text.Count(told.Skipped), withdrawn, text.Count(told.Known),
		text.Count(told.Unasked), checked, unlabelled,
		text.Several(told.Pending, "row"), text.Form(told.Pending, "is", "are"))))
}

type studyExportOptions struct {
	studyFolder
	out flags.Value[string]
	output
}

func (o *studyExportOptions) addFlags(set *flags.Set) {
	o.studyFolder.addFlags(set)
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FILE` to write, whose ending .csv, .jsonl or .parquet tells the format (required)", "")
	o.addQuiet(set)
}

func (o *studyExportOptions) check() error {
	_, err := table.NewWriter(o.out.V, nil)
	return cmp.Or(flags.Required(o.out, "the file to write"), asUsageError(err))
}

func (o *studyExportOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	n, err := s.Export(o.out.V)
	if err != nil {
		return err
	}
	skipped := ""
	if n.Skipped > 0 {
		skipped = fmt.Sprintf(" and %s that %s given up", text.Count(n.Skipped), text.Form(n.Skipped, "was", "were"))
	}
	o.note("wrote %s%s to %s: amtrl study tell takes them to another study of the rows", text.Several(n.Labelled, "labelled row"), skipped,
		o.out.V)
	return nil
}
