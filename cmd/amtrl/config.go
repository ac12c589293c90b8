package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

// configFlags are --preset, the settings but those named, and the files.
func configFlags(but ...string) []cli.Flag {
	flags := []cli.Flag{textFlag(categorySettings, "preset", "where settings start from: "+orList(pipeline.Presets()), pipeline.PresetDefault)}
	for _, s := range settings {
		if !slices.Contains(but, s.name) {
			flags = append(flags, s.flag)
		}
	}
	return append(flags,
		textFlag(categorySettings, "costs", "`FILE` of CSV with columns source and cost; a source that is not in it costs 1 a sample", ""),
		textFlag(categorySettings, "nu", "`FILE` of CSV with columns source and nu, the true relevance for method known", ""),
	)
}

// settingFlags are the flags of the named settings.
func settingFlags(names ...string) []cli.Flag {
	var flags []cli.Flag
	for _, s := range settings {
		if slices.Contains(names, s.name) {
			flags = append(flags, s.flag)
		}
	}
	return flags
}

// configuration is a resolved pipeline.Config and the files that entered it.
type configuration struct {
	pipeline.Config
	costs, nu *sourceTable
}

// readConfig resolves the preset and the flags that override it.
func readConfig(c *cli.Context, adjust func(*pipeline.Config)) (configuration, error) {
	cfg, err := pipeline.NewConfig(c.String("preset"))
	if err != nil {
		return configuration{}, misuse(c, "--preset: %s", err)
	}
	if c.IsSet("budget") && !c.IsSet("schedule") {
		cfg.Schedule.Kind = pipeline.ScheduleBudget
	}
	adjust(&cfg)
	if err := override(c, &cfg); err != nil {
		return configuration{}, err
	}
	out := configuration{Config: cfg}
	if path := c.String("costs"); path != "" {
		if out.costs, err = readSourceTable(path, "cost"); err != nil {
			return configuration{}, err
		}
		out.Costs = out.costs.values
	}
	if path := c.String("nu"); path != "" {
		if !slices.Contains(out.Methods, pipeline.Known) {
			return configuration{}, misuse(c, "--nu does nothing without --methods %s", pipeline.Known)
		}
		if out.nu, err = readSourceTable(path, "nu"); err != nil {
			return configuration{}, err
		}
		out.Nu = out.nu.values
	}
	if err := out.Validate(); err != nil {
		return configuration{}, misuse(c, "%s", err)
	}
	return out, nil
}

// override applies the settings that were given, and refuses those that would
// do nothing.
func override(c *cli.Context, cfg *pipeline.Config) error {
	fillConstants(cfg)
	for _, s := range settings {
		if c.IsSet(s.name) {
			if err := s.apply(c, cfg); err != nil {
				return err
			}
		}
	}
	for _, s := range settings {
		if c.IsSet(s.name) && !s.active(cfg) {
			return misuse(c, "--%s does nothing without %s", s.name, s.needs)
		}
	}
	clearUnused(cfg)
	return nil
}

// checkNames refuses files that name sources which the data do not have.
func (cfg configuration) checkNames(set *dataset.Set) error {
	for _, t := range []*sourceTable{cfg.costs, cfg.nu} {
		if t == nil {
			continue
		}
		if err := t.check(set); err != nil {
			return err
		}
	}
	return nil
}
