package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/atomicfile"
)

func logsCommand() *cli.Command {
	return &cli.Command{
		Name:        "logs",
		Usage:       "print the log of a task of a submitted sweep, that of its earlier submissions first",
		ArgsUsage:   "RUN TASK",
		Description: "What the engine kept of standard output goes to standard output, what it kept of standard error to\nstandard error.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on until the task has ended", Category: categoryBatch, EnvVars: env("follow")},
			quietFlag(),
		},
		Action: logs,
	}
}

func logs(c *cli.Context) error {
	dir, text, err := tasksArgument(c)
	if err != nil {
		return err
	}
	task, err := strconv.Atoi(text)
	if err != nil || task < 0 {
		return misuse(c, "the task is %q: expected an index such as 3", text)
	}
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	if task >= len(run.Tasks) {
		return misuse(c, "task %d: expected 0 to %d", task, len(run.Tasks)-1)
	}
	jobs := run.JobsOf(task)
	if len(jobs) == 0 {
		return fmt.Errorf("task %d of %s was never handed over: it has no log", task, run.Dir)
	}
	found := false
	for i, j := range jobs {
		set, err := run.Settings(j.Submission)
		if err != nil {
			return err
		}
		eng, err := engines.Open(run.Dir, set)
		if err != nil {
			return err
		}
		follow := c.Bool("follow") && i == len(jobs)-1
		l := eng.Log(j.Job, task, follow)
		if len(l.Argv) > 0 {
			cmd := exec.CommandContext(c.Context, l.Argv[0], l.Argv[1:]...)
			cmd.Stdout, cmd.Stderr = c.App.Writer, c.App.ErrWriter
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %v", batch.ShellCommand(l.Argv), err) // its exit code is not ours
			}
			found = true
			continue
		}
		seen, err := printLogs(c, run, task, l.Files, follow)
		if err != nil {
			return err
		}
		found = found || seen
	}
	if !found {
		note(c, "task %d has no log yet in %s", task, filepath.Join(run.Dir, "log"))
	}
	return nil
}

// printLogs copies the files, and what is added to them while the task goes on.
func printLogs(c *cli.Context, run *batch.Run, task int, files []string, follow bool) (found bool, err error) {
	at := make([]int64, len(files))
	for look := 0; ; look++ {
		ended := !follow
		if follow && look%10 == 0 {
			s, err := run.Status(c.Context, engines.Open)
			var query *batch.QueryError
			if err != nil && !errors.As(err, &query) {
				return found, err
			}
			state := s.Tasks[task].State
			ended = err == nil && state != batch.Queued && state != batch.Running && state != batch.Requeued
		}
		for i, path := range files {
			n, err := copyFrom(c, i, path, at[i])
			if err != nil {
				return found, err
			}
			at[i] += n
			found = found || n > 0
		}
		if ended {
			return found, nil
		}
		if err := pause(c.Context, lookInterval(c, run, 0)/10); err != nil {
			return found, interruption{"the task goes on"}
		}
	}
}

// copyFrom copies a file from an offset on: the first to standard output, the
// second to standard error.
func copyFrom(c *cli.Context, i int, path string, at int64) (int64, error) {
	f, _, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	to := c.App.Writer
	if i == 1 {
		to = c.App.ErrWriter
	}
	return io.Copy(to, f)
}
