package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// inputWords returns, for flags.json, the words of the command line that determine the input of a command and its
// arithmetic: the data, the files, and --tf32.
func inputWords(data *dataOptions, cfg *configuration, device *deviceOptions) []string {
	words := append(data.words(), cfg.words...)
	if device.tf32.V {
		words = append(words, word(device.tf32))
	}
	return words
}

// keepWords writes words to flags.json in the folder of finished work. It only notes an error, since the folder is
// complete without that file.
func (o *output) keepWords(dir string, words []string) {
	if err := runs.WriteFlags(dir, words); err != nil {
		o.note("%s", err)
	}
}

// words returns the flags that select the data, each with its value.
func (o *dataOptions) words() []string {
	words := []string{word(o.data)}
	switch {
	case o.data.V == dataDigits:
		words = append(words, word(o.digits), word(o.seed))
	case isSynthetic(o.data.V):
		words = append(words, word(o.dim), word(o.rank), word(o.sigma), word(o.rows), fmt.Sprintf("--%s=%d", o.sources.Name, o.sourceCount),
			word(o.seed))
	}
	if o.evaluate.V != "test" {
		words = append(words, word(o.evaluate))
	}
	return words
}

func word[T any](v flags.Value[T]) string { return fmt.Sprintf("--%s=%v", v.Name, v.V) }

// knownWords returns those words of a folder that inputWords can have written.
func knownWords(list []string) []string {
	var set flags.Set
	new(dataOptions).addFlags(&set)
	known := append(set.Names(), "costs", "nu", "tf32")
	return slices.DeleteFunc(slices.Clone(list), func(w string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(w, "--"), "=")
		return !strings.HasPrefix(w, "--") || !slices.Contains(known, name)
	})
}

// repeatCommand returns the command line that repeats the work of a folder. It gives the words that select the data, or
// DATA in their place, and every setting that differs from that of the preset or that the data could decide otherwise.
func repeatCommand(command string, id *runs.Identity, leading []string) report.Command {
	words, out := []string{"amtrl", command}, report.Command{}
	if command == "run" {
		words = append(words, "--target", id.Targets[0], "--seed", fmt.Sprint(id.Seeds[0]))
	} else {
		all := id.Data.Tasks
		if id.Config.Sources == pipeline.SourcesPools {
			all = id.Data.Pools
		}
		if len(id.Targets) < all {
			words = append(words, "--targets", flags.JoinNames(id.Targets))
		}
		words = append(words, "--seeds", strings.Join(texts(id.Seeds), ","))
		if len(id.Budgets) > 0 {
			words = append(words, "--budgets", strings.Join(texts(id.Budgets), ","))
		}
	}
	input := knownWords(leading)
	if len(input) == 0 {
		input = []string{"--data", "DATA"}
		out.Lacks = fmt.Sprintf("The folder does not say what leads to its data, which are called %q: DATA and the flags that belong to it, and "+
			"--costs, --nu and --tf32 where the work had them.", id.Data.Name)
	}
	words = append(words, input...)
	finish := func() report.Command {
		out.Line = text.ShellCommand(words)
		return out
	}
	cfg := id.Config.Complete(nil)
	preset, err := pipeline.NewConfig(cmp.Or(cfg.Preset, pipeline.PresetDefault))
	if err != nil {
		return finish()
	}
	like := preset
	like.Schedule.Kind, like.Representation = cfg.Schedule.Kind, cfg.Representation
	preset.Schedule.Epochs = like.DefaultEpochs()
	preset = preset.Complete(nil)
	if cfg.Preset != pipeline.PresetDefault {
		words = append(words, "--preset", cfg.Preset)
	}
	if cfg.Sources != "" {
		words = append(words, "--sources", cfg.Sources)
	}
	digits := slices.Contains(input, "--data="+dataDigits)
	for _, s := range allSettings() {
		if command == "sweep" && (s == &budgetSetting || s == &scheduleSetting && cfg.Schedule.Kind == pipeline.ScheduleBudget) {
			continue // --budgets says so, or the data decided
		}
		same := s.active(&preset) && s.show(&cfg) == s.show(&preset)
		if !s.active(&cfg) || same && (digits || !decided(s)) {
			continue
		}
		words = append(words, "--"+s.name+"="+s.show(&cfg))
	}
	if id.Backend.Backend != "" {
		words = append(words, "--backend", id.Backend.Backend)
	}
	return finish()
}

// decided reports whether the data can decide a setting, as [pipeline.Config.Fit] and Complete do.
func decided(s *setting) bool {
	return slices.Contains([]string{pipeline.SettingTargetSamples, pipeline.SettingK, pipeline.SettingSchedule, pipeline.SettingEpochs,
		pipeline.SettingFloor, pipeline.SettingScaling, pipeline.SettingAllocation}, strings.ReplaceAll(s.name, "-", "_"))
}
