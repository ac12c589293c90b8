package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
)

func retryCommand() *cli.Command {
	return &cli.Command{
		Name:      "retry",
		Usage:     "hand tasks of a submitted sweep over again that have no result",
		ArgsUsage: "RUN [TASKS]",
		Description: "Tasks go on from their checkpoints. Everything is as in the last submission but for the flags given.\n" +
			"TASKS are indices such as 3 or 0-3,7.",
		Flags: slices.Concat(
			[]cli.Flag{
				boolFlag(categoryBatch, "failed", "all tasks that failed, met their time limit, were cancelled or lost, left a damaged result, or were never handed over"),
				textFlag(categoryBatch, "to", "engine: "+orList(engines.Names())+"; by default that of the last submission", ""),
			},
			resourceFlags(), engineFlags(), handOverFlags(),
			[]cli.Flag{jsonFlag("what was handed over"), quietFlag()},
		),
		Action: retry,
	}
}

func retry(c *cli.Context) error {
	dir, tasks, err := tasksArgument(c)
	if err != nil {
		return err
	}
	if (tasks == "") != c.Bool("failed") {
		return misuse(c, "expected either --failed or tasks such as 3 or 0-3,7")
	}
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	var list batch.Tasks
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
	set, eng, err := retrySettings(c, run)
	if err != nil {
		return err
	}
	if err := run.Recover(c.Context, engines.Open); err != nil {
		return explainRetry(err)
	}
	s, err := run.Status(c.Context, engines.Open)
	if err != nil {
		return explainRetry(err)
	}
	if err := run.CheckResults(s); err != nil {
		return err
	}
	failed := s.Failed()
	for _, t := range list {
		if !slices.Contains(failed, t) {
			return fmt.Errorf("task %d is %s: expected one that is not", t, s.Tasks[t].State)
		}
	}
	if list == nil {
		list = failed
	}
	if len(list) == 0 {
		note(c, "nothing to hand over again: %s", countsText(s))
	}
	switch {
	case c.Bool("dry-run") || c.Bool("check"):
		return dryHandOver(c, run, eng, set, list)
	case len(list) > 0:
		return handOver(c, run, eng, set, list)
	case c.Bool("json"):
		return printHandOver(c, run, eng.Name(), nil)
	}
	return nil
}

// explainRetry makes an engine that could not be asked exit code 2: what runs
// there must not be handed over again.
func explainRetry(err error) error { return &exitStatus{statusUnasked, err} }

// retrySettings are those of the last submission with the flags that are given.
func retrySettings(c *cli.Context, run *batch.Run) (batch.Settings, batch.Engine, error) {
	last, submitted, err := run.LastSettings()
	if err != nil {
		return last, nil, err
	}
	if submitted {
		// What others wrote is not run: program, options and engine are then those of
		// this command line alone.
		if err := run.CheckOwner(); err != nil {
			if !c.IsSet("program") || !c.IsSet("to") {
				return last, nil, fmt.Errorf("%w: the program and the options of the last submission are not taken from there; give --to, --program and the options again, or, where nobody but you wrote there, chown and chmod it", err)
			}
			last.Engine = ""
		}
	}
	name := c.String("to")
	if name == "" {
		if name = last.Engine; !submitted {
			return last, nil, misuse(c, "%s was never submitted: expected --to", run.Dir)
		}
	}
	if _, ok := engines.Find(name); !ok {
		return last, nil, misuse(c, "--to is %q: expected %s", name, orList(engines.Names()))
	}
	var before *batch.Resources
	var saved json.RawMessage
	if submitted {
		before = &last.Resources
		if name == last.Engine {
			saved = last.Options
		}
	}
	res, err := readResources(c, before)
	if err != nil {
		return last, nil, err
	}
	eng, err := newEngine(c, name, saved, run.Trial(res))
	if err != nil {
		return last, nil, err
	}
	set, err := newSettings(c, eng, res)
	if c.String("program") == "" && submitted && name == last.Engine {
		set.Program = last.Program
	}
	return set, eng, err
}
