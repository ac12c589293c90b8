// Package local runs the tasks of a run folder as child processes of this
// machine, under a supervisor that outlives the submission.
package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/text"
)

// Kind describes the engine to a command line.
var Kind = batch.Kind{
	Name: "local", Title: "child processes", Ignores: []string{"mem", "gpu-type"}, Interval: 200 * time.Millisecond,
	SaveSignals: batch.SaveSignals, NewOptions: func() batch.Options { return options{} },
}

type options struct{}

func (options) List() []batch.Option { return nil }

func (options) Engine(dir string) (batch.Engine, error) { return &engine{dir}, nil }

// engine runs tasks as child processes of a supervisor on this machine, which outlives the submission.
type engine struct{ dir string }

func (e *engine) Name() string { return Kind.Name }
func (e *engine) Options() any { return nil }

func (e *engine) Attempt() batch.Attempt { return batch.Attempt{} }

// Render implements [batch.Engine]. The content of the only part lists the commands of the tasks.
func (e *engine) Render(_ context.Context, s batch.Submission) ([]batch.Part, error) {
	p := batch.Part{Key: s.PartKey(0), File: fmt.Sprintf("%d-0.sh", s.Number), Tasks: s.Tasks}
	parallel := "as many as there are processors"
	if n := s.Resources.Parallel; n > 0 {
		parallel = strconv.Itoa(n)
	}
	var list bytes.Buffer
	fmt.Fprintf(&list, "# The commands of run %s, submission %d, which a supervisor starts, %s at a time.\n", s.ID, s.Number, parallel)
	for _, t := range s.Tasks {
		fmt.Fprintln(&list, text.ShellCommand(batch.TaskCommand(s.Program, p.Key, s.Dir, t)))
	}
	p.Content = list.Bytes()
	p.Argv = []string{s.Program, "supervise", "--part", p.Key, s.Dir}
	return []batch.Part{p}, nil
}

// Check implements [batch.Engine]: there is nobody to ask.
func (e *engine) Check(context.Context, []batch.Part) error { return nil }

// beginWait is how long a supervisor may take to begin. Tests set it.
var beginWait = time.Minute

// Submit implements [batch.Engine]: it starts the supervisor and waits until the supervisor has begun.
func (e *engine) Submit(ctx context.Context, p batch.Part) (string, error) {
	log, err := atomicfile.OpenFile(filepath.Join(e.dir, batch.LogDir, p.Key+".supervisor"), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
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
	silent := time.After(beginWait)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var over error // after which its file is read once more
	for {
		if s, err := e.readSupervisor(p.Key); err == nil && s.PID == cmd.Process.Pid {
			return s.id(), nil
		}
		if over != nil {
			return "", over
		}
		select {
		case <-ended:
			said, _ := atomicfile.ReadFile(log.Name(), maxFile)
			over = fmt.Errorf("the supervisor ended before it began: %s: %s", cmd.ProcessState, text.OneLine(string(said), 300))
		case <-silent:
			cmd.Process.Kill()
			<-ended
			over = fmt.Errorf("the supervisor, %s, did not begin within %s", p.Argv[0], beginWait)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// supervisor identifies the process of a supervisor. It is the content of submit/KEY.local.
type supervisor struct {
	Host string `json:"host"`
	Boot string `json:"boot"`
	PID  int    `json:"pid"`
}

func (s supervisor) id() string { return fmt.Sprintf("%d@%s", s.PID, s.Host) }

func (e *engine) path(key, kind string) string {
	return filepath.Join(e.dir, batch.SubmitDir, key+"."+kind)
}

func (e *engine) readSupervisor(key string) (supervisor, error) {
	var s supervisor
	path := e.path(key, "local")
	if err := jsonfile.Read(path, maxFile, &s); err != nil {
		return s, err
	}
	if !hostForm.MatchString(s.Host) || s.PID < 1 {
		return s, fmt.Errorf("%s: expected the host and the number of a process, found %q and %d", path, text.OneLine(s.Host, 80), s.PID)
	}
	return s, nil
}

var (
	hostForm   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,255}$`)
	notInHosts = regexp.MustCompile(`[^A-Za-z0-9_.-]`)
)

// hostName returns the name of this machine, with the characters replaced that the id of a job cannot have.
func hostName() string {
	host, _ := os.Hostname()
	return hostOf(host)
}

func hostOf(name string) string {
	return cmp.Or(notInHosts.ReplaceAllString(name[:min(len(name), 255)], "-"), "unknown")
}

// maxFile bounds the size of a file that is read whole, in bytes.
const maxFile = 1 << 28

// localEvent is a line of submit/KEY.events, which the supervisor writes.
type localEvent struct {
	Event string      `json:"event"` // begin or end
	Task  int         `json:"task"`
	State batch.State `json:"state,omitempty"`
	Exit  string      `json:"exit,omitempty"`
}

// readEvents stores the last event of each task in last.
func (e *engine) readEvents(key string, last map[int]localEvent) error {
	return jsonfile.ReadLines(e.path(key, "events"), maxFile, func(l localEvent) error {
		begun, ended := l.Event == "begin", l.Event == "end"
		if !begun && !ended || ended && !slices.Contains(ends, l.State) {
			return fmt.Errorf("event %q with state %q: expected the begin or the end of a task", text.OneLine(l.Event, 80),
				text.OneLine(string(l.State), 80))
		}
		last[l.Task] = l
		return nil
	})
}

// ends lists the states in which the process of a task can end.
var ends = []batch.State{batch.Done, batch.Failed, batch.Cancelled, batch.Timeout, batch.Requeued, batch.Lost}

// supervisorEnded is the reason of a lost task whose supervisor was killed, or told to end as when the machine shuts down.
const supervisorEnded = "its supervisor was ended before it had a result"

func (e *engine) Query(_ context.Context, jobs []batch.Job) ([]batch.Observation, error) {
	var list []batch.Observation
	for _, j := range jobs {
		s, err := e.readSupervisor(j.Key)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it never began
		case err != nil:
			return nil, err
		case s.Boot != lease.BootID() && s.Host != hostName():
			return nil, fmt.Errorf("the supervisor of %s runs on %s: ask there", j.Key, s.Host)
		}
		alive := filelock.IsLocked(e.path(j.Key, "lock"))
		last := map[int]localEvent{}
		if err := e.readEvents(j.Key, last); err != nil {
			return nil, err
		}
		for _, t := range j.Tasks {
			o := batch.Observation{Key: j.Key, Job: s.id(), Task: t, Node: s.Host}
			l, seen := last[t]
			switch {
			case seen && l.Event == "end" && (l.State != batch.Requeued || alive):
				o.State, o.Exit = l.State, l.Exit
			case alive && seen, filelock.IsLocked(filepath.Join(e.dir, batch.TaskDir, strconv.Itoa(t), "lock")):
				o.State = batch.Running
			case alive:
				o.State = batch.Queued
			default: // it waited, or its process was killed, too
				o.State = batch.Lost
			}
			if o.State == batch.Lost {
				o.Reason = supervisorEnded
			}
			list = append(list, o)
		}
	}
	return list, nil
}

// Cancel implements [batch.Engine]: it adds the tasks to a file that the supervisor reads.
func (e *engine) Cancel(_ context.Context, j batch.Job, tasks []int) error {
	if tasks == nil {
		tasks = j.Tasks
	}
	if err := jsonfile.Append(e.path(j.Key, "cancel"), batch.Tasks(tasks)); err != nil || filelock.IsLocked(e.path(j.Key, "lock")) {
		return err
	}
	// The supervisor was killed and reads nothing any more: its processes are told here.
	run, err := batch.Open(e.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range tasks {
		if err := e.end(run, j.Key, t); err != nil {
			errs = append(errs, fmt.Errorf("task %d runs without its supervisor: %w", t, err))
		}
	}
	return errors.Join(errs...)
}

// end tells the process that carries out a task to end, if the part started it. It is an error if no process of this
// machine is known to be that one.
func (e *engine) end(run *batch.Run, key string, task int) error {
	dir := filepath.Join(e.dir, batch.TaskDir, strconv.Itoa(task))
	if !filelock.IsLocked(filepath.Join(dir, "lock")) {
		return nil
	}
	var last batch.AttemptLine
	lines, err := run.Attempts(task)
	for _, l := range lines {
		if l.Part != "" {
			last = l
		}
	}
	if err != nil || last.Part != key {
		return err
	}
	pid, err := lease.HolderHere(dir)
	switch {
	case err != nil && !filelock.IsLocked(filepath.Join(dir, "lock")): // it has just ended
		return nil
	case err != nil:
		return err
	}
	// Another process may have the number in a container that shows the name of this machine.
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if pid != last.PID || err == nil && !bytes.Contains(line, []byte(key)) {
		return fmt.Errorf("expected its process, found another of number %d", pid)
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = terminate(p)
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func (e *engine) Log(j batch.Job, task int, _ bool) batch.Log {
	base := filepath.Join(e.dir, batch.LogDir, fmt.Sprintf("%s_%d", j.Key, task))
	return batch.Log{Files: []string{base + ".out", base + ".err"}}
}
