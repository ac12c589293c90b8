package batch

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/text"
)

// Run is a run folder.
type Run struct {
	// Dir is absolute.
	Dir   string
	Plan  Plan
	Tasks []Task
	Jobs  []*JobRecord
}

// Environment is env.json: what submitted the run.
type Environment struct {
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`
	Host    string   `json:"host"`
	Program string   `json:"program"`
	SHA256  string   `json:"program_sha256"`
	Version any      `json:"version"`
	// Variables are the environment variables that bear on amtrl, as NAME=VALUE.
	Variables []string `json:"variables"`
}

// createWait is how long Create waits for another process that makes the same folder.
const createWait = 20 * time.Second

// Create makes the run folder, or opens the existing one if its plan equals plan except for the id and for seeds and
// budgets, which [Run.Grow] then adds. created reports whether it made the folder. If several processes create the same
// folder, one makes it and the others wait for that.
func Create(dir string, plan Plan, env Environment) (r *Run, created bool, err error) {
	r, err = Find(dir, plan)
	if err != nil || r != nil {
		return r, false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, false, err
	}
	if plan.ID == "" {
		raw := make([]byte, 6)
		rand.Read(raw)
		plan.ID = hex.EncodeToString(raw)
	}
	if err := plan.check(); err != nil {
		return nil, false, err
	}
	r = &Run{Dir: dir, Plan: plan, Tasks: plan.Tasks()}
	if err := r.makeFolders(); err != nil {
		return nil, false, err
	}
	unlock, err := r.lockWithin(createWait)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	if there, err := Find(dir, plan); err != nil || there != nil {
		return there, false, err
	}
	if err := jsonfile.Write(filepath.Join(dir, envFile), env); err != nil {
		return r, true, err
	}
	return r, true, r.writePlan()
}

func (r *Run) lockWithin(wait time.Duration) (unlock func(), err error) {
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		unlock, err = filelock.Folder(filepath.Join(r.Dir, SubmitDir))
		if !errors.Is(err, filelock.ErrLocked) || time.Now().After(end) {
			return unlock, err
		}
	}
}

// Find opens the run folder dir and adds the seeds and budgets of plan to it in memory, as [Run.Grow] would on disk. The plan
// of the folder must equal plan except for these and the id. It returns nil if there is no run folder and one can be made.
func Find(dir string, plan Plan) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// The entries are read before the run folder is opened, so that what another process makes in between is not taken for foreign files.
	entries, _ := os.ReadDir(dir)
	r, err := Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if len(entries) > 0 && !begun(entries) {
			return nil, fmt.Errorf("%s holds other files, such as %s: expected a run folder, an empty one or none", dir, entries[0].Name())
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := r.join(&plan); err != nil {
		return nil, err
	}
	return r, nil
}

// join adds to r, in memory, the seeds and budgets of plan that it lacks.
func (r *Run) join(plan *Plan) (changed bool, err error) {
	changed, where, err := r.Plan.join(plan)
	if err == nil && where != "" {
		err = fmt.Errorf("%s: %s: expected the same sweep, or more seeds or budgets of it; use another folder",
			filepath.Join(r.Dir, planFile), where)
	}
	if err == nil {
		err = r.Plan.check()
	}
	if err == nil {
		r.Tasks = r.Plan.Tasks()
	}
	return changed, err
}

// Grow adds the seeds and budgets of plan that the run lacks, as new tasks after the existing ones, which do not
// change. The caller holds the lock.
func (r *Run) Grow(plan Plan) error {
	changed, err := r.join(&plan)
	if err != nil || !changed {
		return err
	}
	return r.writePlan()
}

// begun reports whether a folder holds only what Create writes before plan.json, as one that was killed leaves it.
func begun(entries []fs.DirEntry) bool {
	for _, e := range entries {
		switch e.Name() {
		case SubmitDir, LogDir, TaskDir, tasksFile, envFile:
		default:
			if !atomicfile.IsTemporary(e.Name()) {
				return false
			}
		}
	}
	return true
}

// writePlan writes tasks.jsonl and then plan.json, which means that the tasks are there.
func (r *Run) writePlan() error {
	tasks, err := jsonfile.EncodeLines(r.Tasks)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(r.Dir, tasksFile), tasks); err != nil {
		return err
	}
	plan, err := jsonfile.EncodeSealed(jsonfile.Encode, &r.Plan, &r.Plan.SHA256)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(r.Dir, planFile), plan)
}

func (r *Run) makeFolders() error {
	for _, sub := range []string{SubmitDir, LogDir, TaskDir} {
		if err := atomicfile.MkdirAll(filepath.Join(r.Dir, sub)); err != nil {
			return err
		}
	}
	return nil
}

// IsRun reports whether dir looks like a run folder, without reading it.
func IsRun(dir string) bool {
	plan, err1 := os.Stat(filepath.Join(dir, planFile))
	submit, err2 := os.Stat(filepath.Join(dir, SubmitDir))
	return err1 == nil && err2 == nil && plan.Mode().IsRegular() && submit.IsDir()
}

// Open reads a run folder.
func Open(dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir}
	if r.Plan, err = readPlan(dir); err != nil {
		return nil, err
	}
	r.Tasks = r.Plan.Tasks()
	if err := r.checkTasks(); err != nil {
		return nil, err
	}
	if err := r.readJobs(); err != nil {
		if now, err := readPlan(dir); err == nil && len(now.Before) > len(r.Plan.Before) {
			return Open(dir) // tasks were added after plan.json was read, and handed over before jobs.jsonl was
		}
		return nil, err
	}
	return r, nil
}

// checkTasks returns an error if tasks.jsonl does not begin with the tasks of the plan. It encodes and compares one task
// at a time, so that neither text is in memory as a whole. Further tasks in the file are those of a Grow that was killed.
func (r *Run) checkTasks() error {
	path := filepath.Join(r.Dir, tasksFile)
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	found, same := bufio.NewReader(f), true
	for i := 0; i < len(r.Tasks) && same; i++ {
		want, err := jsonfile.EncodeLines(r.Tasks[i : i+1])
		if err != nil {
			return err
		}
		there := make([]byte, len(want))
		io.ReadFull(found, there)
		same = bytes.Equal(there, want)
	}
	if !same {
		return fmt.Errorf("%s: expected the %s of %s", path, text.Several(len(r.Tasks), "task"), planFile)
	}
	return nil
}

// Lock locks the folder for this process, so that submissions and cancellations come one after the other, and reads the
// folder again. Tasks do not need the lock.
func (r *Run) Lock() (unlock func(), err error) {
	unlock, err = filelock.Folder(filepath.Join(r.Dir, SubmitDir))
	if err != nil {
		return nil, err
	}
	// Another process may have written since the folder was read.
	now, err := Open(r.Dir)
	if err != nil {
		unlock()
		return nil, err
	}
	*r = *now
	return unlock, nil
}
