package main

import (
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/batch/k8s"
	"github.com/amtrl/amtrl/batch/local"
	"github.com/amtrl/amtrl/batch/slurm"
	"github.com/amtrl/amtrl/internal/flags"
)

// engines lists the engines that a sweep can be handed to, the default first.
var engines = batch.Kinds{local.Kind, slurm.Kind, k8s.Kind}

type resourceOptions struct {
	gpus, cpus, parallel, maxRestarts flags.Value[int]
	gpuType, mem, time                flags.Value[string]
}

func (o *resourceOptions) addFlags(set *flags.Set) {
	set.Int(&o.gpus, "gpus", "GPUs per task; a task that sees fewer, or takes another backend, fails at once", 0)
	set.Text(&o.gpuType, "gpu-type", "type of GPU, as the engine names it", "")
	set.Int(&o.cpus, "cpus", "processors per task", 0).DefaultText = "what the engine gives"
	set.Text(&o.mem, "mem", "memory per task, such as 16G or 500M; without a unit in MiB", "")
	set.Text(&o.time, "time", "time limit of an attempt, such as 90m, 2h, 3d, 1-12:00:00, or minutes", "")
	set.Int(&o.parallel, "parallel", "most tasks at a time", 0).DefaultText = "as many as the engine allows; all processors with --to local"
	set.Int(&o.maxRestarts, "max-restarts",
		"how often a task may go on from its checkpoint after a time limit, or after a failure where the engine counts those", 3)
}

func (o *resourceOptions) origins() []flags.Origin {
	return []flags.Origin{o.gpus.Origin, o.gpuType.Origin, o.cpus.Origin, o.mem.Origin, o.time.Origin, o.parallel.Origin, o.maxRestarts.Origin}
}

// over returns the resources of an earlier submission (nil for none), overridden by the flags.
func (o *resourceOptions) over(before *batch.Resources) (batch.Resources, error) {
	var r batch.Resources
	saved := before != nil
	if saved {
		r = *before
	}
	least := 0
	if o.parallel.Replaces(saved) {
		least = 1 // 0, the default, is not a number of tasks to ask for
	}
	for _, n := range []struct {
		flag   flags.Value[int]
		field  *int
		lo, hi int
	}{
		{o.gpus, &r.GPUs, 0, 1024}, {o.cpus, &r.CPUs, 0, maxThreads}, {o.parallel, &r.Parallel, least, math.MaxInt32},
		{o.maxRestarts, &r.MaxRestarts, 0, 1000},
	} {
		if saved && !n.flag.Given {
			continue
		}
		if err := flags.Between(n.flag, n.lo, n.hi); err != nil {
			return r, err
		}
		*n.field = n.flag.V
	}
	if o.gpuType.Replaces(saved) {
		r.GPUType = o.gpuType.V
	}
	if r.GPUType != "" && r.GPUs == 0 && o.gpuType.Given {
		return r, flags.Misuse("--gpu-type does nothing without --gpus")
	}
	var err error
	if o.mem.Replaces(saved) {
		if r.MemMiB, err = flags.Memory(o.mem.V); err != nil {
			return r, flags.Misuse("--mem is %q: %s", o.mem.V, err)
		}
	}
	if o.time.Replaces(saved) {
		if r.Time, err = flags.Duration(o.time.V); err != nil {
			return r, flags.Misuse("--time is %q: %s", o.time.V, err)
		}
	}
	return r, nil
}

// engineOptions maps the name of each engine option to its flag. The engines describe their options themselves.
type engineOptions map[string]*flags.Field

// addFlags adds a flag for each option, once: options of a single engine to its group, options that several engines share to group.
func (o engineOptions) addFlags(set *flags.Set, group string) {
	var list []batch.Option
	titles, texts := map[string][]string{}, map[string][]string{}
	for _, kind := range engines {
		for _, opt := range kind.NewOptions().List() {
			if opt.Usage == "" { // a flag for all engines, which the command adds
				continue
			}
			if titles[opt.Name] == nil {
				list = append(list, opt)
			}
			titles[opt.Name] = append(titles[opt.Name], kind.Title)
			texts[opt.Name] = append(texts[opt.Name], opt.Usage)
		}
	}
	for _, opt := range list {
		usage := opt.Usage
		set.Group(titles[opt.Name][0])
		if uses := texts[opt.Name]; len(uses) > 1 {
			set.Group(group)
			if len(slices.Compact(slices.Clone(uses))) == 1 {
				usage = strings.Join(titles[opt.Name], ", ") + ": " + usage
			} else {
				for i := range uses {
					uses[i] = titles[opt.Name][i] + ": " + uses[i]
				}
				usage = strings.Join(uses, "; ")
			}
		}
		if _, ok := opt.Value.(*[]string); ok {
			usage += "; repeat for more"
		}
		o[opt.Name] = set.Field(opt.Value, opt.Name, usage, opt.Default)
	}
	set.Group(group)
}

// apply sets the options that were chosen by flags. saved reports whether options hold what an earlier submission chose.
func (o engineOptions) apply(options batch.Options, saved bool) {
	for _, opt := range options.List() {
		if !o[opt.Name].Replaces(saved) {
			continue
		}
		o[opt.Name].Store(opt.Value)
		if opt.Changed != nil {
			opt.Changed()
		}
	}
}

// check refuses engine options and resources that were given on the command line and do nothing with the chosen engine.
func (o engineOptions) check(engine string, resources []flags.Origin) error {
	takes := map[string][]string{} // per flag, the engines that use it
	var list []flags.Origin
	for _, kind := range engines {
		for _, opt := range kind.NewOptions().List() {
			if opt.Usage != "" {
				list, takes[opt.Name] = append(list, *o[opt.Name].Origin), append(takes[opt.Name], kind.Name)
			}
		}
		for _, r := range resources {
			if !slices.Contains(kind.Ignores, r.Name) {
				list, takes[r.Name] = append(list, r), append(takes[r.Name], kind.Name)
			}
		}
	}
	for _, f := range list {
		if !slices.Contains(takes[f.Name], engine) {
			if err := flags.Refuse("--to "+engine, "--to "+flags.OrList(takes[f.Name]), f); err != nil {
				return err
			}
		}
	}
	return nil
}
