package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs"
)

type submitOptions struct {
	runFolder
	pack flags.Value[int]
	handOverOptions
	sweepInput

	// asked holds the resources of each task that the flags ask for, set by check.
	asked batch.Resources
}

func (o *submitOptions) addFlags(set *flags.Set) {
	set.Group(groupBatch)
	set.Text(&o.to, "to", "engine: "+flags.OrList(engines.Names()), engines[0].Name)
	set.Int(&o.pack, "pack", "targets, budgets and seeds per task, one after the other", 1)
	o.handOverOptions.addFlags(set)
	o.sweepInput.addFlags(set)
	o.addOutput(set)
}

func (o *submitOptions) check() error {
	err := cmp.Or(o.device.check(), o.data.check(), flags.OneOf(o.to, engines.Names()...), flags.Between(o.pack, 1, maxUnits))
	if err != nil {
		return err
	}
	if o.asked, err = o.resources.over(nil); err != nil {
		return err
	}
	o.asked.Threads = o.device.threads.V
	if o.asked.GPUs > 0 && o.device.backend.V == "cpu" {
		return flags.Misuse("--gpus %d does nothing with --backend cpu", o.asked.GPUs)
	}
	if err := o.engine.check(o.to.V, o.resources.origins()); err != nil {
		return err
	}
	return o.readLists()
}

func (o *submitOptions) run(ctx context.Context) error {
	trial := batch.Submission{Dir: o.dir, Name: filepath.Base(o.dir), Number: 1, Resources: o.asked}
	eng, err := o.newEngine(ctx, o.to.V, nil, trial)
	if err != nil {
		return err
	}
	p, err := o.sweepInput.plan(ctx, &o.output)
	if err != nil {
		return err
	}
	plan, err := o.newPlan(p)
	if err != nil {
		return err
	}
	set, err := o.settings(eng, o.asked)
	if err != nil {
		return err
	}
	if o.dry() {
		return o.submitDry(ctx, plan, eng, set)
	}
	environment, err := newEnvironment()
	if err != nil {
		return err
	}
	run, _, err := batch.Create(o.dir, plan, environment)
	if err != nil {
		return err
	}
	unlock, err := run.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := run.Grow(plan); err != nil {
		return err
	}
	if err := run.Recover(ctx, engines.Open); err != nil {
		return explainEngine(ctx, err, nothingHandedOver)
	}
	tasks, err := o.fresh(run)
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		return o.printHandOver(run, o.to.V, nil)
	}
	return o.handOver(ctx, run, eng, set, tasks)
}

func (o *submitOptions) fresh(run *batch.Run) ([]int, error) {
	tasks, err := run.Fresh()
	if err == nil && len(tasks) == 0 {
		o.note("nothing to hand over: %s of %s %s handed over before", text.Several(len(run.Tasks), "task"), run.Dir,
			text.Form(len(run.Tasks), "was", "were"))
	}
	return tasks, err
}

func (o *submitOptions) submitDry(ctx context.Context, plan batch.Plan, eng batch.Engine, set batch.Settings) error {
	run, err := batch.Find(o.dir, plan)
	if err != nil {
		return err
	}
	if run == nil {
		plan.ID = strings.Repeat("0", 12)
		run = &batch.Run{Dir: o.dir, Plan: plan, Tasks: plan.Tasks()}
	}
	tasks, err := o.fresh(run)
	if err != nil {
		return err
	}
	return o.dryHandOver(ctx, run, eng, set, tasks)
}

// newPlan returns the plan of a sweep, with every flag that selects the data and the device spelt out. The number of threads belongs
// to the submission, since results do not depend on it.
func (o *submitOptions) newPlan(p *sweepPlan) (batch.Plan, error) {
	id := runs.Identity{
		Version: version().Version, Data: runs.DescribeData(p.set), Config: p.cfg,
		Targets: p.targets, Seeds: p.seeds, Budgets: p.budgets,
	}
	plan := batch.Plan{Identity: id, Words: p.words, Pack: o.pack.V}
	if err := id.Check(p.set); err != nil {
		return plan, err
	}
	task := taskInput{o.data, o.device}
	if d := &task.data.data; d.V != dataDigits && !isSynthetic(d.V) {
		abs, err := filepath.Abs(d.V)
		if err != nil {
			return plan, err
		}
		d.V = abs
	}
	var set flags.Set
	task.addFlags(&set)
	values := set.Texts()
	for i, name := range set.Names() {
		if name != o.device.threads.Name {
			plan.Flags = append(plan.Flags, batch.Flag{Name: name, Value: values[i]})
		}
	}
	return plan, nil
}

func newEnvironment() (batch.Environment, error) {
	outside := []string{"SLURM_CONF", "KUBECONFIG", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "PATH"}
	e := batch.Environment{Argv: os.Args, Version: version(), Variables: []string{}}
	var noDir, noHost, noProgram error
	e.Dir, noDir = os.Getwd()
	e.Host, noHost = os.Hostname()
	e.Program, e.SHA256, noProgram = programHash()
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "AMTRL_") || slices.Contains(outside, name) {
			e.Variables = append(e.Variables, v)
		}
	}
	slices.Sort(e.Variables)
	return e, cmp.Or(noDir, noHost, noProgram)
}

func programHash() (path, sum string, err error) {
	path, err = os.Executable()
	if err != nil {
		return "", "", err
	}
	raw, err := os.ReadFile(path)
	return path, fmt.Sprintf("%x", sha256.Sum256(raw)), err
}
