package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/flags"
)

// collectOptions are those of amtrl collect.
type collectOptions struct {
	dir, given string
	out        flags.Value[string]
	sweepOutput
}

func collectCommand() *cli.Command {
	return newCommand(cli.Command{
		Name:      "collect",
		Usage:     "put the results of a submitted sweep together, as the sweep leaves them on one machine",
		ArgsUsage: "RUN",
	}, &collectOptions{})
}

func (o *collectOptions) addFlags(set *flags.Set) {
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FOLDER` of the sweep; by default RUN/"+batch.SweepDir, "")
	o.sweepOutput.addFlags(set)
}

func (o *collectOptions) check(args []string) (err error) {
	if o.dir, err = runFolder("collect", args); err != nil {
		return err
	}
	o.given = args[0]
	return o.checkOutput()
}

func (o *collectOptions) run(context.Context) error {
	run, err := openRun(o.dir)
	if err != nil {
		return err
	}
	if err := o.checkRisk(run.Plan.Identity.Budgets); err != nil {
		return err
	}
	out := o.out.V
	if out == "" {
		// The name is printed as it was given, as sweep does.
		out = filepath.Join(o.given, batch.SweepDir)
	}
	out = filepath.Clean(out)
	sum, id, mixed, err := run.Collect(out)
	var unfinished *batch.Unfinished
	if errors.As(err, &unfinished) {
		o.note("amtrl status %s says why", batch.ShellQuote(o.given))
	}
	if err != nil {
		return err
	}
	if mixed != "" {
		o.note("%s", mixed)
	}
	return o.printSummary(out, id, sum)
}
