//go:build unix

package batch

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// cancellingEngine has one job of all tasks, which are in the given states, and records what it is told to cancel.
type cancellingEngine struct {
	silentEngine
	states []State
	told   *[]string
}

func (e cancellingEngine) Render(_ context.Context, s Submission) ([]Part, error) {
	return []Part{{Key: s.PartKey(0), File: "1-0.sh", Tasks: s.Tasks}}, nil
}

func (e cancellingEngine) Submit(context.Context, Part) (string, error) { return "1", nil }

func (e cancellingEngine) Query(_ context.Context, jobs []Job) (list []Observation, err error) {
	for _, j := range jobs {
		for _, t := range j.Tasks {
			list = append(list, Observation{Key: j.Key, Task: t, Job: j.ID, EngineID: fmt.Sprint(t), State: e.states[t]})
		}
	}
	return list, nil
}

func (e cancellingEngine) Cancel(_ context.Context, _ Job, tasks []int) error {
	*e.told = append(*e.told, fmt.Sprint(tasks, tasks == nil))
	return nil
}

// Where all tasks are cancelled a job is cancelled as a whole, whether or not other tasks of it have failed.
func TestCancelWholeJob(t *testing.T) {
	for _, c := range []struct {
		states []State
		tasks  []int
		want   string
		n      int
	}{
		{[]State{Running, Queued, Queued, Queued}, nil, "[[] true]", 4},
		{[]State{Failed, Running, Queued, Queued}, nil, "[[] true]", 3},
		{[]State{Failed, Running, Failed, Queued}, []int{1, 3}, "[[1 3] false]", 2},
		{[]State{Failed, Running, Queued, Queued}, []int{1}, "[[1] false]", 1},
		{[]State{Failed, Failed, Cancelled, Timeout}, nil, "[]", 0},
	} {
		told := []string{}
		e := cancellingEngine{states: c.states, told: &told}
		dir := filepath.Join(t.TempDir(), "run")
		must.Do(t, submitOnce(dir, testPlan(t, "a", "b"), e))
		n := must.Get(must.Get(Open(dir))(t).Cancel(t.Context(), func(string, Settings) (Engine, error) { return e, nil }, c.tasks))(t)
		if n != c.n || fmt.Sprint(told) != c.want {
			t.Errorf("%v of %v: %d tasks, told %v, want %d and %s", c.tasks, c.states, n, told, c.n, c.want)
		}
	}
}
