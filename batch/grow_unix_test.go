//go:build unix

package batch

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// extent returns testPlan with other seeds, budgets and pack.
func extent(t *testing.T, pack int, budgets []float64, seeds ...uint64) Plan {
	t.Helper()
	p := testPlan(t, "a", "b", "c")
	p.Pack, p.Identity.Seeds, p.Identity.Budgets = pack, seeds, budgets
	if len(budgets) > 0 {
		p.Identity.Config.Schedule.Kind = pipeline.ScheduleBudget
		p.Identity.Config = p.Identity.Config.Complete(nil).Canonical()
		p.Identity.Config.Schedule.Budget = budgets[0]
	}
	return p
}

// grow does with a run folder what amtrl submit does before it hands anything over.
func grow(t *testing.T, dir string, plan Plan) *Run {
	t.Helper()
	r := create(t, dir, plan)
	unlock := must.Get(r.Lock())(t)
	defer unlock()
	must.Do(t, r.Grow(plan))
	return r
}

// Whichever seeds and budgets are added, in whichever order: existing tasks do not change, each unit is in exactly one
// task, and the sweep ends up with all the seeds and budgets.
func TestGrow(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		dir, pack := filepath.Join(t.TempDir(), "run"), 1+rng.IntN(5)
		some := func() Plan {
			var seeds []uint64
			for _, s := range rng.Perm(6)[:1+rng.IntN(6)] {
				seeds = append(seeds, uint64(s))
			}
			var budgets []float64
			for _, b := range rng.Perm(3)[:1+rng.IntN(3)] {
				budgets = append(budgets, float64(1000+b))
			}
			return extent(t, pack, budgets, seeds...)
		}
		first := some()
		was := grow(t, dir, first)
		for range 4 {
			next := some()
			trial := must.Get(Find(dir, next))(t)
			if there := must.Get(Open(dir))(t); !reflect.DeepEqual(there.Plan, was.Plan) {
				t.Fatalf("Find has written: %+v, was %+v", there.Plan, was.Plan)
			}
			r := grow(t, dir, next)
			opened := must.Get(Open(dir))(t)
			if !reflect.DeepEqual(opened.Plan, r.Plan) || !reflect.DeepEqual(opened.Tasks, r.Tasks) || !reflect.DeepEqual(trial.Tasks, r.Tasks) {
				t.Fatalf("on disk %+v, in memory %+v, in a trial %+v", opened, r, trial)
			}
			if len(r.Tasks) < len(was.Tasks) || !reflect.DeepEqual(r.Tasks[:len(was.Tasks)], was.Tasks) || r.Plan.ID != was.Plan.ID {
				t.Fatalf("tasks %+v, were %+v", r.Tasks, was.Tasks)
			}
			var units []Unit
			for i, task := range r.Tasks {
				if task.Task != i || len(task.Units) < 1 || len(task.Units) > pack {
					t.Fatalf("place %d: %+v", i, task)
				}
				units = append(units, task.Units...)
			}
			want := r.Plan.Identity.Units()
			order := func(a, b Unit) int { return strings.Compare(a.Name(), b.Name()) }
			slices.SortFunc(units, order)
			slices.SortFunc(want, order)
			if !slices.Equal(units, want) {
				t.Fatalf("units %v, want %v", units, want)
			}
			was = r
		}
		all := extent(t, pack, []float64{1000, 1001, 1002}, 0, 1, 2, 3, 4, 5)
		if got := grow(t, dir, all).Plan.Identity; !reflect.DeepEqual(got, all.Identity) {
			t.Fatalf("%+v, want %+v", got, all.Identity)
		}
	}
}

// Collecting again after seeds were added writes the same files as collecting all seeds at once.
func TestCollectGrown(t *testing.T) {
	top := t.TempDir()
	whole, out := filepath.Join(top, "whole"), filepath.Join(top, "out")
	first, all := extent(t, 2, nil, 1), extent(t, 2, nil, 0, 1, 2)
	r := create(t, filepath.Join(top, "at-once"), all)
	leaveAll(t, r)
	must.Do(t, must.Err(collect(r, whole)))

	r = create(t, filepath.Join(top, "run"), first)
	leaveAll(t, r)
	must.Do(t, must.Err(collect(r, out)))
	n := len(r.Tasks)
	r = grow(t, r.Dir, all)
	must.Fail(t, "unfinished", must.Err(collect(r, out)), fmt.Sprintf("%d of %d tasks have no result yet", len(r.Tasks)-n, len(r.Tasks)))
	for task := n; task < len(r.Tasks); task++ {
		leave(t, r, task, "one")
	}
	must.Do(t, must.Err(collect(r, out)))
	foldertest.Same(t, out, whole)

	// Collect does not change a folder that holds seeds which the run lacks.
	less := create(t, filepath.Join(top, "less"), first)
	leaveAll(t, less)
	must.Fail(t, "a folder of more", must.Err(collect(less, out)), "seeds is [0,1,2] there and [1] here")
	foldertest.Same(t, out, whole)
}

// If several processes add seeds at the same time, all seeds are added and each task is handed over once.
func TestGrowConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			plan := extent(t, 1, nil, uint64(i))
			for {
				err := submitOnce(dir, plan, takingEngine{})
				if err == nil || !strings.Contains(err.Error(), "in use by another process") {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	wait.Wait()
	var tasks Tasks
	for _, j := range must.Get(Open(dir))(t).Jobs {
		tasks = append(tasks, j.Tasks...)
	}
	slices.Sort(tasks)
	if tasks.String() != "0-17" {
		t.Errorf("handed over: %v", tasks)
	}
}

// If Grow is killed at any write, the folder still holds the old plan, and the next Grow completes the new one.
func TestGrowKilled(t *testing.T) {
	first, more := extent(t, 1, nil, 1), extent(t, 1, nil, 1, 2)
	for _, kept := range []string{tasksFile, planFile} {
		dir := filepath.Join(t.TempDir(), "run")
		old := grow(t, dir, first)
		t.Run(kept, func(t *testing.T) {
			atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
				if op == atomicfile.OpRename && filepath.Base(path) == kept {
					return os.ErrInvalid
				}
				return nil
			})
			r := must.Get(Open(dir))(t)
			if err := r.Grow(more); err == nil {
				t.Fatal("it went on")
			}
		})
		if r := must.Get(Open(dir))(t); !reflect.DeepEqual(r.Plan, old.Plan) || !reflect.DeepEqual(r.Tasks, old.Tasks) {
			t.Errorf("without %s: %+v", kept, r)
		}
		if r := grow(t, dir, more); len(r.Tasks) != 6 {
			t.Errorf("after %s: %+v", kept, r.Tasks)
		}
	}
}

// Reading a run folder accepts tasks that are added and handed over while it reads.
func TestGrownMeanwhile(t *testing.T) {
	dir, more := filepath.Join(t.TempDir(), "run"), extent(t, 1, nil, 1, 2)
	must.Do(t, submitOnce(dir, extent(t, 1, nil, 1), takingEngine{}))
	grown := false
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		if op == atomicfile.OpRead && filepath.Base(path) == jobsFile && !grown {
			grown = true
			must.Do(t, submitOnce(dir, more, takingEngine{}))
		}
		return nil
	})
	if r := must.Get(Open(dir))(t); !grown || len(r.Tasks) != 6 {
		t.Errorf("grown %v: %+v", grown, r.Tasks)
	}
}
