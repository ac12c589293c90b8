package batch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
)

// A cancelled task does not begin, whatever engine starts it again, and the engine is told not to try once more.
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

// What failed because it was cancelled is told as such.
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
