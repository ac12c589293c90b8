package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/amtrl/amtrl/batch"
)

// Kind is the engine for a command line.
var Kind = batch.Kind{
	Name: "local", Title: "child processes", Ignores: []string{"mem", "gpu-type"}, Interval: 200 * time.Millisecond, SaveSignals: saveSignals,
	NewOptions: func() batch.Options { return options{} },
}

// options are none.
type options struct{}

func (options) List() []batch.Option { return nil }

func (options) Engine(dir string) (batch.Engine, error) { return New(dir), nil }

// Engine runs tasks as child processes of a supervisor on this machine,
// which goes on by itself after the submission.
type Engine struct{ dir string }

// New makes the engine of a run folder.
func New(dir string) *Engine { return &Engine{dir} }

// Name implements [batch.Engine].
func (e *Engine) Name() string { return Kind.Name }

// Options implements [batch.Engine].
func (e *Engine) Options() any { return nil }

// Attempt implements [batch.Engine].
func (e *Engine) Attempt() batch.Attempt { return batch.Named("") }

// Render implements [batch.Engine]. What is handed over is the list of the commands.
func (e *Engine) Render(_ context.Context, s batch.Submission) ([]batch.Part, error) {
	p := batch.Part{Key: s.PartKey(0), File: fmt.Sprintf("%d-0.sh", s.Try), Tasks: s.Tasks}
	var list bytes.Buffer
	fmt.Fprintf(&list, "# The commands of run %s, submission %d, which a supervisor starts, %s at a time.\n", s.ID, s.Try, parallelText(s.Resources))
	for _, t := range s.Tasks {
		fmt.Fprintln(&list, batch.ShellCommand(batch.TaskCommand(s.Program, p.Key, s.Dir, t)))
	}
	p.Content = list.Bytes()
	p.Argv = []string{s.Program, "supervise", "--part", p.Key, s.Dir}
	return []batch.Part{p}, nil
}

func parallelText(res batch.Resources) string {
	if res.Parallel == 0 {
		return "as many as there are processors"
	}
	return strconv.Itoa(res.Parallel)
}

// Check implements [batch.Engine]: there is nobody to ask.
func (e *Engine) Check(context.Context, []batch.Part) error { return nil }

// Submit implements [batch.Engine]: it starts the supervisor and waits until that has
// begun.
func (e *Engine) Submit(ctx context.Context, p batch.Part) (string, error) {
	log, err := os.OpenFile(filepath.Join(e.dir, batch.LogDir, p.Key+".supervisor"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if s, err := e.readSupervisor(p.Key); err == nil && s.PID == cmd.Process.Pid {
			return s.id(), nil
		}
		select {
		case err := <-ended:
			text, _ := os.ReadFile(log.Name())
			return "", fmt.Errorf("the supervisor ended at once: %v: %s", err, batch.OneLine(string(text)))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// supervisor is what a supervisor says of itself: submit/KEY.local.
type supervisor struct {
	Host string `json:"host"`
	Boot string `json:"boot"`
	PID  int    `json:"pid"`
}

func (s supervisor) id() string { return fmt.Sprintf("%d@%s", s.PID, s.Host) }

func (e *Engine) path(key, kind string) string {
	return filepath.Join(e.dir, batch.SubmitDir, key+"."+kind)
}

func (e *Engine) readSupervisor(key string) (supervisor, error) {
	var s supervisor
	raw, err := os.ReadFile(e.path(key, "local"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s)
}

// localEvent is a line of submit/KEY.events, which the supervisor writes.
type localEvent struct {
	Event string      `json:"event"` // begin or end
	Task  int         `json:"task"`
	State batch.State `json:"state,omitempty"`
	Exit  string      `json:"exit,omitempty"`
}

// Query implements [batch.Engine].
func (e *Engine) Query(_ context.Context, jobs []batch.Job) ([]batch.Observation, error) {
	var list []batch.Observation
	for _, j := range jobs {
		s, err := e.readSupervisor(j.Key)
		if err != nil {
			continue // it never began
		}
		if s.Boot != batch.BootID() {
			if host, _ := os.Hostname(); s.Host != host {
				return nil, fmt.Errorf("the supervisor of %s runs on %s: ask there", j.Key, s.Host)
			}
		}
		alive := isLocked(e.path(j.Key, "lock"))
		last := map[int]localEvent{}
		if err := batch.ReadLines(e.path(j.Key, "events"), func(l localEvent) error { last[l.Task] = l; return nil }); err != nil {
			return nil, err
		}
		for _, t := range j.Tasks {
			o := batch.Observation{Key: j.Key, Job: s.id(), Task: t, Node: s.Host}
			l, seen := last[t]
			switch {
			case seen && l.Event == "end" && (l.State != batch.Requeued || alive):
				o.State, o.Exit = l.State, l.Exit
			case alive && seen, isLocked(filepath.Join(e.dir, batch.TaskDir, strconv.Itoa(t), "lock")):
				o.State = batch.Running
			case alive:
				o.State = batch.Queued
			default:
				continue
			}
			list = append(list, o)
		}
	}
	return list, nil
}

// isLocked says whether a process holds the lock of a file.
func isLocked(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	unlock, err := batch.LockFile(path)
	if unlock != nil {
		unlock()
	}
	return errors.Is(err, batch.ErrLocked)
}

// Cancel implements [batch.Engine]: the supervisor reads the file that it writes.
func (e *Engine) Cancel(_ context.Context, j batch.Job, tasks []int) error {
	if tasks == nil {
		tasks = j.Tasks
	}
	return batch.AppendLine(e.path(j.Key, "cancel"), batch.Tasks(tasks))
}

// Log implements [batch.Engine].
func (e *Engine) Log(j batch.Job, task int, _ bool) batch.Log {
	base := filepath.Join(e.dir, batch.LogDir, fmt.Sprintf("%s_%d", j.Key, task))
	return batch.Log{Files: []string{base + ".out", base + ".err"}}
}
