package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/batch/k8s"
	"github.com/amtrl/amtrl/batch/local"
	"github.com/amtrl/amtrl/batch/slurm"
)

const categoryBatch = "batch"

// resourceFlags are what one task asks for.
func resourceFlags() []cli.Flag {
	parallel := intFlag(categoryBatch, "parallel", "most tasks at a time", 0)
	parallel.DefaultText = "as many as the engine allows; all processors with --to local"
	gpus := intFlag(categoryBatch, "gpus", "GPUs a task; a task that sees fewer, or takes another backend, fails at once", 0)
	cpus := intFlag(categoryBatch, "cpus", "processors a task", 0)
	cpus.DefaultText = "what the engine gives"
	return []cli.Flag{
		gpus,
		textFlag(categoryBatch, "gpu-type", "type of GPU, as the engine names it", ""),
		cpus,
		textFlag(categoryBatch, "mem", "memory a task, such as 16G or 500M", ""),
		textFlag(categoryBatch, "time", "time limit of an attempt, such as 90m, 2h, 1-12:00:00, or minutes", ""),
		parallel,
		intFlag(categoryBatch, "max-restarts", "how often a task may go on from its checkpoint after a time limit, or after a failure where the engine counts those", 3),
	}
}

// engines are those that a sweep can be handed to, the default first.
var engines = batch.Kinds{local.Kind, slurm.Kind, k8s.Kind}

// engineFlags are the engines' own options, each once.
func engineFlags() []cli.Flag {
	type use struct {
		titles []string
		usage  string
	}
	uses := map[string][]use{}
	var list []batch.Option
	for _, kind := range engines {
		for _, o := range kind.NewOptions().List() {
			known := uses[o.Name]
			if known == nil && o.Usage != "" { // without one it is a flag of all engines
				list = append(list, o)
			}
			if n := len(known); n > 0 && known[n-1].usage == o.Usage {
				known[n-1].titles = append(known[n-1].titles, kind.Title)
				continue
			}
			uses[o.Name] = append(known, use{[]string{kind.Title}, o.Usage})
		}
	}
	var flags []cli.Flag
	for _, o := range list {
		var texts []string
		for _, u := range uses[o.Name] {
			texts = append(texts, strings.Join(u.titles, ", ")+": "+u.usage)
		}
		usage := strings.Join(texts, "; ")
		switch o.Value.(type) {
		case *bool:
			flags = append(flags, boolFlag(categoryBatch, o.Name, usage))
		case **int:
			f := intFlag(categoryBatch, o.Name, usage, 0)
			f.DefaultText = o.Default
			flags = append(flags, f)
		case *[]string:
			flags = append(flags, listFlag(o.Name, usage+"; repeat for more"))
		default:
			flags = append(flags, textFlag(categoryBatch, o.Name, usage, ""))
		}
	}
	return flags
}

// setOptions sets the options whose flags are given.
func setOptions(c *cli.Context, options batch.Options) {
	for _, o := range options.List() {
		if !c.IsSet(o.Name) {
			continue
		}
		switch v := o.Value.(type) {
		case *bool:
			*v = c.Bool(o.Name)
		case *string:
			*v = c.String(o.Name)
		case *[]string:
			*v = c.Generic(o.Name).(*lineList).list
		case **int:
			n := c.Int(o.Name)
			*v = &n
		}
		if o.Changed != nil {
			o.Changed()
		}
	}
}

// listFlag may be repeated. Its values may hold commas.
func listFlag(name, usage string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Category: categoryBatch, EnvVars: env(name), Value: &lineList{}}
}

// lineList is the value of a flag that may be repeated; in the environment it is
// one value a line.
type lineList struct{ list []string }

// Set implements [cli.Generic].
func (l *lineList) Set(s string) error {
	for v := range strings.SplitSeq(s, "\n") {
		if v != "" {
			l.list = append(l.list, v)
		}
	}
	return nil
}

// String implements [cli.Generic].
func (l *lineList) String() string { return strings.Join(l.list, "\n") }

// checkEngineFlags refuses flags that do nothing with the chosen engine.
func checkEngineFlags(c *cli.Context, engine string) error {
	takes := map[string][]string{} // by flag, the engines that it is of use to
	var names []string
	for _, kind := range engines {
		for _, o := range kind.NewOptions().List() {
			if o.Usage != "" {
				names, takes[o.Name] = append(names, o.Name), append(takes[o.Name], kind.Name)
			}
		}
		for _, f := range resourceFlags() {
			if name := f.Names()[0]; !slices.Contains(kind.Ignores, name) {
				names, takes[name] = append(names, name), append(takes[name], kind.Name)
			}
		}
	}
	for _, name := range names {
		if given(c, name) && !slices.Contains(takes[name], engine) {
			return misuse(c, "--%s does nothing with --to %s: it needs --to %s", name, engine, orList(takes[name]))
		}
	}
	return nil
}

// readResources resolves the flags over what an earlier submission asked for.
func readResources(c *cli.Context, before *batch.Resources) (batch.Resources, error) {
	var r batch.Resources
	if before != nil {
		r = *before
	}
	for _, n := range []struct {
		name   string
		field  *int
		lo, hi int
	}{
		{"gpus", &r.GPUs, 0, 1024}, {"cpus", &r.CPUs, 0, maxThreads}, {"parallel", &r.Parallel, 0, math.MaxInt32}, {"max-restarts", &r.MaxRestarts, 0, 1000},
	} {
		if before != nil && !c.IsSet(n.name) {
			continue
		}
		if n.name == "parallel" && c.IsSet(n.name) {
			n.lo = 1 // its default, 0, is no number of tasks
		}
		if err := between(c, n.name, n.lo, n.hi); err != nil {
			return r, err
		}
		*n.field = c.Int(n.name)
	}
	if c.IsSet("gpu-type") {
		r.GPUType = c.String("gpu-type")
	}
	if r.GPUType != "" && r.GPUs == 0 && given(c, "gpu-type") {
		return r, misuse(c, "--gpu-type does nothing without --gpus")
	}
	var err error
	if c.IsSet("mem") {
		if r.MemMiB, err = parseMemory(c.String("mem")); err != nil {
			return r, misuse(c, "--mem is %q: %s", c.String("mem"), err)
		}
	}
	if c.IsSet("time") {
		if r.Time, err = parseTime(c.String("time")); err != nil {
			return r, misuse(c, "--time is %q: %s", c.String("time"), err)
		}
	}
	return r, nil
}

// parseMemory reads MiB from a number with K, M, G or T, M where there is none.
func parseMemory(s string) (int, error) {
	number, unit := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), 1.0
	number = strings.TrimSuffix(number, "I")
	for suffix, mib := range map[string]float64{"K": 1.0 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, mib
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*unit > 1<<40 {
		return 0, fmt.Errorf("expected a positive amount such as 16G or 500M")
	}
	return int(math.Ceil(v * unit)), nil
}

// parseTime reads a Go duration, Slurm's D-HH:MM:SS, HH:MM:SS or MM:SS, or
// minutes.
func parseTime(s string) (time.Duration, error) {
	bad := fmt.Errorf("expected a positive time such as 90m, 2h, 1-12:00:00, or minutes")
	if d, err := time.ParseDuration(s); err == nil {
		if d < time.Second || d > 10*365*24*time.Hour {
			return 0, bad
		}
		return d.Truncate(time.Second), nil
	}
	days, clock, isDays := strings.Cut(s, "-")
	if !isDays {
		days, clock = "0", s
	}
	parts := strings.Split(clock, ":")
	// What the first field counts depends on how many there are.
	first := map[int]int{1: 60, 2: 60, 3: 3600}
	if isDays {
		first = map[int]int{1: 3600, 2: 3600, 3: 3600}
	}
	unit, ok := first[len(parts)]
	if !ok {
		return 0, bad
	}
	d, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, bad
	}
	seconds := int(d) * 86400
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 10, 24)
		if err != nil {
			return 0, bad
		}
		seconds += int(v) * unit
		unit /= 60
	}
	if seconds == 0 {
		return 0, bad
	}
	return time.Duration(seconds) * time.Second, nil
}

// newEngine makes the engine of a new submission, from the flags over the
// options that an earlier one of the same engine kept. What can be wrong with
// them shows here, before anything is written.
func newEngine(c *cli.Context, name string, saved json.RawMessage, trial batch.Submission) (batch.Engine, error) {
	if err := checkEngineFlags(c, name); err != nil {
		return nil, err
	}
	kind, _ := engines.Find(name)
	options, err := kind.ReadOptions(saved)
	if err != nil {
		return nil, err
	}
	setOptions(c, options)
	eng, err := options.Engine(trial.Dir)
	if err != nil {
		return nil, explainOption(c, err)
	}
	if p, ok := eng.(batch.Preparer); ok {
		err := explainOption(c, p.Prepare(c.Context, trial))
		var use *usageError
		if err != nil && (errors.As(err, &use) || !c.Bool("dry-run") || c.Bool("check")) {
			return nil, err
		}
	}
	return eng, nil
}

// explainOption makes an option that cannot be used a usage error.
func explainOption(c *cli.Context, err error) error {
	var option *batch.OptionError
	if errors.As(err, &option) {
		return misuse(c, "%s", err)
	}
	return err
}
