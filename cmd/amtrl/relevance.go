package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

type relevanceOptions struct {
	dir      string
	settings settingOptions
	device   deviceOptions
	csv      flags.Value[bool]
	output
}

func (o *relevanceOptions) addFlags(set *flags.Set) {
	set.Group(groupSampling)
	o.settings.addFlags(set, relevanceSettings...)
	o.device.addFlags(set)
	set.Group(groupOutput)
	o.addTop(set)
	set.Bool(&o.csv, "csv", "print all sources as CSV (source, nu, share) on standard output")
	o.addJSON(set, "all sources")
	o.addQuiet(set)
	o.addFormat(set)
}

func (o *relevanceOptions) readArguments(c *cli.Context) error {
	return takeArguments(c, "expected one argument, the folder of a run, found %d", &o.dir)
}

func (o *relevanceOptions) check() error {
	if o.csv.V && o.json.V && o.csv.Given != o.json.Given {
		o.csv.V, o.json.V = o.csv.Given, o.json.Given
	}
	if o.csv.V && o.json.V {
		return flags.Misuse("--csv and --json exclude each other")
	}
	return cmp.Or(o.device.check(), o.output.check())
}

func (o *relevanceOptions) run(context.Context) error {
	cfg, err := runSettings(o.dir)
	if err != nil {
		return err
	}
	if err := o.settings.override(&cfg); err != nil {
		return err
	}
	if cfg.Relevance.Kind == pipeline.RelevanceAuto {
		cfg.Relevance = pipeline.Relevance{Kind: pipeline.Ridge, Rcond: -1, Tau: 1}
	}
	if err := cfg.Validate(); err != nil {
		return asUsageError(err)
	}
	res, err := o.estimate(&cfg)
	if err != nil {
		return err
	}
	switch {
	case o.json.V:
		return o.emitJSON(res)
	case o.csv.V:
		return o.emitCSV(res.Sources)
	}
	rows := make([]runs.SourceResult, len(res.Sources))
	for i, s := range res.Sources {
		rows[i] = runs.SourceResult{Source: s.Source, Nu: s.Nu, Share: s.Share}
	}
	title := fmt.Sprintf("relevance %s (rank %d) and allocation %s for target %s by method %s, %s",
		cfg.Relevance.Kind, res.Rank, res.Allocation.Rule, res.Target, res.Method, text.Several(len(rows), "source"))
	return o.emit(report.Relevance(title, rows, o.top.V, o.format))
}

type relevanceResult struct {
	Target     string              `json:"target"`
	Method     string              `json:"method"`
	Relevance  pipeline.Relevance  `json:"relevance"`
	Allocation pipeline.Allocation `json:"allocation"`
	Rank       int                 `json:"rank"`
	Sources    []sourceShare       `json:"sources"`
}

type sourceShare struct {
	Source string  `json:"source"`
	Nu     float64 `json:"nu"`
	Share  float64 `json:"share"`
}

// estimate returns nu and the shares for the run's first method, to which relevance.csv belongs, in order of falling |nu|. If the
// settings of the relevance are those of the run, nu is the run's own; otherwise it is estimated from the model of that method.
func (o *relevanceOptions) estimate(cfg *pipeline.Config) (*relevanceResult, error) {
	if study.Is(o.dir) {
		return nil, flags.Misuse("%s is a study: amtrl study relevance %s says what its last round found", o.dir, text.ShellQuote(o.dir))
	}
	run, err := runs.ReadRun(o.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.fromModel(cfg, runs.ReadModel, &pipeline.Epoch{})
	case err != nil:
		return nil, err
	}
	method, own := run.Identity.Config.Methods[0], run.Identity.Config.Relevance
	var round *pipeline.Epoch
	for i := range run.Epochs {
		if run.Epochs[i].Method == method {
			round = &run.Epochs[i]
		}
	}
	if round == nil {
		return nil, fmt.Errorf("%s: epochs.jsonl: expected an epoch of method %s, found none", o.dir, method)
	}
	if cfg.Relevance == own {
		res := &relevanceResult{Target: run.Result.Target, Method: method, Rank: round.NuRank}
		return res.share(cfg, run.Sources, round), nil
	}
	if cfg.Relevance.Kind == pipeline.Transfer {
		return nil, flags.Misuse("--relevance %s is measured on the target's samples, which a model does not have: expected %s, %s, %s, or the "+
			"run to have it, found %s", pipeline.Transfer, pipeline.MinNorm, pipeline.Ridge, pipeline.L1, own.Kind)
	}
	return o.fromModel(cfg, func(dir string) (*pipeline.Model, error) {
		model, err := runs.ReadMethodModel(dir, method)
		if err == nil && !slices.Equal(model.Sources, run.Sources) {
			err = fmt.Errorf("%s: the model of method %s: expected the %d sources of the run, found others", dir, method, len(run.Sources))
		}
		return model, err
	}, round)
}

// fromModel estimates nu from the heads of the model that read returns, and the shares as if that nu had been the relevance of round.
func (o *relevanceOptions) fromModel(cfg *pipeline.Config, read func(dir string) (*pipeline.Model, error), round *pipeline.Epoch) (
	*relevanceResult, error) {
	model, err := read(o.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s has no model.safetensors: expected the folder of a finished run", o.dir)
	case err != nil:
		return nil, err
	case !slices.ContainsFunc(model.Heads, func(v float32) bool { return v != 0 }):
		return nil, fmt.Errorf("%s: expected the heads of sources, found the model of method %s, which has none", o.dir, model.Method)
	}
	choice, err := o.device.open(o.device.threads.V, &o.output)
	if err != nil {
		return nil, err
	}
	defer choice.Device.Close()
	q, err := choice.Device.NewQueue()
	if err != nil {
		return nil, err
	}
	nu, rank, err := model.Relevance(q, cfg.Relevance)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.dir, err)
	}
	res := &relevanceResult{Target: model.Target, Method: model.Method, Rank: rank}
	return res.share(cfg, model.Sources, &pipeline.Epoch{Nu: nu, Own: round.Own, Match: round.Match, MatchByChance: round.MatchByChance}), nil
}

// share fills in the relevance and the share of each source after round, in order of falling |nu|, and returns r.
func (r *relevanceResult) share(cfg *pipeline.Config, names []string, round *pipeline.Epoch) *relevanceResult {
	r.Relevance = cfg.Relevance
	costs := make([]float64, len(names))
	for i, name := range names {
		costs[i] = cfg.Cost(name)
	}
	r.Allocation = cfg.Allocation.For(costs)
	for i, share := range r.Allocation.SharesAfter(round, costs) {
		r.Sources = append(r.Sources, sourceShare{names[i], round.Nu[i], share})
	}
	slices.SortStableFunc(r.Sources, func(a, b sourceShare) int { return cmp.Compare(math.Abs(b.Nu), math.Abs(a.Nu)) })
	return r
}

// runSettings returns the configuration of a run folder, or the default one if the folder holds only a model.
func runSettings(dir string) (pipeline.Config, error) {
	id, err := runs.ReadIdentity(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return pipeline.NewConfig(pipeline.PresetDefault)
	}
	return id.Config, err
}

func (o *relevanceOptions) emitCSV(sources []sourceShare) error {
	rows := [][]string{{"source", "nu", "share"}}
	for _, s := range sources {
		rows = append(rows, []string{s.Source, text.Number(s.Nu), text.Number(s.Share)})
	}
	raw, err := runs.EncodeCSV(rows)
	if err != nil {
		return err
	}
	return o.emit(string(raw))
}
