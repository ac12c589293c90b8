package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// maxTop bounds --top.
const maxTop = 1 << 30

// Limits on the files of a run folder, which may be anybody's.
const (
	maxSettingsBytes = 64 << 20
	maxModelBytes    = 4 << 30
)

func relevanceCommand() *cli.Command {
	flags := append(settingFlags(relevanceSettings...), deviceFlags()...)
	return &cli.Command{
		Name:      "relevance",
		Usage:     "estimate the relevance of every source again, from the model of a run",
		ArgsUsage: "RUN",
		Description: "RUN is the folder of a run. Without flags the settings are those of the run; with them, relevance\n" +
			"and shares are estimated in another way from the same heads, without fitting anything.",
		Flags: append(flags, topFlag(), formatFlag(),
			boolFlag(categoryOutput, "csv", "print all sources as CSV (source, nu, share) on standard output"),
			jsonFlag("all sources"), quietFlag()),
		Action: relevance,
	}
}

// relevanceResult is what --json prints.
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

func relevance(c *cli.Context) error {
	if c.NArg() != 1 {
		return misuse(c, "expected one argument, the folder of a run, found %d", c.NArg())
	}
	asCSV, asJSON := c.Bool("csv"), c.Bool("json")
	if asCSV && asJSON && given(c, "csv") != given(c, "json") {
		asCSV, asJSON = given(c, "csv"), given(c, "json")
	}
	if asCSV && asJSON {
		return misuse(c, "--csv and --json exclude each other")
	}
	if err := checkDevice(c); err != nil {
		return err
	}
	if err := between(c, "top", 0, maxTop); err != nil {
		return err
	}
	format, err := tableFormat(c)
	if err != nil {
		return err
	}
	dir := c.Args().First()
	cfg, err := runSettings(dir)
	if err != nil {
		return err
	}
	if err := override(c, &cfg); err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return misuse(c, "%s", err)
	}
	res, err := estimate(c, dir, &cfg)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return emitJSON(c, res)
	case asCSV:
		return emitCSV(c, res.Sources)
	}
	rows := make([]runs.SourceResult, len(res.Sources))
	for i, s := range res.Sources {
		rows[i] = runs.SourceResult{Source: s.Source, Nu: s.Nu, Share: s.Share}
	}
	title := fmt.Sprintf("relevance %s (rank %d) and allocation %s for target %s, %d sources", cfg.Relevance.Kind, res.Rank, cfg.Allocation.Rule, res.Target, len(rows))
	return emit(c, report.Relevance(title, rows, c.Int("top"), format))
}

// estimate reads the model and estimates nu and the shares, in order of falling
// |nu|.
func estimate(c *cli.Context, dir string, cfg *pipeline.Config) (*relevanceResult, error) {
	err := checkRegular(filepath.Join(dir, "model.safetensors"), maxModelBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no model.safetensors: expected the folder of a finished run", dir)
	}
	if err != nil {
		return nil, err
	}
	model, err := runs.ReadModel(dir)
	if err != nil {
		return nil, err
	}
	choice, err := openBackend(c, c.Int("threads"))
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
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	costs := make([]float64, len(nu))
	for i, name := range model.Sources {
		costs[i] = 1
		if v, ok := cfg.Costs[name]; ok {
			costs[i] = v
		}
	}
	shares := cfg.Allocation.Shares(nu, costs)
	res := &relevanceResult{Target: model.Target, Method: model.Method, Relevance: cfg.Relevance, Allocation: cfg.Allocation, Rank: rank}
	for i, name := range model.Sources {
		res.Sources = append(res.Sources, sourceShare{name, nu[i], shares[i]})
	}
	slices.SortStableFunc(res.Sources, func(a, b sourceShare) int {
		switch x, y := math.Abs(a.Nu), math.Abs(b.Nu); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return res, nil
}

// runSettings are the settings of a run folder, or the default ones where it
// holds a model alone.
func runSettings(dir string) (pipeline.Config, error) {
	path := filepath.Join(dir, "config.json")
	raw, err := readRegular(path, maxSettingsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return pipeline.NewConfig(pipeline.PresetDefault)
	}
	if err != nil {
		return pipeline.Config{}, err
	}
	id, err := runs.DecodeIdentity(raw)
	if err != nil {
		return pipeline.Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return id.Config, nil
}

func emitCSV(c *cli.Context, sources []sourceShare) error {
	var out strings.Builder
	w := csv.NewWriter(&out)
	rows := [][]string{{"source", "nu", "share"}}
	for _, s := range sources {
		rows = append(rows, []string{s.Source, strconv.FormatFloat(s.Nu, 'g', -1, 64), strconv.FormatFloat(s.Share, 'g', -1, 64)})
	}
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return emit(c, out.String())
}
