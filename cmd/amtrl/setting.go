package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/pipeline"
)

// setting ties a flag to a field of pipeline.Config. The preset gives the
// value, the flag overrides it where it is given.
type setting struct {
	name string
	flag cli.Flag
	// apply writes the flag's value to the configuration.
	apply func(c *cli.Context, cfg *pipeline.Config) error
	// show writes the configuration's value as the flag would take it.
	show func(cfg *pipeline.Config) string
	// needs names the flag without which this one does nothing, and used says
	// whether it does something; both are unset where it always does.
	needs string
	used  func(cfg *pipeline.Config) bool
}

// active says whether the setting bears on the configuration.
func (s setting) active(cfg *pipeline.Config) bool { return s.used == nil || s.used(cfg) }

// only restricts a setting to configurations where it does something.
func (s setting) only(needs string, used func(*pipeline.Config) bool) setting {
	s.needs, s.used = needs, used
	return s
}

func integer(name, usage string, field func(*pipeline.Config) *int) setting {
	show := func(cfg *pipeline.Config) string { return strconv.Itoa(*field(cfg)) }
	return setting{
		name: name, show: show,
		flag: &cli.IntFlag{Name: name, Usage: usage, DefaultText: presetText(show), Category: categorySettings, EnvVars: env(name)},
		apply: func(c *cli.Context, cfg *pipeline.Config) error {
			*field(cfg) = c.Int(name)
			return nil
		},
	}
}

func number(name, usage string, field func(*pipeline.Config) *float64) setting {
	show := func(cfg *pipeline.Config) string { return strconv.FormatFloat(*field(cfg), 'g', -1, 64) }
	return setting{
		name: name, show: show,
		flag: &cli.Float64Flag{Name: name, Usage: usage, DefaultText: presetText(show), Category: categorySettings, EnvVars: env(name)},
		apply: func(c *cli.Context, cfg *pipeline.Config) error {
			*field(cfg) = c.Float64(name)
			return nil
		},
	}
}

// autoNumber is a number from 0 on, or "auto", which the configuration writes
// as -1.
func autoNumber(name, usage string, field func(*pipeline.Config) *float64) setting {
	show := func(cfg *pipeline.Config) string {
		if *field(cfg) < 0 {
			return "auto"
		}
		return strconv.FormatFloat(*field(cfg), 'g', -1, 64)
	}
	return setting{
		name: name, show: show,
		flag: &cli.StringFlag{Name: name, Usage: usage, DefaultText: presetText(show), Category: categorySettings, EnvVars: env(name)},
		apply: func(c *cli.Context, cfg *pipeline.Config) error {
			if c.String(name) == "auto" {
				*field(cfg) = -1
				return nil
			}
			v, err := strconv.ParseFloat(c.String(name), 64)
			if err != nil || !(v >= 0) {
				return misuse(c, "--%s is %q: expected auto or a number from 0 on", name, c.String(name))
			}
			*field(cfg) = v
			return nil
		},
	}
}

func word(name, usage string, field func(*pipeline.Config) *string) setting {
	show := func(cfg *pipeline.Config) string { return *field(cfg) }
	return setting{
		name: name, show: show,
		flag: &cli.StringFlag{Name: name, Usage: usage, DefaultText: presetText(show), Category: categorySettings, EnvVars: env(name)},
		apply: func(c *cli.Context, cfg *pipeline.Config) error {
			*field(cfg) = c.String(name)
			return nil
		},
	}
}

func boolean(name, usage string, field func(*pipeline.Config) *bool) setting {
	show := func(cfg *pipeline.Config) string { return strconv.FormatBool(*field(cfg)) }
	return setting{
		name: name, show: show,
		flag: &cli.BoolFlag{Name: name, Usage: usage + "; --" + name + "=false for not", DefaultText: presetText(show), Category: categorySettings, EnvVars: env(name)},
		apply: func(c *cli.Context, cfg *pipeline.Config) error {
			*field(cfg) = c.Bool(name)
			return nil
		},
	}
}

// integers is a list of integers such as 16,32.
func integers(name, usage string, field func(*pipeline.Config) *[]int) setting {
	show := func(cfg *pipeline.Config) string { return strings.Join(texts(*field(cfg)), ",") }
	return setting{
		name: name, show: show,
		flag: &cli.StringFlag{Name: name, Usage: usage, DefaultText: presetText(show), Category: categorySettings, EnvVars: env(name)},
		apply: func(c *cli.Context, cfg *pipeline.Config) error {
			var list []int
			for _, word := range splitList(c.String(name)) {
				v, err := strconv.Atoi(word)
				if err != nil {
					return misuse(c, "--%s is %q: expected whole numbers such as 16,32", name, c.String(name))
				}
				list = append(list, v)
			}
			*field(cfg) = list
			return nil
		},
	}
}

// presetText lists the value that each preset gives, or the one that all give.
func presetText(show func(*pipeline.Config) string) string {
	var all []string
	first, same := "", true
	for i, name := range pipeline.Presets() {
		cfg, err := pipeline.NewConfig(name)
		if err != nil {
			continue
		}
		cfg = cfg.Complete(nil)
		text := show(&cfg)
		if i == 0 {
			first = text
		}
		same = same && text == first
		all = append(all, fmt.Sprintf("%s in preset %s", text, name))
	}
	if same {
		return first
	}
	return strings.Join(all, ", ")
}
