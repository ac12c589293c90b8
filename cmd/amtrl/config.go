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

// readConfig resolves the preset and the flags that override it, where a sweep
// has budgets the first of them.
func readConfig(c *cli.Context, budgets []float64) (configuration, error) {
	cfg, err := pipeline.NewConfig(c.String("preset"))
	if err != nil {
		return configuration{}, misuse(c, "--preset: %s", err)
	}
	if impliesBudget(c, "budget") {
		cfg.Schedule.Kind = pipeline.ScheduleBudget
	}
	if len(budgets) > 0 {
		cfg.Schedule.Kind, cfg.Schedule.Budget = pipeline.ScheduleBudget, budgets[0]
	}
	open := cfg.K
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
	known := slices.Contains(out.Methods, pipeline.Known)
	if given(c, "nu") && !known {
		return configuration{}, misuse(c, "--nu does nothing without --methods %s", pipeline.Known)
	}
	if path := c.String("nu"); path != "" && known {
		if out.nu, err = readSourceTable(path, "nu"); err != nil {
			return configuration{}, err
		}
		out.Nu = out.nu.values
	}
	if err := out.Validate(); err != nil {
		return configuration{}, misuse(c, "%s", err)
	}
	if !c.IsSet("k") {
		out.K = open // for the data to say
	}
	return out, nil
}

// impliesBudget says whether the named flag, a budget or several, chooses the
// schedule: it does unless --schedule says another thing in the same place, or
// on the command line.
func impliesBudget(c *cli.Context, name string) bool {
	return c.IsSet(name) && (!c.IsSet("schedule") || given(c, name) && !given(c, "schedule"))
}

// override applies the settings that are set, and refuses those on the command
// line that would do nothing; those in the environment are left out.
func override(c *cli.Context, cfg *pipeline.Config) error {
	*cfg = cfg.Complete(nil)
	for _, s := range settings {
		if s.name == "schedule" && (impliesBudget(c, "budget") || impliesBudget(c, "budgets")) {
			continue
		}
		if given(c, s.name) || c.IsSet(s.name) && s.active(cfg) {
			if err := s.apply(c, cfg); err != nil {
				return err
			}
		}
	}
	for _, s := range settings {
		if given(c, s.name) && !s.active(cfg) {
			return misuse(c, "--%s does nothing without %s", s.name, s.needs)
		}
	}
	*cfg = cfg.Canonical()
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
