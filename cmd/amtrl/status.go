package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
)

// exitUnasked is the exit code of commands about a submitted sweep whose engine could not be asked.
const exitUnasked = 2

type statusOptions struct {
	runFolder
	watch, wait, all flags.Value[bool]
	interval         flags.Value[time.Duration]
	output
}

func (o *statusOptions) addFlags(set *flags.Set) {
	set.Group(groupBatch)
	set.Bool(&o.watch, "watch", "show every change until no task is left that may get a result")
	set.Bool(&o.wait, "wait", "wait until no task is left that may get a result")
	interval := set.Duration(&o.interval, "interval", "time between two looks")
	interval.DefaultText = "10s, rising to 30s; 0.2s where the tasks are child processes"
	set.Group(groupOutput)
	set.Bool(&o.all, "all", "list every task, not only those that run or need attention")
	o.addJSON(set, "the status")
	o.addQuiet(set)
	o.addFormat(set)
}

func (o *statusOptions) check() error {
	if o.interval.Set && o.interval.V < 50*time.Millisecond {
		return flags.Misuse("--interval is %s: expected at least 50ms", o.interval.V)
	}
	return o.output.check()
}

func (o *statusOptions) run(ctx context.Context) error {
	run, err := o.open()
	if err != nil {
		return err
	}
	var s *batch.Status
	if o.watch.V || o.wait.V {
		s, err = o.watchRun(ctx, run)
	} else {
		s, err = run.Status(ctx, engines.Open)
	}
	if _, ok := errors.AsType[*batch.QueryError](err); ok {
		err = fmt.Errorf("%w; by its files %s of %s %s done", err, text.Count(s.Count(batch.Done)), text.Several(len(s.Tasks), "task"),
			text.Form(s.Count(batch.Done), "is", "are"))
	}
	if err != nil {
		return explainEngine(ctx, err, "the tasks go on")
	}
	if o.json.V {
		counts := map[batch.State]int{}
		for _, state := range states {
			counts[state] = s.Count(state)
		}
		err = o.emitJSON(statusResult{run.Dir, run.Plan.ID, counts, s.Tasks})
	} else if !o.watch.V {
		err = o.emit(statusText(run, s, o.all.V, o.format))
	}
	if err == nil && len(s.Failed()) > s.Count(batch.New) || o.wait.V && len(s.Failed()) > 0 {
		return &exitStatus{code: exitFailed, err: err}
	}
	return err
}

// explainEngine returns interrupted if ctx has ended. It gives the error of an engine that could not be asked, and so
// was told nothing, the exit code exitUnasked. It returns other errors unchanged.
func explainEngine(ctx context.Context, err error, interrupted interruption) error {
	if err != nil && ctx.Err() != nil {
		return interrupted
	}
	if _, ok := errors.AsType[*batch.QueryError](err); ok {
		return &exitStatus{exitUnasked, err}
	}
	return err
}

// patience is the number of failed looks in a row after which watchRun gives up.
const patience = 10

// watchRun looks at the run repeatedly, until no task can still get a result, and returns the last status.
func (o *statusOptions) watchRun(ctx context.Context, run *batch.Run) (*batch.Status, error) {
	interval := func(look int) time.Duration {
		if o.interval.Set {
			return o.interval.V
		}
		return lookInterval(run, look)
	}
	failures, last := 0, ""
	for look := 0; ; look++ {
		// Tasks may have been added since the last look, or handed over again.
		now, err := batch.Open(run.Dir)
		if err != nil {
			return nil, err
		}
		*run = *now
		s, err := run.Status(ctx, engines.Open)
		var query *batch.QueryError
		switch {
		case err != nil && ctx.Err() != nil:
			return s, interruption("the tasks go on")
		case errors.As(err, &query):
			if failures++; failures == patience {
				return s, err
			}
			if failures == 1 {
				o.note("%s; asking again", err)
			}
		case err != nil:
			return s, err
		default:
			failures = 0
			text := countsText(s)
			if o.watch.V {
				text = statusText(run, s, o.all.V, o.format)
			}
			if text != last {
				if err := o.showChange(text); err != nil {
					return s, err
				}
				last = text
			}
			if !s.Open() {
				return s, nil
			}
		}
		if err := pause(ctx, interval(look)); err != nil {
			return s, interruption("the tasks go on")
		}
	}
}

func (o *statusOptions) showChange(text string) error {
	switch {
	case o.json.V:
		return nil
	case !o.watch.V:
		o.note("%s", text)
		return nil
	case term.IsTerminal(int(os.Stdout.Fd())):
		return o.emit("\x1b[H\x1b[2J" + text)
	}
	return o.emit(text + "\n")
}

// lookInterval returns the time to wait after a look. It spares the engine, which answers queries about the jobs of others too.
func lookInterval(run *batch.Run, look int) time.Duration {
	first := engines[0].Interval
	for _, j := range run.Jobs {
		if kind, ok := engines.Find(j.Engine); ok {
			first = max(first, kind.Interval)
		}
	}
	if first < time.Second {
		return first
	}
	return min(first+time.Duration(look)*first/5, 3*first)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// states lists the states in the order in which they are counted.
var states = []batch.State{
	batch.Done, batch.Running, batch.Queued, batch.Requeued, batch.New,
	batch.Failed, batch.Timeout, batch.Cancelled, batch.Lost, batch.DamagedResult,
}

func countsText(s *batch.Status) string {
	var parts []string
	for _, state := range states {
		if n := s.Count(state); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", text.Count(n), state))
		}
	}
	return fmt.Sprintf("%s: %s", text.Several(len(s.Tasks), "task"), strings.Join(parts, ", "))
}

// mostTasks bounds the number of tasks that are listed without --all.
const mostTasks = 40

// mostWhys bounds the reasons for which tasks wait that are listed without --all.
const mostWhys = 3

func statusText(run *batch.Run, s *batch.Status, all bool, format report.Format) string {
	table := report.Table{Header: []string{"task", "state", "attempts", "engine", "node", "what", "reason"}}
	hidden := 0
	waits := map[string]int{} // queued tasks that are not listed, by the reason
	var whys []string
	for _, t := range s.Tasks {
		quiet := t.State == batch.Done || t.State == batch.Queued || t.State == batch.New
		if !all && (quiet || len(table.Rows) == mostTasks) {
			if !quiet {
				hidden++
			}
			if t.State == batch.Queued && t.Reason != "" {
				if waits[t.Reason]++; waits[t.Reason] == 1 {
					whys = append(whys, t.Reason)
				}
			}
			continue
		}
		what := t.Units[0]
		if n := len(t.Units); n > 1 {
			what += fmt.Sprintf(" and %d more", n-1)
		}
		table.Rows = append(table.Rows, []string{strconv.Itoa(t.Task), string(t.State), strconv.Itoa(t.Attempts),
			cmp.Or(t.EngineID, t.Job), t.Node, what, t.Reason})
	}
	out := fmt.Sprintf("run %s in %s\n%s\n", run.Plan.ID, run.Dir, countsText(s))
	for _, why := range whys[:min(len(whys), mostWhys)] {
		out += fmt.Sprintf("%s queued: %s\n", text.Count(waits[why]), why)
	}
	if len(table.Rows) > 0 {
		out += "\n" + table.Render(format)
	}
	if hidden > 0 {
		out += fmt.Sprintf("and %s more: --all lists them\n", text.Count(hidden))
	}
	if failed := s.Failed(); len(failed) > 0 && !s.Open() {
		again, to := " again", ""
		if len(run.Jobs) == 0 { // no submission says to which engine
			again, to = "", " --to ENGINE"
		}
		out += fmt.Sprintf("\nto hand %s over%s: amtrl retry %s --failed%s\n", text.Several(len(failed), "task"), again,
			text.ShellQuote(run.Dir), to)
	}
	return out
}

type statusResult struct {
	Run    string              `json:"run"`
	ID     string              `json:"id"`
	Counts map[batch.State]int `json:"counts"`
	Tasks  []batch.TaskStatus  `json:"tasks"`
}
