package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
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
	if study.Is(o.dir) {
		return flags.Misuse("%s is a study: amtrl study relevance %s says what its last round found", o.dir, text.ShellQuote(o.dir))
	}
	cfg, err := runs.Settings(o.dir)
	if err != nil {
		return err
	}
	if err := o.settings.override(&cfg); err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return asUsageError(err)
	}
	e, err := runs.EstimateRelevance(o.dir, cfg, func() (backend.Device, error) {
		choice, err := o.device.open(o.device.threads.V, &o.output)
		return choice.Device, err
	})
	if errors.Is(err, runs.ErrTransfer) {
		return flags.Misuse("--%s", err)
	} else if err != nil {
		return err
	}
	switch {
	case o.json.V:
		return o.emitJSON(e)
	case o.csv.V:
		return o.emitCSV(e.Sources)
	}
	rows := make([]runs.SourceResult, len(e.Sources))
	for i, s := range e.Sources {
		rows[i] = runs.SourceResult{Source: s.Source, Nu: s.Nu, Share: s.Share}
	}
	title := fmt.Sprintf("relevance %s (rank %d) and allocation %s for target %s by method %s, %s",
		e.Relevance.Kind, e.Rank, e.Allocation.Rule, e.Target, e.Method, text.Several(len(rows), "source"))
	return o.emit(report.Relevance(title, rows, o.top.V, o.format))
}

func (o *relevanceOptions) emitCSV(sources []runs.SourceShare) error {
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
