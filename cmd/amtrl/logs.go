package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
)

type logsOptions struct {
	runFolder
	task   int
	follow flags.Value[bool]
	output
}

func (o *logsOptions) addFlags(set *flags.Set) {
	set.Group(groupBatch)
	set.Bool(&o.follow, "follow", "go on until the task has ended").Aliases = []string{"f"}
	set.Group(groupOutput)
	o.addQuiet(set)
}

func (o *logsOptions) check() (err error) {
	if o.tasks == "" {
		return flags.Misuse("no task: expected its index after the run folder, as in amtrl logs %s 0", text.ShellQuote(o.given))
	}
	if o.task, err = strconv.Atoi(o.tasks); err != nil || o.task < 0 {
		return flags.Misuse("the task is %q: expected an index such as 3", o.tasks)
	}
	return nil
}

func (o *logsOptions) run(ctx context.Context) error {
	run, err := o.open()
	if err != nil {
		return err
	}
	if o.task >= len(run.Tasks) {
		return flags.Misuse("task %d: expected 0 to %d", o.task, len(run.Tasks)-1)
	}
	jobs := run.JobsOf(o.task)
	if len(jobs) == 0 {
		return fmt.Errorf("task %d of %s was never handed over: it has no log", o.task, run.Dir)
	}
	found := false
	for i, j := range jobs {
		eng, err := run.Engine(j, engines.Open)
		if err != nil {
			return err
		}
		follow := o.follow.V && i == len(jobs)-1
		l := eng.Log(j.Job, o.task, follow)
		if len(l.Argv) > 0 {
			cmd := exec.CommandContext(ctx, l.Argv[0], l.Argv[1:]...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); ctx.Err() != nil {
				return interruption("the task goes on")
			} else if err != nil {
				return fmt.Errorf("%s: %v", text.ShellCommand(l.Argv), err) // not wrapped: its exit code is not that of this command
			}
			found = true
			continue
		}
		seen, err := o.printLogs(ctx, run, l.Files, follow)
		if err != nil {
			return err
		}
		found = found || seen
	}
	if !found {
		o.note("task %d has no log yet in %s", o.task, filepath.Join(run.Dir, batch.LogDir))
	}
	return nil
}

// printLogs copies the files and, with follow, what is added to them until the task ends. found reports whether they hold any text.
func (o *logsOptions) printLogs(ctx context.Context, run *batch.Run, files []string, follow bool) (found bool, err error) {
	at := make([]int64, len(files))
	for look := 0; ; look++ {
		ended := !follow
		if follow && look%10 == 0 {
			s, err := run.Status(ctx, engines.Open)
			var query *batch.QueryError
			if err != nil && !errors.As(err, &query) {
				return found, err
			}
			state := s.Tasks[o.task].State
			ended = err == nil && state != batch.Queued && state != batch.Running && state != batch.Requeued
		}
		for i, path := range files {
			n, err := copyFrom(i, path, at[i])
			if err != nil {
				return found, err
			}
			at[i] += n
			found = found || n > 0
		}
		if ended {
			return found, nil
		}
		if err := pause(ctx, lookInterval(run, 0)/10); err != nil {
			return found, interruption("the task goes on")
		}
	}
}

// copyFrom copies the file at path from the offset at on, to standard output if i is 0 and to standard error if i is 1.
// It returns the number of bytes copied, 0 if there is no file.
func copyFrom(i int, path string, at int64) (int64, error) {
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
	to := os.Stdout
	if i == 1 {
		to = os.Stderr
	}
	return io.Copy(to, f)
}
