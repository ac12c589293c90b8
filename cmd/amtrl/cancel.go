package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
)

func cancelCommand() *cli.Command {
	return &cli.Command{
		Name:        "cancel",
		Usage:       "end the tasks of a submitted sweep that wait or run",
		ArgsUsage:   "RUN [TASKS]",
		Description: "TASKS are indices such as 3 or 0-3,7; without them, all. What a task has saved stays for a retry.",
		Flags:       []cli.Flag{quietFlag()},
		Action:      cancel,
	}
}

func cancel(c *cli.Context) error {
	dir, tasks, err := tasksArgument(c)
	if err != nil {
		return err
	}
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	var list []int
	if tasks != "" {
		if list, err = batch.ParseTasks(tasks, len(run.Tasks)); err != nil {
			return misuse(c, "%s", err)
		}
	}
	unlock, err := run.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	n, err := run.Cancel(c.Context, engines.Open, list)
	if err != nil {
		return &exitStatus{statusUnasked, err}
	}
	return emit(c, fmt.Sprintf("cancelled %d tasks\n", n))
}

// tasksArgument is a run folder, and tasks where they are given.
func tasksArgument(c *cli.Context) (dir, tasks string, err error) {
	if c.NArg() == 0 || c.Args().First() == "" {
		return "", "", misuse(c, "no run folder: expected amtrl %s %s", c.Command.Name, c.Command.ArgsUsage)
	}
	if c.NArg() > 2 {
		return "", "", misuse(c, "unexpected argument %q: expected %s", c.Args().Get(2), c.Command.ArgsUsage)
	}
	dir, err = filepath.Abs(c.Args().First())
	return dir, c.Args().Get(1), err
}
