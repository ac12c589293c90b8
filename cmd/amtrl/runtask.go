package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/batch/local"
	"github.com/amtrl/amtrl/batch/slurm"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// taskInput holds the options by which a task opens its data and its device: the flags that a plan spells out.
type taskInput struct {
	data   dataOptions
	device deviceOptions
}

func (o *taskInput) addFlags(set *flags.Set) {
	o.data.addFlags(set)
	o.device.addFlags(set)
}

// runTaskOptions holds the options of run-task, the command that engines call.
type runTaskOptions struct {
	runFolder
	index           int
	part, container flags.Value[string]
	taskInput
	set *flags.Set
	output
}

func (o *runTaskOptions) addFlags(set *flags.Set) {
	o.set = set
	set.Group(groupBatch)
	addPart(set, &o.part)
	set.Text(&o.container, "container", "`IMAGE` in which apptainer runs the task", "")
	o.taskInput.addFlags(set)
}

func addPart(set *flags.Set, part *flags.Value[string]) {
	set.Text(part, "part", "`KEY` of the part of the submission", "")
}

func (o *runTaskOptions) check() (err error) {
	if o.index, err = strconv.Atoi(o.tasks); err != nil {
		return flags.Misuse("the index is %q: expected an integer", o.tasks)
	}
	return nil
}

func (o *runTaskOptions) run(ctx context.Context) error {
	save := context.Background()
	for _, kind := range engines {
		if len(kind.SaveSignals) > 0 {
			var stop func()
			save, stop = signal.NotifyContext(save, kind.SaveSignals...)
			defer stop()
		}
	}
	run, err := o.open()
	if err != nil {
		return err
	}
	w := &batch.Worker{
		Run: run, Part: o.part.V, Index: o.index, Version: version().Version, Engine: engines.Open,
		Open: o.openTask, Save: save.Done(), Note: o.note,
	}
	if o.container.Given {
		code, err := slurm.WorkInContainer(ctx, w, o.container.V)
		return &exitStatus{code, err}
	}
	if _, w.SHA256, err = programHash(); err != nil {
		return err
	}
	code, err := w.Work(ctx)
	// An exitStatus even for code 0, so that a signal that came when the work was complete does not change the exit code.
	return &exitStatus{code, err}
}

func (o *runTaskOptions) openTask(ctx context.Context, plan *batch.Plan, res batch.Resources) (*pipeline.Resident, runs.Identity, error) {
	id := plan.Identity
	var known flags.Set
	o.taskInput.addFlags(&known)
	o.device.threads.V = res.Threads // whatever the environment of the task holds
	for _, f := range plan.Flags {
		if !slices.Contains(known.Names(), f.Name) {
			return nil, id, batch.BadInput(fmt.Errorf("the plan has the flag --%s: expected one of %s", f.Name, flags.OrList(known.Names())))
		}
		if err := o.set.Assign(f.Name, f.Value); err != nil {
			return nil, id, batch.BadInput(fmt.Errorf("--%s %q: %w", f.Name, f.Value, err))
		}
	}
	if err := o.data.check(); err != nil {
		return nil, id, batch.BadInput(err)
	}
	set, err := o.data.open(ctx, o.device.threads.V, &o.output)
	if err != nil {
		var usage *flags.UsageError
		if errors.As(err, &usage) {
			err = batch.BadInput(err)
		}
		return nil, id, err
	}
	threads := o.device.threads.V
	if threads == 0 {
		threads = res.CPUs
	}
	var here runs.Identity
	dev, err := unlessInterrupted(ctx, func() (*pipeline.Resident, error) {
		choice, err := o.device.open(threads, &o.output)
		if err != nil {
			return nil, err
		}
		here = runs.NewIdentity(id.Version, set, choice, id.Config)
		dev, err := o.place(choice.Device, set)
		if err != nil {
			choice.Device.Close()
		}
		return dev, err
	})
	if err != nil {
		return nil, id, err
	}
	id.Data, id.Backend = here.Data, here.Backend
	return dev, id, nil
}

// superviseOptions holds the options of supervise, the command that submit --to local starts.
type superviseOptions struct {
	runFolder
	part flags.Value[string]
	output
}

func (o *superviseOptions) addFlags(set *flags.Set) {
	set.Group(groupBatch)
	addPart(set, &o.part)
}

func (o *superviseOptions) run(ctx context.Context) error {
	run, err := o.open()
	if err != nil {
		return err
	}
	return local.Supervise(ctx, run, o.part.V, o.note)
}
