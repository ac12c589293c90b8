package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs/study"
)

// The exit codes of a study besides those of all commands.
const (
	exitStop          = 3 // another round is not worth its cost, has no rows, or is not in the schedule
	exitContradiction = 4
)

func studyCommands() *cli.Command {
	return &cli.Command{Name: "study", Usage: "ask for labels, take the answers, learn from them, and say when to stop",
		Subcommands: []*cli.Command{
			newCommand(&studyNewOptions{}, "new", "STUDY", "begin a study of data whose sources have few labels or none", ""),
			newCommand(&studyAskOptions{}, "ask", "STUDY",
				"choose the rows to have labelled next",
				"Rows that are pending, answered or given up are never chosen. Answers that came since the last round are\n"+
					"learned from first, unless more than a few rows are still pending (with --budget: any). Exit code 3:\n"+
					"another round is not worth its cost, no row is left, or the schedule is over."),
			newCommand(&studyTellOptions{}, "tell", "STUDY ANSWERS",
				"take labels from a file, all of it or nothing",
				"ANSWERS is a table with the columns id and the label, or what Label Studio exports as JSON, or - for either on\n"+
					"standard input; status skip gives a row up. Rows without a label are left out. Exit code 4: a label\n"+
					"contradicts an earlier one."),
			newCommand(&studyFitOptions{studyLearning{prints: "what the round found"}}, "fit", "STUDY",
				"learn now from all labels so far, whatever is pending", ""),
			newCommand(&studyStatusOptions{studyTables{prints: "the status"}}, "status", "STUDY",
				"say what was spent, what is pending, and what the next round is expected to bring", ""),
			newCommand(&studyPlanOptions{studyTables: studyTables{prints: "the plan"}}, "plan", "STUDY",
				"say what a budget would draw and bring; it changes nothing", ""),
			newCommand(&studyRelevanceOptions{studyTables{prints: "what each round found"}}, "relevance", "STUDY",
				"print the shares of the sources with intervals, and how they moved", ""),
			newCommand(&studyExportOptions{}, "export", "STUDY", "write all rows that have a label or were given up, for tell of another study", ""),
			newCommand(&studyVerifyOptions{studyLearning{prints: "what was replayed"}}, "verify", "STUDY",
				"replay the journal and hold every ask and round against it", ""),
		}}
}

type studyFolder struct {
	dir  string
	data flags.Value[string]
}

func (o *studyFolder) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.data, "data-at",
		"where the data of the study are now, a manifest or a `FOLDER` that import wrote; by default where they were", "")
}

func (o *studyFolder) readArguments(c *cli.Context) error {
	err := takeArguments(c, "expected one argument, the folder of a study, found %d", &o.dir)
	o.dir = filepath.Clean(o.dir)
	return err
}

func (o *studyFolder) open(ctx context.Context, out *output) (*study.Study, error) {
	s, err := study.Open(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w that amtrl study new made", err)
	}
	if err != nil {
		return nil, err
	}
	data := dataOptions{}
	data.data.V = cmp.Or(o.data.V, s.Settings.Data.Path)
	folder, err := data.folder(ctx, out)
	if err != nil {
		return nil, err
	}
	s.Note, s.DataAt = out.note, data.data.V
	err = s.Attach(folder)
	if errors.Is(err, study.ErrOtherData) {
		before := filepath.Join(filepath.Dir(folder), s.Settings.Data.Key) // the import of the data as they were
		if !columnar.Is(before) {
			before = "DATA_AS_THEY_WERE"
		}
		err = fmt.Errorf("%w; for these data begin another study by amtrl study new, and take the answers along: amtrl study export %s "+
			"--data-at %s --out labels.csv, then amtrl study tell", err, text.ShellQuote(o.dir), text.ShellQuote(before))
	}
	return s, err
}

func studyError(err error) error {
	if c, ok := errors.AsType[*study.Contradiction](err); ok {
		if len(c.Rows) > 0 && !c.Among {
			err = fmt.Errorf("%w; --replace takes the new answers", err)
		}
		return &exitStatus{exitContradiction, err}
	}
	if _, ok := errors.AsType[*study.Stop](err); ok || errors.Is(err, study.ErrAllAsked) || errors.Is(err, study.ErrScheduleOver) {
		return &exitStatus{exitStop, err}
	}
	return err
}

// learnedError adds what to do to the error of a study that has learned nothing yet.
func learnedError(dir string, err error) error {
	if errors.Is(err, study.ErrNothingLearned) {
		return fmt.Errorf("%w: expected amtrl study fit %s after labels were told", err, text.ShellQuote(dir))
	}
	return err
}

type studyNewOptions struct {
	studyFolder
	target flags.Value[string]
	round  flags.Value[float64]
	config configOptions
	seed   flags.Value[uint64]
	output
}

func (o *studyNewOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.data, "data", "a manifest such as dataset.yaml, or a `FOLDER` that import wrote (required)", "")
	set.Text(&o.target, "target", "the target, a source; by default that of the manifest", "")
	set.Group(groupSampling)
	set.Number(&o.round, "round-budget", "what the rows of each ask may cost; in its place, --budget and --epochs as of a run", 0)
	o.config.settings.study = true
	o.config.settings.addFlags(set, &budgetSetting)
	o.config.addFlags(set)
	set.Group(groupSampling)
	set.Seed(&o.seed, "seed", "selects all random numbers of the study")
	set.Hide(groupTheory, "schedule", "methods", "nu", "include-target") // which a study refuses
	set.Group(groupOutput)
	o.addQuiet(set)
}

func (o *studyNewOptions) check() error {
	if o.data.V == "" || o.data.V == dataDigits || isSynthetic(o.data.V) {
		return o.badData()
	}
	return flags.Positive(o.round)
}

func (o *studyNewOptions) badData() error {
	return flags.Misuse("--data is %q: expected a manifest such as dataset.yaml, or a folder that import wrote", o.data.V)
}

func (o *studyNewOptions) run(ctx context.Context) error {
	cfg, err := o.config.resolve(nil)
	if err != nil {
		return err
	}
	cfg.Seed = o.seed.V
	total := o.config.settings.impliesBudget()
	if budget := o.config.settings.budget; budget.Given != o.round.Given { // one of them is the environment's and gives way
		total = total && budget.Given
		o.round.CommandLineOnly(0)
	}
	switch {
	case total && o.round.Set:
		return flags.Misuse("--round-budget and --budget exclude each other: the one is for each ask, the other for all")
	case !total && !o.round.Set:
		return flags.Misuse("no budget: expected --round-budget, what each ask may cost, or --budget, what all may")
	}
	for _, f := range []*flags.Origin{o.config.settings.schedule.Origin, o.config.settings.epochs} {
		if f.Given && o.round.Set {
			return flags.Misuse("--%s does nothing with --round-budget: it needs --budget", f.Name)
		}
	}
	if slices.Contains(cfg.given, "methods") && len(study.Methods(cfg.Methods)) < len(cfg.Methods) {
		return flags.Misuse("--methods: a study has no labels for uniform, known and pooled: expected %s and of target, constant, trees "+
			"and kernel", pipeline.Active)
	}
	data := dataOptions{}
	data.data.V = o.data.V
	folder, err := data.folder(ctx, &o.output)
	if err != nil {
		return err
	}
	if !columnar.Is(folder) {
		return o.badData()
	}
	samples := 0
	if slices.Contains(cfg.given, pipeline.SettingTargetSamples) {
		samples = cfg.TargetSamples
	}
	rows, err := columnar.OpenCandidates(folder, o.target.V, samples)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(o.data.V)
	if err != nil {
		return err
	}
	settings, choices := study.NewSettings(version().Version, path, rows, o.round.V, cfg.Config, cfg.given...)
	if err := cfg.checkFiles(&settings.Config, rows.Set); err != nil {
		return err
	}
	o.noteChoices(choices)
	if err := study.Create(o.dir, settings, folder, rows); err != nil {
		return err
	}
	o.noteData(rows.Set)
	if rows.Set.Columns.ID == "" {
		o.note("the rows have no ids, so asks name them by their number in the files, from 0: id: COLUMN in the manifest gives them names")
	}
	o.note("study %s: target %s, %s; amtrl study ask %s says what to label", o.dir, settings.Target,
		text.Several(len(rows.Set.Pools)-1, "source"), text.ShellQuote(o.dir))
	return nil
}

// studyLearning holds the options of a command that learns from a study.
type studyLearning struct {
	prints string // what --json prints
	studyFolder
	device deviceOptions
	output
}

func (o *studyLearning) addFlags(set *flags.Set) {
	o.studyFolder.addFlags(set)
	o.device.addFlags(set)
	o.addGroup(set, o.prints, o.addQuiet)
}

func (o *studyLearning) check() error { return o.device.check() }

type studyFitOptions struct{ studyLearning }

func (o *studyFitOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, &o.output)
	if err != nil {
		return err
	}
	if err := learnRound(ctx, s, &o.device, &o.output); err != nil && !errors.Is(err, study.ErrNothingNew) {
		return err
	} else if err != nil {
		o.note("%s", err)
	}
	st, err := s.Status()
	if err != nil {
		return err
	}
	return o.emitEither(st.Last, wrapped(lastRoundText(s, st)))
}

func learnRound(ctx context.Context, s *study.Study, device *deviceOptions, out *output) error {
	start := time.Now()
	defer out.noteLate("learning from all labels that there are, which may take minutes where they are many")()
	round, err := s.Learn(ctx, func() (backend.Device, error) {
		choice, err := device.open(device.threads.V, out)
		return choice.Device, err
	})
	switch {
	case err == nil:
		out.note("learned round %d in %s", round, time.Since(start).Round(time.Millisecond))
	case errors.Is(err, study.ErrTooFew):
		return fmt.Errorf("%w: amtrl study ask, then tell", err)
	case errors.Is(err, context.Canceled):
		return interruption("no round was learned, and all answers are kept: the same command learns it")
	}
	return err
}
