package batch

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
	"strings"
	"time"
)

// LocalEngine runs tasks as child processes of a supervisor on this machine,
// which goes on by itself after the submission.
type LocalEngine struct{ dir string }

// NewLocal makes the engine of a run folder.
func NewLocal(dir string) *LocalEngine { return &LocalEngine{dir} }

// Name implements [Engine].
func (e *LocalEngine) Name() string { return Local }

// Options implements [Engine].
func (e *LocalEngine) Options() any { return nil }

// Render implements [Engine]. What is handed over is the list of the commands.
func (e *LocalEngine) Render(_ context.Context, s Submission) ([]Part, error) {
	p := Part{Key: s.PartKey(0), File: fmt.Sprintf("%d-0.sh", s.Try), Tasks: s.Tasks}
	var list bytes.Buffer
	fmt.Fprintf(&list, "# The commands of run %s, submission %d, which a supervisor starts, %s at a time.\n", s.ID, s.Try, parallelText(s.Resources))
	for _, t := range s.Tasks {
		fmt.Fprintln(&list, ShellCommand(taskCommand(s.Program, p.Key, s.Dir, t)))
	}
	p.Content = list.Bytes()
	p.Argv = []string{s.Program, "supervise", "--part", p.Key, s.Dir}
	return []Part{p}, nil
}

func parallelText(res Resources) string {
	if res.Parallel == 0 {
		return "as many as there are processors"
	}
	return strconv.Itoa(res.Parallel)
}

// taskCommand carries out one task.
func taskCommand(program, key, dir string, index int) []string {
	return []string{program, "run-task", "--part", key, dir, strconv.Itoa(index)}
}

// Check implements [Engine]: there is nobody to ask.
func (e *LocalEngine) Check(context.Context, []Part) error { return nil }

// Submit implements [Engine]: it starts the supervisor and waits until that has
// begun.
func (e *LocalEngine) Submit(ctx context.Context, p Part) (string, error) {
	log, err := os.OpenFile(filepath.Join(e.dir, logDir, p.Key+".supervisor"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
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
			return "", fmt.Errorf("the supervisor ended at once: %v: %s", err, oneLine(string(text)))
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

func (e *LocalEngine) path(key, kind string) string {
	return filepath.Join(e.dir, submitDir, key+"."+kind)
}

func (e *LocalEngine) readSupervisor(key string) (supervisor, error) {
	var s supervisor
	raw, err := os.ReadFile(e.path(key, "local"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s)
}

// localEvent is a line of submit/KEY.events, which the supervisor writes.
type localEvent struct {
	Event string `json:"event"` // begin or end
	Task  int    `json:"task"`
	State State  `json:"state,omitempty"`
	Exit  string `json:"exit,omitempty"`
}

// Query implements [Engine].
func (e *LocalEngine) Query(_ context.Context, jobs []Job) ([]Observation, error) {
	var list []Observation
	for _, j := range jobs {
		s, err := e.readSupervisor(j.Key)
		if err != nil {
			continue // it never began
		}
		if s.Boot != bootID() {
			if host, _ := os.Hostname(); s.Host != host {
				return nil, fmt.Errorf("the supervisor of %s runs on %s: ask there", j.Key, s.Host)
			}
		}
		alive := isLocked(e.path(j.Key, "lock"))
		last := map[int]localEvent{}
		if err := readLines(e.path(j.Key, "events"), func(l localEvent) error { last[l.Task] = l; return nil }); err != nil {
			return nil, err
		}
		for _, t := range j.Tasks {
			o := Observation{Key: j.Key, Job: s.id(), Task: t, Node: s.Host}
			l, seen := last[t]
			switch {
			case seen && l.Event == "end" && (l.State != Requeued || alive):
				o.State, o.Exit = l.State, l.Exit
			case alive && seen, isLocked(filepath.Join(e.dir, taskDir, strconv.Itoa(t), "lock")):
				o.State = Running
			case alive:
				o.State = Queued
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
	unlock, err := lockFile(path)
	if unlock != nil {
		unlock()
	}
	return errors.Is(err, errLocked)
}

// Cancel implements [Engine]: the supervisor reads the file that it writes.
func (e *LocalEngine) Cancel(_ context.Context, j Job, tasks []int) error {
	if tasks == nil {
		tasks = j.Tasks
	}
	return appendLine(e.path(j.Key, "cancel"), Tasks(tasks))
}

// Log implements [Engine].
func (e *LocalEngine) Log(j Job, task int, _ bool) Log {
	base := filepath.Join(e.dir, logDir, fmt.Sprintf("%s_%d", j.Key, task))
	return Log{Files: []string{base + ".out", base + ".err"}}
}

// ShellQuote writes a word so that a shell reads it as it is, whatever it holds.
func ShellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%+,-./:=@_", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ShellCommand writes a command so that a shell reads its words as they are.
func ShellCommand(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = ShellQuote(w)
	}
	return strings.Join(words, " ")
}
