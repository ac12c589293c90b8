package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
)

// runFolder holds the arguments of a command on a submitted sweep: the run folder, as given and as an absolute path,
// and the task or tasks if the command takes any.
type runFolder struct{ given, dir, tasks string }

// readArguments reads the run folder and, if the usage of the command names it, one more argument, which may be missing.
func (f *runFolder) readArguments(c *cli.Context) (err error) {
	args, usage := c.Args().Slice(), c.Command.ArgsUsage
	switch takesTasks := strings.Contains(usage, " "); {
	case len(args) > 1 && !takesTasks:
		return flags.Misuse("unexpected argument %q: expected one run folder", args[1])
	case len(args) == 0 || args[0] == "":
		return flags.Misuse("no run folder: expected amtrl %s %s", c.Command.Name, usage)
	case len(args) > 2:
		return flags.Misuse("unexpected argument %q: expected %s", args[2], usage)
	}
	f.given, f.tasks = args[0], c.Args().Get(1)
	f.dir, err = filepath.Abs(f.given)
	return err
}

func (f *runFolder) open() (*batch.Run, error) {
	run, err := batch.Open(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no run folder: expected one that amtrl submit made", f.dir)
	}
	return run, err
}

// lock opens the run folder and locks it for this process. It also returns the tasks that the command line names, nil for none.
func (f *runFolder) lock() (run *batch.Run, tasks batch.Tasks, unlock func(), err error) {
	run, err = f.open()
	if err == nil && f.tasks != "" {
		tasks, err = batch.ParseTasks(f.tasks, len(run.Tasks))
		err = asUsageError(err)
	}
	if err == nil {
		unlock, err = run.Lock()
	}
	return run, tasks, unlock, err
}

type cancelOptions struct {
	runFolder
	output
}

func (o *cancelOptions) addFlags(set *flags.Set) {
	set.Group(groupOutput)
	o.addQuiet(set)
}

func (o *cancelOptions) run(ctx context.Context) error {
	run, tasks, unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	n, err := run.Cancel(ctx, engines.Open, tasks)
	if err != nil {
		if n > 0 {
			o.note("cancelled %s", text.Several(n, "task"))
		}
		return explainEngine(ctx, err, "some tasks may go on")
	}
	return o.emit(fmt.Sprintf("cancelled %s\n", text.Several(n, "task")))
}

type collectOptions struct {
	runFolder
	out     flags.Value[string]
	partial flags.Value[bool]
	sweepOutput
}

func (o *collectOptions) addFlags(set *flags.Set) {
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FOLDER` of the sweep; by default RUN/"+batch.SweepDir, "")
	set.Bool(&o.partial, "partial", "leave out targets, seeds or budgets that lack results; the folder is then RUN/partial-UNITS by default")
	o.sweepOutput.addFlags(set)
}

func (o *collectOptions) run(context.Context) error {
	run, err := o.open()
	if err != nil {
		return err
	}
	if err := o.checkRisk(run.Plan.Identity.Budgets); err != nil {
		return err
	}
	found, folder := run.Sweep, batch.SweepDir
	if o.partial.V {
		found = run.PartialSweep
	}
	sweep, err := found()
	if _, ok := errors.AsType[*batch.Unfinished](err); ok {
		o.note("amtrl status %s says why", text.ShellQuote(o.given))
	}
	if err != nil {
		return err
	}
	if sweep.Left != "" {
		folder = fmt.Sprint("partial-", len(sweep.Identity.Units()))
		o.note("left out for want of results: %s", sweep.Left)
	}
	// The name is printed as it was given, as sweep does.
	out := filepath.Clean(cmp.Or(o.out.V, filepath.Join(o.given, folder)))
	sum, id, mixed, err := sweep.Write(out)
	if err != nil {
		return err
	}
	if mixed != "" {
		o.note("%s", mixed)
	}
	o.keepWords(out, run.Plan.Words)
	return o.printSummary(out, id, sum)
}
