package batch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// leave writes a result of a task, as if the task had run on the named device.
func leave(t *testing.T, r *Run, task int, device string) {
	t.Helper()
	res := TaskResult{Task: task, Attempt: 1}
	for _, u := range r.Tasks[task].Units {
		result := runs.Result{Data: "d", Target: u.Target, Seed: u.Seed, Budget: u.Budget, Sources: []runs.SourceResult{}}
		score := pipeline.Score{Metric: "error", Value: float64(u.Target[0]) + 0.1*float64(u.Seed)}
		for _, m := range r.Plan.Identity.Config.Methods {
			result.Methods = append(result.Methods, runs.MethodResult{Method: m, Score: score})
		}
		choice := runs.BackendChoice{Info: backend.Info{Backend: "cpu", Device: device}, Reason: "asked for"}
		res.Units = append(res.Units, UnitResult{Unit: u.Name(), Backend: choice, Seconds: 1, Result: result})
	}
	must.Do(t, os.MkdirAll(r.taskPath(task), 0o755))
	must.Do(t, jsonfile.Write(r.taskPath(task, "result.json"), res))
}

func leaveAll(t *testing.T, r *Run) {
	t.Helper()
	for task := range r.Tasks {
		leave(t, r, task, "one")
	}
}

// edit changes the text of a file and returns the new text.
func edit(t *testing.T, path string, change func(string) string) string {
	t.Helper()
	text := change(string(must.Get(os.ReadFile(path))(t)))
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	return text
}

// unsealed returns the text of a plan without its checksum, as one of a version that had none.
func unsealed(text string) string {
	if i := strings.LastIndex(text, ",\n  \"sha256\": "); i >= 0 {
		return text[:i] + "\n}\n"
	}
	return text
}

// collect writes the sweep of a run to the folder out.
func collect(r *Run, out string) (*runs.Summary, runs.Identity, string, error) {
	s, err := r.Sweep()
	if err != nil {
		return nil, runs.Identity{}, "", err
	}
	return s.Write(out)
}

func TestCollect(t *testing.T) {
	r := create(t, filepath.Join(t.TempDir(), "run"), testPlan(t, "a", "b", "c"))
	for _, task := range []int{0, 1, 4, 5} {
		leave(t, r, task, "one")
	}
	var unfinished *Unfinished
	if _, _, _, err := collect(r, t.TempDir()); !errors.As(err, &unfinished) || unfinished.Missing.String() != "2-3" {
		t.Errorf("error %v", err)
	}
	leave(t, r, 2, "one")
	leave(t, r, 3, "one")
	if _, id, mixed, err := collect(r, t.TempDir()); err != nil || mixed != "" || id.Backend.Reason != "asked for" {
		t.Errorf("%q, %v", mixed, err)
	}
	leave(t, r, 3, "another")
	_, id, mixed, err := collect(r, t.TempDir())
	if want := "the units ran on different devices: 5 on cpu one; 1 on cpu another"; err != nil || mixed != want ||
		id.Backend.Reason != want || id.Backend.Device != "one" {
		t.Errorf("%q, %+v, %v", mixed, id.Backend, err)
	}
	// Collect refuses a result file that is cut off or is not the result of the task.
	for _, damage := range []func(string) string{
		func(s string) string { return s[:len(s)/2] },
		func(s string) string { return strings.Replace(s, `"task": 3`, `"task": 2`, 1) },
		func(s string) string { return strings.ReplaceAll(s, `"target": "b"`, `"target": "c"`) },
		func(s string) string { return strings.Replace(s, `"method": "active"`, `"method": "uniform"`, 1) },
	} {
		path := r.taskPath(3, "result.json")
		leave(t, r, 3, "one")
		edit(t, path, damage)
		must.Fail(t, "a damaged result", must.Err(collect(r, t.TempDir())), path)
	}
}

// The state and reason of a task follow from its files, the record of its job and the engine's observation together.
func TestSettle(t *testing.T) {
	job := &JobRecord{Job: Job{Part: Part{Key: "k"}}, Cancelled: map[int]bool{7: true}}
	broken := &JobRecord{Job: Job{Part: Part{Key: "k"}}, Unsure: true, Error: "broken off", Cancelled: map[int]bool{}}
	for i, c := range []struct {
		files TaskStatus
		job   *JobRecord
		says  State
		why   string
		want  string
	}{
		{TaskStatus{State: Lost}, job, "", "", "lost: the engine does not know it, and it has no result"},
		{TaskStatus{State: Lost}, broken, "", "", "lost: broken off, and the engine does not know it"},
		{TaskStatus{State: Lost, Task: 7}, job, "", "", "cancelled: "},
		{TaskStatus{State: Failed, Reason: "bad"}, job, "", "", "failed: bad"},
		{TaskStatus{State: Requeued}, job, "", "", "lost: the engine does not know it, and it has no result"},
		{TaskStatus{State: Lost}, job, Queued, "Resources", "queued: Resources"},
		{TaskStatus{State: Lost, begun: true}, job, Queued, "BeginTime", "requeued: BeginTime"},
		{TaskStatus{State: Requeued, Reason: "saved"}, job, Running, "", "running: "},
		{TaskStatus{State: Lost}, job, Done, "", "lost: it ended well for the engine, and has no result"},
		{TaskStatus{State: Failed, Reason: "no GPU"}, job, Failed, "NonZeroExitCode", "failed: no GPU"},
		{TaskStatus{State: Lost}, job, Failed, "NonZeroExitCode", "failed: NonZeroExitCode"},
		{TaskStatus{State: Lost}, job, Timeout, "TimeLimit", "timeout: TimeLimit"},
		{TaskStatus{State: Lost, Task: 7}, job, Timeout, "TimeLimit", "cancelled: "},
	} {
		o := Observation{State: c.says, Reason: c.why}
		if c.says != "" {
			o.Key = "k"
		}
		st := c.files
		st.settle(c.job, o)
		if got := fmt.Sprintf("%s: %s", st.State, st.Reason); got != c.want {
			t.Errorf("case %d: %s, expected %s", i, got, c.want)
		}
	}
}
