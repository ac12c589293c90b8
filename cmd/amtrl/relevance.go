package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
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
		return usageOf(err)
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
	title := fmt.Sprintf("relevance %s (rank %d) and allocation %s for target %s, %d sources",
		cfg.Relevance.Kind, res.Rank, cfg.Allocation.Rule, res.Target, len(rows))
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

// estimate reads the model and estimates nu and the shares, in order of falling |nu|.
func (o *relevanceOptions) estimate(cfg *pipeline.Config) (*relevanceResult, error) {
	if cfg.Relevance.Kind == pipeline.Transfer {
		return o.measured(cfg)
	}
	model, err := runs.ReadModel(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no model.safetensors: expected the folder of a finished run", o.dir)
	}
	if err != nil {
		return nil, err
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
	return res.share(cfg, model.Sources, nu), nil
}

// measured is the relevance of the run itself: a model does not have the samples of the target that it was measured on.
func (o *relevanceOptions) measured(cfg *pipeline.Config) (*relevanceResult, error) {
	run, err := runs.ReadRun(o.dir)
	if err != nil {
		return nil, err
	}
	if kind := run.Identity.Config.Relevance.Kind; kind != pipeline.Transfer {
		return nil, flags.Misuse("--relevance %s is measured on the target's samples, which a model does not have: expected %s, %s, %s, or the "+
			"run to have it, found %s", pipeline.Transfer, pipeline.MinNorm, pipeline.Ridge, pipeline.L1, kind)
	}
	res := &relevanceResult{Target: run.Result.Target, Method: run.Result.Methods[0].Method}
	var names []string
	var nu []float64
	for _, s := range run.Result.Sources {
		if names, nu = append(names, s.Source), append(nu, s.Nu); s.Nu != 0 {
			res.Rank++
		}
	}
	return res.share(cfg, names, nu), nil
}

// share adds the relevance and the share of each source, in order of falling |nu|.
func (r *relevanceResult) share(cfg *pipeline.Config, names []string, nu []float64) *relevanceResult {
	r.Relevance, r.Allocation = cfg.Relevance, cfg.Allocation
	costs := make([]float64, len(nu))
	for i, name := range names {
		costs[i] = 1
		if v, ok := cfg.Costs[name]; ok {
			costs[i] = v
		}
	}
	for i, share := range cfg.Allocation.Shares(nu, costs) {
		r.Sources = append(r.Sources, sourceShare{names[i], nu[i], share})
	}
	slices.SortStableFunc(r.Sources, func(a, b sourceShare) int { return cmp.Compare(math.Abs(b.Nu), math.Abs(a.Nu)) })
	return r
}

// runSettings are the settings of a run folder, or the default ones where it holds a model alone.
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
	return csv.NewWriter(os.Stdout).WriteAll(rows)
}
