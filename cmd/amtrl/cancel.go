package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

// cancelOptions are those of amtrl cancel.
type cancelOptions struct {
	dir, tasks string
	output
}

func cancelCommand() *cli.Command {
	return newCommand(cli.Command{
		Name:        "cancel",
		Usage:       "end the tasks of a submitted sweep that wait or run",
		ArgsUsage:   "RUN [TASKS]",
		Description: "TASKS are indices such as 3 or 0-3,7; without them, all. What a task has saved stays for a retry.",
	}, &cancelOptions{})
}

func (o *cancelOptions) addFlags(set *flags.Set) {
	set.Group(groupOutput)
	o.addQuiet(set)
}

func (o *cancelOptions) check(args []string) (err error) {
	o.dir, o.tasks, err = runAndTasks("cancel", "RUN [TASKS]", args)
	return err
}

func (o *cancelOptions) run(ctx context.Context) error {
	run, err := openRun(o.dir)
	if err != nil {
		return err
	}
	list, err := parseTasks(run, o.tasks)
	if err != nil {
		return err
	}
	unlock, err := run.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	n, err := run.Cancel(ctx, engines.Open, list)
	if err != nil {
		return &exitStatus{statusUnasked, err}
	}
	return o.emit(fmt.Sprintf("cancelled %d tasks\n", n))
}
