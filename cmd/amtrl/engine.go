package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
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

// slurmFlags are those that only --to slurm takes.
func slurmFlags() []cli.Flag {
	return []cli.Flag{
		textFlag(categoryBatch, "partition", "Slurm: partition", ""),
		textFlag(categoryBatch, "account", "Slurm: account", ""),
		textFlag(categoryBatch, "qos", "Slurm: quality of service", ""),
		textFlag(categoryBatch, "constraint", "Slurm: features that a node must have", ""),
		textFlag(categoryBatch, "exclude", "Slurm: nodes not to use", ""),
		textFlag(categoryBatch, "nice", "Slurm: lower the priority by this much", ""),
		textFlag(categoryBatch, "container", "Slurm: `IMAGE` in which apptainer runs the task", ""),
		boolFlag(categoryBatch, "tmp", "Slurm: take a run folder in /tmp, which other nodes do not see"),
	}
}

// clusterFlags are those of every engine but --to local.
func clusterFlags() []cli.Flag {
	return []cli.Flag{
		listFlag("engine-arg", "Slurm: a further argument of sbatch, such as --reservation=lab; Kubernetes: a change PATH=VALUE to the manifest, such as spec.template.spec.priorityClassName=low; repeat for more"),
		listFlag("setup", "a shell line before the task, such as 'module load cuda'; repeat for more"),
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

// engineOnly are the flags that only one engine takes.
func engineOnly() map[string][]string {
	only := map[string][]string{batch.Slurm: nil, batch.Kubernetes: nil}
	for _, f := range slurmFlags() {
		only[batch.Slurm] = append(only[batch.Slurm], f.Names()[0])
	}
	for _, f := range kubernetesFlags() {
		only[batch.Kubernetes] = append(only[batch.Kubernetes], f.Names()[0])
	}
	return only
}

// checkEngineFlags refuses flags that do nothing with the chosen engine.
func checkEngineFlags(c *cli.Context, engine string) error {
	only := engineOnly()
	for _, other := range []string{batch.Slurm, batch.Kubernetes} {
		for _, name := range only[other] {
			if other != engine && given(c, name) {
				return misuse(c, "--%s does nothing with --to %s: it needs --to %s", name, engine, other)
			}
		}
	}
	if engine == batch.Local {
		for _, name := range []string{"mem", "gpu-type", "engine-arg", "setup"} {
			if given(c, name) {
				return misuse(c, "--%s does nothing with --to %s: it needs --to %s or %s", name, engine, batch.Slurm, batch.Kubernetes)
			}
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

// chooseEngine makes the engine of a new submission, from the flags over the
// options of an earlier one of the same engine.
func chooseEngine(c *cli.Context, dir, name string, saved json.RawMessage) (batch.Engine, error) {
	if err := checkEngineFlags(c, name); err != nil {
		return nil, err
	}
	switch name {
	case batch.Local:
		return batch.NewLocal(dir), nil
	case batch.Slurm:
		return newSlurm(c, dir, saved)
	}
	return newKubernetes(c, dir, saved)
}

// openEngine makes the engine of an earlier submission again.
func openEngine(c *cli.Context) batch.Opener {
	return func(dir string, set batch.Settings) (batch.Engine, error) {
		switch set.Engine {
		case batch.Local:
			return batch.NewLocal(dir), nil
		case batch.Slurm:
			var o batch.SlurmOptions
			err := json.Unmarshal(set.Options, &o)
			return batch.NewSlurm(dir, o), err
		case batch.Kubernetes:
			return openKubernetes(set.Options)
		}
		return nil, fmt.Errorf("%s: unknown engine %q", dir, set.Engine)
	}
}

// newSlurm reads the options of Slurm.
func newSlurm(c *cli.Context, dir string, saved json.RawMessage) (batch.Engine, error) {
	var o batch.SlurmOptions
	if saved != nil {
		if err := json.Unmarshal(saved, &o); err != nil {
			return nil, err
		}
	}
	for name, field := range map[string]*string{
		"partition": &o.Partition, "account": &o.Account, "qos": &o.QOS, "constraint": &o.Constraint, "exclude": &o.Exclude, "nice": &o.Nice, "container": &o.Container,
	} {
		if c.IsSet(name) {
			*field = c.String(name)
		}
	}
	for name, field := range map[string]*[]string{"engine-arg": &o.Args, "setup": &o.Setup} {
		if c.IsSet(name) {
			*field = c.Generic(name).(*lineList).list
		}
	}
	if o.Nice != "" {
		if _, err := strconv.Atoi(o.Nice); err != nil {
			return nil, misuse(c, "--nice is %q: expected an integer", o.Nice)
		}
	}
	return batch.NewSlurm(dir, o), nil
}
