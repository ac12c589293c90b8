package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/batch/local"
	"github.com/amtrl/amtrl/batch/slurm"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// runTaskCommand is what engines call.
func runTaskCommand() *cli.Command {
	return &cli.Command{
		Name:      "run-task",
		Usage:     "carry out one task of a submitted sweep",
		ArgsUsage: "RUN INDEX",
		Hidden:    true,
		Flags: slices.Concat([]cli.Flag{
			partFlag(),
			textFlag(categoryBatch, "container", "`IMAGE` in which apptainer runs the task", ""),
		}, taskFlags()),
		Action: runTask,
	}
}

// superviseCommand is what submit --to local starts.
func superviseCommand() *cli.Command {
	return &cli.Command{
		Name:      "supervise",
		Usage:     "run the tasks of a submitted sweep as child processes",
		ArgsUsage: "RUN",
		Hidden:    true,
		Flags:     []cli.Flag{partFlag()},
		Action: func(c *cli.Context) error {
			dir, err := runArgument(c)
			if err != nil {
				return err
			}
			run, err := openRun(dir)
			if err != nil {
				return err
			}
			return local.Supervise(c.Context, run, c.String("part"), func(format string, args ...any) { note(c, format, args...) })
		},
	}
}

func partFlag() cli.Flag {
	return textFlag(categoryBatch, "part", "`KEY` of the part of the submission", "")
}

func runTask(c *cli.Context) error {
	save := make(chan os.Signal, 1)
	for _, kind := range engines {
		if len(kind.SaveSignals) > 0 {
			signal.Notify(save, kind.SaveSignals...)
		}
	}
	defer signal.Stop(save)
	dir, text, err := tasksArgument(c)
	if err != nil {
		return err
	}
	index, err := strconv.Atoi(text)
	if err != nil {
		return misuse(c, "the index is %q: expected an integer", text)
	}
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { note(c, format, args...) }
	w := &batch.Worker{
		Run: run, Part: c.String("part"), Index: index, Version: version().Version, Engine: engines.Open,
		Open: func(_ context.Context, plan *batch.Plan, res batch.Resources) (*pipeline.Resident, runs.Identity, error) {
			return openTask(c, plan, res)
		},
		Save: asked(save),
		Note: say,
	}
	if given(c, "container") {
		code, err := slurm.WorkInContainer(c.Context, w, c.String("container"))
		return &exitStatus{code, err}
	}
	if _, w.SHA256, err = programHash(); err != nil {
		return err
	}
	code, err := w.Work(c.Context)
	// Also for 0: a signal that came when the work was complete changes nothing.
	return &exitStatus{code, err}
}

// asked is closed by the first signal; later ones are ignored.
func asked(signals <-chan os.Signal) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		<-signals
		close(done)
	}()
	return done
}

// openTask opens the data and the device that the plan's flags ask for.
func openTask(c *cli.Context, plan *batch.Plan, res batch.Resources) (*pipeline.Resident, runs.Identity, error) {
	id := plan.Identity
	var known []string
	for _, f := range taskFlags() {
		known = append(known, f.Names()[0])
	}
	for _, f := range plan.Flags {
		if !slices.Contains(known, f.Name) {
			return nil, id, batch.BadInput(fmt.Errorf("the plan has the flag --%s: expected one of %s", f.Name, orList(known)))
		}
		if err := c.Set(f.Name, f.Value); err != nil {
			return nil, id, batch.BadInput(fmt.Errorf("--%s %q: %w", f.Name, f.Value, err))
		}
	}
	set, err := openData(c)
	if err != nil {
		var usage *usageError
		if errors.As(err, &usage) {
			err = batch.BadInput(err)
		}
		return nil, id, err
	}
	threads := c.Int("threads")
	if threads == 0 {
		threads = res.CPUs
	}
	choice, err := openBackend(c, threads)
	if err != nil {
		return nil, id, err
	}
	here := runs.NewIdentity(id.Version, set, choice, id.Config)
	id.Data, id.Backend = here.Data, here.Backend
	dev, err := pipeline.NewResident(choice.Device, set)
	return dev, id, err
}
