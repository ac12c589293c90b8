package main

import (
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
)

func collectCommand() *cli.Command {
	return &cli.Command{
		Name:      "collect",
		Usage:     "put the results of a submitted sweep together, as the sweep leaves them on one machine",
		ArgsUsage: "RUN",
		Flags: []cli.Flag{
			riskFlag(),
			textFlag(categoryOutput, "out", "`FOLDER` of the sweep; by default RUN/"+batch.SweepDir, ""),
			formatFlag(), jsonFlag("the summary"), quietFlag(),
		},
		Action: collect,
	}
}

func collect(c *cli.Context) error {
	dir, err := runArgument(c)
	if err != nil {
		return err
	}
	format, err := tableFormat(c)
	if err != nil {
		return err
	}
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	if err := checkRisk(c, run.Plan.Identity.Budgets); err != nil {
		return err
	}
	out := c.String("out")
	if out == "" {
		// The name is printed as it was given, as sweep does.
		out = filepath.Join(c.Args().First(), batch.SweepDir)
	}
	out = filepath.Clean(out)
	sum, id, mixed, err := run.Collect(out)
	var unfinished *batch.Unfinished
	if errors.As(err, &unfinished) {
		note(c, "amtrl status %s says why", batch.ShellQuote(c.Args().First()))
	}
	if err != nil {
		return err
	}
	if mixed != "" {
		note(c, "%s", mixed)
	}
	return printSweep(c, out, id, sum, format)
}
