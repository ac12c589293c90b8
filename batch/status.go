package batch

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// TaskStatus is the state of a task, by its files first and by the engine second.
type TaskStatus struct {
	Task  int      `json:"task"`
	Units []string `json:"units"`
	State State    `json:"state"`
	// Reason explains the state, in the words of the attempt or else of the engine.
	Reason string `json:"reason,omitempty"`
	// Part is the key of the last part that holds the task, Job the engine's id of that job, EngineID its id of the
	// task, and Node where the task runs or ran.
	Part     string `json:"part,omitempty"`
	Job      string `json:"job,omitempty"`
	EngineID string `json:"engine_id,omitempty"`
	Node     string `json:"node,omitempty"`
	Attempts int    `json:"attempts,omitempty"`

	begun     bool // an attempt of Part has begun
	cancelled bool // it was cancelled in Part
	damaged   error
}

// Status is the state of a run.
type Status struct {
	Tasks []TaskStatus `json:"tasks"`

	unfinished map[*JobRecord]int
}

// Count returns the number of tasks in a state.
func (s *Status) Count(state State) int {
	n := 0
	for i := range s.Tasks {
		if s.Tasks[i].State == state {
			n++
		}
	}
	return n
}

// open reports whether a task in this state may still get a result by itself.
func (s State) open() bool { return s == Queued || s == Requeued || s == Running }

// Open reports whether any task may still get a result by itself.
func (s *Status) Open() bool { return s.Count(Queued)+s.Count(Requeued)+s.Count(Running) > 0 }

// Failed lists the tasks that have no result and will not get one by themselves.
func (s *Status) Failed() []int {
	var list []int
	for _, t := range s.Tasks {
		if t.State != Done && !t.State.open() {
			list = append(list, t.Task)
		}
	}
	return list
}

// Ending lists the tasks that were cancelled and have not ended yet.
func (s *Status) Ending() []int {
	var list []int
	for _, t := range s.Tasks {
		if t.cancelled && t.State.open() {
			list = append(list, t.Task)
		}
	}
	return list
}

// Status reads the files of all tasks, and asks the engines about those without a result, each engine once for all its
// jobs. The error is a [*QueryError] if an engine could not be asked; the status is then what the files say.
func (r *Run) Status(ctx context.Context, open Opener) (*Status, error) {
	s := &Status{unfinished: map[*JobRecord]int{}}
	begun, err := r.begunTasks()
	if err != nil {
		return nil, err
	}
	of := r.jobOf()
	for t, j := range of {
		st := TaskStatus{Task: t, Units: r.Tasks[t].names(), State: New}
		if begun[t] {
			if err := r.fromFiles(&st, j); err != nil {
				return nil, err
			}
		} else if j != nil {
			st.State = Lost
		}
		if j != nil {
			st.Part, st.Job, st.cancelled = j.Key, j.ID, j.Cancelled[t]
			if st.State != Done {
				s.unfinished[j]++
			}
		}
		s.Tasks = append(s.Tasks, st)
	}
	seen, failed := r.observe(ctx, s, open)
	for i := range s.Tasks {
		st := &s.Tasks[i]
		said := st.State == Failed || st.State == Timeout // and the files say why
		if j := of[st.Task]; j != nil && st.State != Done {
			st.settle(j, seen[taskKey{j.Key, st.Task}])
		}
		if st.State == Lost || st.State == Failed {
			// A task that ended after its files were read and before the engine answered has its result now, or says why not.
			if done, err := r.hasResult(st.Task); err == nil && done {
				st.State, st.Reason, st.damaged = Done, "", nil
			} else if st.State == Failed && !said {
				if exit, err := r.readExit(st.Task); err == nil && exit != nil && exit.Part == st.Part {
					st.Reason = cmp.Or(exit.Error, st.Reason)
					if exit.Reason == reasonTimeout {
						st.State = Timeout
					}
				}
			}
		}
		if st.damaged != nil && !st.State.open() {
			st.State, st.Reason = DamagedResult, st.damaged.Error()
		}
		st.Reason, st.Node = text.OneLine(st.Reason, 1000), text.OneLine(st.Node, 255)
	}
	return s, failed
}

type taskKey struct {
	part string
	task int
}

// observe asks the engines about the jobs that hold tasks without a result, and returns the observations by part and task.
func (r *Run) observe(ctx context.Context, s *Status, open Opener) (map[taskKey]Observation, error) {
	seen := map[taskKey]Observation{}
	type group struct {
		settings string
		engine   Engine
		jobs     []Job
	}
	var groups []*group
	for _, j := range r.Jobs {
		if s.unfinished[j] == 0 {
			continue
		}
		set, err := r.Settings(j.Submission)
		if err != nil {
			return seen, err
		}
		key := set.Engine + "\x00" + string(set.Options)
		at := slices.IndexFunc(groups, func(g *group) bool { return g.settings == key })
		if at < 0 {
			e, err := open(r.Dir, set)
			if err != nil {
				return seen, err
			}
			at, groups = len(groups), append(groups, &group{settings: key, engine: e})
		}
		groups[at].jobs = append(groups[at].jobs, j.Job)
	}
	var failed error
	for _, g := range groups {
		list, err := g.engine.Query(ctx, g.jobs)
		if err != nil {
			failed = errors.Join(failed, &QueryError{g.engine.Name(), err})
			continue
		}
		for _, o := range list {
			seen[taskKey{o.Key, o.Task}] = o
		}
	}
	return seen, failed
}

// begunTasks returns the set of tasks that have a folder.
func (r *Run) begunTasks() (map[int]bool, error) {
	entries, err := os.ReadDir(filepath.Join(r.Dir, TaskDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	begun := make(map[int]bool, len(entries))
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n >= 0 && n < len(r.Tasks) {
			begun[n] = true
		}
	}
	return begun, nil
}

func (r *Run) fromFiles(st *TaskStatus, j *JobRecord) error {
	lines, err := r.Attempts(st.Task)
	if err != nil {
		return err
	}
	for _, l := range lines {
		st.Attempts = max(st.Attempts, l.Attempt)
		if l.Event == attemptStart {
			st.Node = l.Host
			st.begun = st.begun || j != nil && l.Part == j.Key
		}
	}
	if j != nil {
		st.State = Lost
	}
	done, err := r.hasResult(st.Task)
	if done {
		st.State = Done
		return nil
	}
	if isDamaged(err) {
		st.damaged = err
	} else if err != nil {
		return err
	}
	exit, err := r.readExit(st.Task)
	if err != nil {
		st.Reason = err.Error() // the next attempt writes it anew
	}
	if j != nil && exit != nil && exit.Part == j.Key {
		switch {
		case exit.Code == ExitRequeue:
			st.State = Requeued
		case exit.Reason == reasonTimeout:
			st.State = Timeout
		case exit.Code != 0 && exit.Code != ExitTerminated: // after 0 it had a result that is gone
			st.State = Failed
		}
		st.Reason = exit.Error
	}
	return nil
}

// settle combines the state that the files give a task without a result with the observation of the engine. An
// observation without a key means that the engine does not know the task.
func (st *TaskStatus) settle(j *JobRecord, o Observation) {
	if o.Key == "" {
		switch {
		case j.Cancelled[st.Task]:
			st.State, st.Reason = Cancelled, ""
		case st.State == Lost || st.State == Requeued:
			st.State, st.Reason = Lost, "the engine does not know it, and it has no result"
			if j.Unsure {
				st.Reason = j.Error + ", and the engine does not know it"
			}
		}
		return
	}
	was, why := st.State, st.Reason
	st.State, st.Job, st.EngineID, st.Reason = o.State, o.Job, o.EngineID, o.Reason
	st.Node = cmp.Or(o.Node, st.Node)
	switch o.State {
	case Queued:
		if st.begun {
			st.State = Requeued
		}
	case Lost:
		if was == Failed || was == Timeout { // and its files say why
			st.State, st.Reason = was, why
		}
	case Done:
		st.State, st.Reason = Lost, "it ended well for the engine, and has no result"
	case Timeout:
		if was == Timeout {
			st.Reason = why
		}
	case Failed:
		if was == Timeout { // which the engine cannot tell from the exit code
			st.State = Timeout
		}
		st.Reason = cmp.Or(why, strings.TrimSpace(o.Exit+" "+o.Reason))
	}
	if !st.State.open() && o.State != Done && j.Cancelled[st.Task] {
		st.State, st.Reason = Cancelled, ""
	}
}

// CheckResults reads the results of all done tasks in full, where Status looks only at the start and the end of each
// file, and marks the damaged ones in s.
func (r *Run) CheckResults(s *Status) error {
	for i := range s.Tasks {
		st := &s.Tasks[i]
		if st.State != Done {
			continue
		}
		_, err := r.Result(st.Task)
		if isDamaged(err) {
			st.State, st.Reason = DamagedResult, text.OneLine(err.Error(), 1000)
		} else if err != nil {
			return err
		}
	}
	return nil
}
