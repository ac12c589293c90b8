package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// testEngine is an engine that implements Attempt alone.
type testEngine struct {
	Engine
	attempt Attempt
}

func (e testEngine) Attempt() Attempt { return e.attempt }

// openTest opens an engine that acts on exit codes alone.
func openTest(string, Settings) (Engine, error) { return testEngine{attempt: Attempt{ID: "name"}}, nil }

// Only requeues of the same part count towards its limit.
func TestRequeuesAreCounted(t *testing.T) {
	r := create(t, filepath.Join(t.TempDir(), "run"), testPlan(t, "a"))
	must.Do(t, os.MkdirAll(r.taskPath(0), 0o755))
	w := &Worker{Run: r, Part: "k-2-0"}
	for _, l := range []AttemptLine{
		{Event: attemptStart, Part: "k-1-0"}, {Event: attemptEnd, Reason: reasonRequeue},
		{Event: attemptStart, Part: "k-2-0"}, {Event: attemptEnd, Reason: reasonRequeue},
		{Event: attemptStart, Part: "k-2-0"}, {Event: attemptEnd, Reason: reasonTerminated},
		{Event: attemptStart, Part: "k-2-0"}, {Event: attemptEnd, Reason: reasonRequeue},
	} {
		w.attempt++
		must.Do(t, w.log(l))
	}
	if n := w.requeues(); n != 2 {
		t.Errorf("%d requeues, expected 2", n)
	}
}

// If the data cannot be opened, the attempt ends with the exit code that says whether another attempt would help, and
// the file exit records why.
func TestWorkThatFails(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   int
		reason string
	}{
		{errors.New("the disk is on fire"), 1, reasonFailed},
		{BadInput(errors.New("no such data")), ExitBadInput, reasonFailed},
		{fmt.Errorf("within: %w", BadInput(errors.New("no such data"))), ExitBadInput, reasonFailed},
	} {
		r := create(t, filepath.Join(t.TempDir(), "run"), testPlan(t, "a"))
		must.Do(t, r.record(submitLine(r, Tasks{1})))
		must.Do(t, jsonfile.Write(filepath.Join(r.Dir, SubmitDir, "1.json"), Settings{Engine: "fake"}))
		w := &Worker{Run: r, Part: partKey(r.Plan.ID, 1, 0), Index: 1, Version: "v", Note: t.Logf, Engine: openTest,
			Open: func(context.Context, *Plan, Resources) (*pipeline.Resident, runs.Identity, error) {
				return nil, runs.Identity{}, c.err
			}}
		code, err := w.Work(context.Background())
		if code != c.code || err == nil || !strings.Contains(err.Error(), c.err.Error()) {
			t.Errorf("exit code %d, %v", code, err)
		}
		exit, err := r.readExit(1)
		want := attemptExit{Attempt: 1, Part: partKey(r.Plan.ID, 1, 0), Code: c.code, Reason: c.reason, Error: c.err.Error()}
		if err != nil || *exit != want {
			t.Errorf("%+v, %v", exit, err)
		}
		must.Absent(t, r.taskPath(1, "lease"))
	}
}

// The list of visible devices ends before the first entry that names no device.
func TestVisibleDevices(t *testing.T) {
	for value, want := range map[string]int{"": 0, "0": 1, "0,1": 2, "GPU-1a2b, GPU-3c4d": 2, "0,-1,1": 1, "NoDevFiles": 0, "-1": 0} {
		t.Setenv("CUDA_VISIBLE_DEVICES", value)
		if n := len(VisibleDevices()); n != want {
			t.Errorf("%q shows %d devices, expected %d", value, n, want)
		}
		must.Fail(t, fmt.Sprintf("%q", value), checkGPUs(want+1), fmt.Sprintf("%s %s asked for and %d %s visible",
			text.Several(want+1, "GPU"), text.Form(want+1, "was", "were"), want, text.Form(want, "is", "are")))
		if err := checkGPUs(want); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// How a saved task is handed back depends on the engine that it was submitted to, not on another engine within which
// the process happens to run.
func TestRequeueIsTheEnginesOwn(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("SLURM_ARRAY_JOB_ID", "12")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	w := &Worker{Run: &Run{Dir: t.TempDir()}, Note: t.Logf, engine: Attempt{}}
	if code, err := w.requeue(context.Background(), errSaved); code != ExitRequeue || !errors.Is(err, errSaved) {
		t.Errorf("exit code %d, %v", code, err)
	}
}

// A cancelled task does not begin, whichever engine starts it again, and its exit code tells the engine not to retry
// it.
func TestCancelledTaskDoesNotBegin(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, SubmitDir), 0o755))
	must.Do(t, jsonfile.Write(filepath.Join(dir, SubmitDir, "1.json"), Settings{Engine: "fake"}))
	job := &JobRecord{Job: Job{Part: Part{Key: "k", Tasks: Tasks{0, 1}}}, Submission: 1, Cancelled: map[int]bool{1: true}}
	w := &Worker{Run: &Run{Dir: dir, Tasks: make([]Task, 2), Jobs: []*JobRecord{job}}, Part: "k", Index: 1, Note: t.Logf, Engine: openTest}
	if code, err := w.Work(context.Background()); code != ExitBadInput || err == nil ||
		!strings.Contains(err.Error(), "task 1 was cancelled") {
		t.Errorf("%d, %v", code, err)
	}
	if _, err := os.Stat(filepath.Join(dir, TaskDir)); !os.IsNotExist(err) {
		t.Errorf("it began: %v", err)
	}
}

// A task that failed because it was cancelled is reported as cancelled.
func TestCancelledIsNotFailed(t *testing.T) {
	j := &JobRecord{Job: Job{Part: Part{Key: "k", Tasks: Tasks{0, 1}}}, Cancelled: map[int]bool{1: true}}
	for task, want := range []State{Failed, Cancelled} {
		st := TaskStatus{Task: task, State: Lost}
		st.settle(j, Observation{Key: "k", Task: task, State: Failed, Exit: "65"})
		if st.State != want {
			t.Errorf("task %d is %s, want %s", task, st.State, want)
		}
	}
}

// What the files say of an attempt that ended by itself outranks an engine that sees only that it failed, or that it let the task go.
func TestFilesSayHowATaskEnded(t *testing.T) {
	for _, c := range []struct {
		reason string
		code   int
		engine State // empty where it does not know the task
		want   State
		why    string
	}{
		{reasonTimeout, 1, Failed, Timeout, "its words"}, {reasonTimeout, 1, "", Timeout, "its words"},
		{reasonTimeout, 1, Lost, Timeout, "its words"}, {reasonTimeout, 1, Running, Running, "engine's"},
		{reasonTimeout, ExitTerminated, Timeout, Timeout, "its words"}, {reasonTimeout, ExitTerminated, Queued, Queued, "engine's"},
		{reasonFailed, 1, Failed, Failed, "its words"}, {reasonFailed, 1, Lost, Failed, "its words"},
		{reasonTerminated, ExitTerminated, Lost, Lost, "engine's"}, {reasonRequeue, ExitRequeue, Lost, Lost, "engine's"},
		{reasonTerminated, ExitTerminated, Failed, Failed, "its words"},
	} {
		r := create(t, filepath.Join(t.TempDir(), "run"), testPlan(t, "a"))
		key := handOver(t, r, Tasks{0})
		must.Do(t, os.MkdirAll(r.taskPath(0), 0o755))
		must.Do(t, jsonfile.Write(r.taskPath(0, "exit"), attemptExit{Attempt: 1, Part: key, Code: c.code, Reason: c.reason, Error: "its words"}))
		engine := endingEngine{fail: func() Observation {
			if c.engine == "" {
				return Observation{}
			}
			return Observation{Key: key, Task: 0, State: c.engine, Reason: "engine's"}
		}}
		s := must.Get(r.Status(t.Context(), func(string, Settings) (Engine, error) { return engine, nil }))(t)
		if st := s.Tasks[0]; st.State != c.want || st.Reason != c.why {
			t.Errorf("%s, where the engine says %q: %s, %s, expected %s, %s", c.reason, c.engine, st.State, st.Reason, c.want, c.why)
		}
	}
}

// handOver records that tasks were submitted and returns the key of their part.
func handOver(t *testing.T, r *Run, tasks Tasks) string {
	t.Helper()
	key := partKey(r.Plan.ID, 1, 0)
	for _, line := range []jobLine{submitLine(r, tasks), {Event: eventSubmitted, Part: Part{Key: key}, ID: "12"}} {
		must.Do(t, r.record(line))
	}
	settings := Settings{Engine: "fake", Program: "/amtrl", Resources: Resources{CPUs: 1, Time: time.Minute}}
	must.Do(t, jsonfile.Write(filepath.Join(r.Dir, SubmitDir, "1.json"), settings))
	return key
}

// endingEngine is an engine whose task fails, and records why, during Query.
type endingEngine struct {
	Engine
	fail func() Observation
}

func (endingEngine) Name() string { return "fake" }
func (e endingEngine) Query(context.Context, []Job) ([]Observation, error) {
	return []Observation{e.fail()}, nil
}

// The reason that a failed task recorded is reported, also if the task recorded it after status read its files and
// before it asked the engine.
func TestReasonBetweenTwoLooks(t *testing.T) {
	r := create(t, filepath.Join(t.TempDir(), "run"), testPlan(t, "a"))
	key := handOver(t, r, Tasks{0})
	must.Do(t, os.MkdirAll(r.taskPath(0), 0o755))
	must.Do(t, jsonfile.Append(r.taskPath(0, "attempt.jsonl"), AttemptLine{Event: attemptStart, Attempt: 1, Part: key, Host: "here"}))
	engine := endingEngine{fail: func() Observation {
		must.Do(t, jsonfile.Append(r.taskPath(0, "exit"), attemptExit{Attempt: 1, Part: key, Code: 1, Reason: reasonFailed, Error: "no GPU"}))
		return Observation{Key: key, Task: 0, State: Failed, Reason: "NonZeroExitCode"}
	}}
	s := must.Get(must.Get(Open(r.Dir))(t).Status(t.Context(), func(string, Settings) (Engine, error) { return engine, nil }))(t)
	if st := s.Tasks[0]; st.State != Failed || st.Reason != "no GPU" {
		t.Errorf("it is %s: %s", st.State, st.Reason)
	}
}

// The end of a process closes Save too: this is not taken for a request to save.
func TestSaveAtTheEnd(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	w := &Worker{Save: ended, Note: func(format string, args ...any) { t.Errorf(format, args...) }}
	for range 100 {
		w.saveWhenGained(nil, ended)
	}
}

// A program without a version matches only a program without a version.
func TestCheckVersion(t *testing.T) {
	for _, c := range []struct{ here, submitted, says string }{
		{"v1.2.0", "v1.2.0", ""},
		{Unstamped, Unstamped, ""},
		{"v1.2.0", "v1.3.0", "this is version v1.2.0 of amtrl, expected v1.3.0,"},
		{Unstamped, "v1.3.0", "this amtrl was built without a version, expected v1.3.0,"},
		{"v1.2.0", Unstamped, "this is version v1.2.0 of amtrl, expected one built without a version,"},
	} {
		err := checkVersion(c.here, c.submitted)
		if (err == nil) != (c.says == "") || err != nil && (!strings.HasPrefix(err.Error(), c.says) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s where %s submitted: %v, expected %q", c.here, c.submitted, err, c.says)
		}
	}
}
