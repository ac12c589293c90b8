//go:build unix

package batch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/must"
)

// takingEngine accepts every part, and makes one part of each task. It calls before on each Submit.
type takingEngine struct {
	silentEngine
	before func()
}

func (e takingEngine) Render(_ context.Context, s Submission) ([]Part, error) {
	var parts []Part
	for i, t := range s.Tasks {
		p := Part{Key: s.PartKey(i), File: strconv.Itoa(s.Number) + "-" + strconv.Itoa(i) + ".sh", Tasks: Tasks{t}}
		parts = append(parts, p)
	}
	return parts, nil
}

func (e takingEngine) Submit(context.Context, Part) (string, error) {
	if e.before != nil {
		e.before()
	}
	return "1", nil
}

// submitOnce does with a run folder what amtrl submit does.
func submitOnce(dir string, plan Plan, e Engine) error {
	r, _, err := Create(dir, plan, Environment{})
	if err != nil {
		return err
	}
	unlock, err := r.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.Grow(plan); err != nil {
		return err
	}
	tasks, err := r.Fresh()
	if err != nil || len(tasks) == 0 {
		return err
	}
	_, err = r.Submit(context.Background(), e, Settings{Engine: "fake", Program: "/amtrl"}, tasks)
	return err
}

// allOnce checks that the run folder is complete and that each of its four tasks was handed over once.
func allOnce(t *testing.T, dir string, plan Plan) {
	t.Helper()
	r := must.Get(Open(dir))(t)
	var tasks []int
	for _, j := range r.Jobs {
		tasks = append(tasks, j.Tasks...)
	}
	if !slices.Equal(tasks, []int{0, 1, 2, 3}) {
		t.Errorf("handed over: %v", tasks)
	}
}

// If several submissions create the same folder at the same time, every task is handed over once. The other submissions
// do nothing, or report that the folder is in use.
func TestConcurrentFirstSubmits(t *testing.T) {
	plan := testPlan(t, "a", "b")
	for range 60 {
		dir := filepath.Join(t.TempDir(), "run")
		var wait sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wait.Go(func() { errs[i] = submitOnce(dir, plan, takingEngine{}) })
		}
		wait.Wait()
		succeeded := 0
		for _, err := range errs {
			if err == nil {
				succeeded++
			} else if !strings.Contains(err.Error(), "in use by another process") {
				t.Fatal(err)
			}
		}
		if succeeded == 0 {
			t.Fatalf("none succeeded: %v", errs)
		}
		allOnce(t, dir, plan)
	}
}

func TestConcurrentFirstSubmitsOfProcesses(t *testing.T) {
	plan := testPlan(t, "a", "b")
	if dir := os.Getenv("SUBMIT_DIR"); dir != "" {
		for { // until the parent has started all processes
			if _, err := os.Stat(os.Getenv("SUBMIT_GATE")); err == nil {
				break
			}
		}
		if err := submitOnce(dir, plan, takingEngine{}); err != nil && !strings.Contains(err.Error(), "in use by another process") {
			t.Fatal(err)
		}
		return
	}
	for range 10 {
		top := t.TempDir()
		dir, gate := filepath.Join(top, "run"), filepath.Join(top, "gate")
		var list []*exec.Cmd
		for range 3 {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestConcurrentFirstSubmitsOfProcesses$")
			cmd.Env = append(os.Environ(), "SUBMIT_DIR="+dir, "SUBMIT_GATE="+gate)
			must.Do(t, cmd.Start())
			list = append(list, cmd)
		}
		must.Do(t, os.WriteFile(gate, nil, 0o644))
		for _, cmd := range list {
			must.Do(t, cmd.Wait())
		}
		allOnce(t, dir, plan)
	}
}

// A folder that another process completes between this one's look for a plan and its creation is accepted, not refused
// for the files in it.
func TestCreatedMeanwhile(t *testing.T) {
	dir, plan := filepath.Join(t.TempDir(), "run"), testPlan(t, "a", "b")
	looked := false
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		if op != atomicfile.OpRead || filepath.Base(path) != planFile || looked {
			return nil
		}
		looked = true
		must.Do(t, submitOnce(dir, plan, takingEngine{}))
		return fs.ErrNotExist
	})
	must.Do(t, submitOnce(dir, plan, takingEngine{}))
	allOnce(t, dir, plan)
}

// Before the engine is called, the run folder, the folders above it and the record of the submission are synced to
// disk.
func TestSyncedBeforeSubmit(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "new", "run")
	var mu sync.Mutex
	synced := map[string]bool{}
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		mu.Lock()
		defer mu.Unlock()
		switch op {
		case atomicfile.OpSync, atomicfile.OpSyncFolder:
			synced[filepath.Clean(path)] = true
		}
		return nil
	})
	called := false
	check := func() {
		mu.Lock()
		defer mu.Unlock()
		for _, path := range []string{top, filepath.Join(top, "new"), dir, filepath.Join(dir, SubmitDir), filepath.Join(dir, jobsFile)} {
			if !synced[path] {
				t.Errorf("%s is not synced", path)
			}
		}
		called = true
	}
	if err := submitOnce(dir, testPlan(t, "a"), takingEngine{before: check}); err != nil || !called {
		t.Fatalf("%v, called %v", err, called)
	}
}

// If a write, a sync or the creation of a folder fails, the engine is not called.
func TestUnsyncedIsNotSubmitted(t *testing.T) {
	failure := errors.New("input/output error")
	for _, what := range []struct {
		op   atomicfile.Op
		name string
	}{{atomicfile.OpSync, jobsFile}, {atomicfile.OpSyncFolder, "run"}, {atomicfile.OpWrite, jobsFile}, {atomicfile.OpMkdir, SubmitDir}} {
		t.Run(string(what.op)+" "+what.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
				if op == what.op && filepath.Base(path) == what.name {
					return failure
				}
				return nil
			})
			e := takingEngine{before: func() { t.Error("the engine was called") }}
			if err := submitOnce(dir, testPlan(t, "a"), e); !errors.Is(err, failure) {
				t.Errorf("%v", err)
			}
		})
	}
}
