package main

import (
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/pipeline"
)

type settingOptions struct {
	study bool // whether the flags are those of a study, set before they are added
	bound []boundSetting
	// schedule, epochs, width and budget are the flags --schedule, --epochs, --k, and --budget or --budgets; nil if the
	// command lacks the flag.
	schedule              *flags.Field
	epochs, width, budget *flags.Origin
}

func (o *settingOptions) addFlags(set *flags.Set, settings ...*setting) {
	for _, s := range settings {
		b := s.bind(set, o.study)
		o.bound = append(o.bound, b)
		switch s {
		case &scheduleSetting:
			o.schedule = b.Field
		case &epochsSetting:
			o.epochs = b.Origin
		case &widthSetting:
			o.width = b.Origin
		case &budgetSetting:
			o.budget = b.Origin
		}
	}
}

// impliesBudget reports whether --budget or --budgets chooses the budget schedule. It does if --schedule is not set,
// and if --schedule is set only in the environment while the budget is given on the command line.
func (o *settingOptions) impliesBudget() bool {
	return o.budget != nil && o.budget.Set && (!o.schedule.Set || o.budget.Given && !o.schedule.Given)
}

// given returns the names of the settings that flags or the environment set.
func (o *settingOptions) given() []string {
	var names []string
	for _, s := range o.bound {
		if s.Set {
			names = append(names, strings.ReplaceAll(s.Name, "-", "_"))
		}
	}
	if o.impliesBudget() {
		names = append(names, pipeline.SettingSchedule)
	}
	return names
}

// override applies the settings that are set to cfg. A setting that would do nothing is refused if it is given on the
// command line, and ignored if it comes from the environment.
func (o *settingOptions) override(cfg *pipeline.Config) error {
	*cfg = cfg.Complete(nil)
	if o.impliesBudget() {
		cfg.Schedule.Kind = pipeline.ScheduleBudget
	}
	// Settings that depend on others (only is not nil) come after those.
	for _, belongs := range []bool{false, true} {
		for _, s := range o.bound {
			if belongs != (s.only != nil) || s.setting == &scheduleSetting && o.impliesBudget() {
				continue
			}
			if s.Given || s.Set && s.active(cfg) {
				if err := s.apply(cfg); err != nil {
					return err
				}
			}
		}
	}
	for _, s := range o.bound {
		if s.Given && !s.active(cfg) {
			return flags.Misuse("--%s does nothing without %s", s.Name, s.only.needs)
		}
	}
	if o.epochs != nil && !o.epochs.Set {
		cfg.Schedule.Epochs = cfg.DefaultEpochs() // as the schedule and the representation call for
	}
	*cfg = cfg.Canonical()
	return nil
}

// configOptions holds the options of a configuration: a preset, the settings that override it, and the files of costs and of nu.
type configOptions struct {
	preset, costs, nu flags.Value[string]
	settings          settingOptions
}

// addFlags adds all flags except --budget or --budgets, which the command adds before.
func (o *configOptions) addFlags(set *flags.Set) {
	set.Group(groupSampling)
	o.settings.addFlags(set, samplingSettings...)
	o.settings.addFlags(set, relevanceSettings...)
	set.Text(&o.costs, "costs",
		"`FILE` of CSV with columns source and cost; a source that is not in it costs what the data say, or 1 per sample", "")
	set.Text(&o.nu, "nu", "`FILE` of CSV with columns source and nu, the true relevance for method known", "")
	set.Text(&o.preset, "preset", "where settings start from: "+flags.OrList(pipeline.Presets()), pipeline.PresetDefault)
	set.Group(groupModel)
	o.settings.addFlags(set, modelSettings...)
	set.Group(groupTheory)
	o.settings.addFlags(set, theorySettings...)
	set.Group(groupConv)
	o.settings.addFlags(set, convSettings...)
}

// configuration is a resolved pipeline.Config together with the files that were read into it and the words of the
// command line that name these files. K is 0, still to be chosen, if no flag gives it.
type configuration struct {
	pipeline.Config
	files []*dataset.SourceValues
	words []string
	given []string // the settings that flags give, for pipeline.Config.Fit
}

// resolve applies the flags to the preset. If a sweep has budgets, the configuration gets the first.
func (o *configOptions) resolve(budgets []float64) (configuration, error) {
	var out configuration
	preset, err := pipeline.NewConfig(o.preset.V)
	if err != nil {
		return out, flags.Misuse("--preset: %s", err)
	}
	out.Config = preset
	if len(budgets) > 0 {
		out.Schedule.Kind, out.Schedule.Budget = pipeline.ScheduleBudget, budgets[0]
	}
	if err := o.settings.override(&out.Config); err != nil {
		return out, err
	}
	if o.costs.V != "" {
		if out.Costs, err = out.read(o.costs, "cost", dataset.MinCost, dataset.MaxCost); err != nil {
			return out, err
		}
	}
	known := slices.Contains(out.Methods, pipeline.Known)
	if o.nu.Given && !known {
		return out, flags.Misuse("--nu does nothing without --methods %s", pipeline.Known)
	}
	if o.nu.V != "" && known {
		if out.Nu, err = out.read(o.nu, "nu", -pipeline.MaxNu, pipeline.MaxNu); err != nil {
			return out, err
		}
	}
	if err := out.Validate(); err != nil {
		return out, asUsageError(err)
	}
	if !o.settings.width.Set {
		out.K = preset.K
	}
	out.given = o.settings.given()
	return out, nil
}

func (c *configuration) read(path flags.Value[string], column string, least, most float64) (map[string]float64, error) {
	t, err := dataset.ReadSourceValues(path.V, column, least, most)
	if err != nil {
		return nil, err
	}
	c.files, c.words = append(c.files, t), append(c.words, word(path))
	return t.Values, nil
}

// checkFiles refuses files that name a source which the data do not have. full is the completed configuration.
func (c *configuration) checkFiles(full *pipeline.Config, set *dataset.Set) error {
	for _, t := range c.files {
		if err := t.Check(func(name string) error { _, err := full.FindSource(set, name); return err }); err != nil {
			return err
		}
	}
	return nil
}

// noteChoices notes each setting that the data decided, and why.
func (o *output) noteChoices(choices []pipeline.Choice) {
	for _, choice := range choices {
		o.note("chose %s %s: %s", strings.ReplaceAll(choice.Setting, "_", "-"), choice.Value, choice.Reason)
	}
}

// complete returns the configuration with the settings that the data decide, each of which it notes, and the targets,
// which choose returns for the completed configuration. It refuses files that name a source which the data do not have.
func (c *configuration) complete(set *dataset.Set, out *output, choose func(*pipeline.Config) ([]string, error)) (
	cfg pipeline.Config, targets []string, err error) {
	full := c.Complete(set)
	if err := c.checkFiles(&full, set); err != nil {
		return c.Config, nil, err
	}
	if targets, err = choose(&full); err != nil {
		return c.Config, nil, err
	}
	fitted, choices := c.Fit(set, targets, c.given...)
	out.noteChoices(choices)
	return fitted.Complete(set).Canonical(), targets, nil
}
