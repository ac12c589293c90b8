package batch

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
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
	// Variables are those of the environment that bear on amtrl.
	Variables []string `json:"variables"`
}

// NewID draws an identity for a run.
func NewID() string {
	raw := make([]byte, 6)
	rand.Read(raw)
	return hex.EncodeToString(raw)
}

// Create makes the run folder whole, or takes the one that is there where its
// plan is the same but for the id. created says which.
func Create(dir string, plan Plan, env Environment) (r *Run, created bool, err error) {
	r, err = Find(dir, plan)
	if err != nil || r != nil {
		return r, false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, false, err
	}
	if plan.ID == "" {
		plan.ID = NewID()
	}
	r = &Run{Dir: dir, Plan: plan, Tasks: plan.Tasks()}
	if len(r.Tasks) > MaxTasks {
		return nil, false, fmt.Errorf("%d tasks: expected at most %d", len(r.Tasks), MaxTasks)
	}
	return r, true, r.write(env)
}

// Find opens the run folder where its plan is the same but for the id, or
// returns nil where one can be made.
func Find(dir string, plan Plan) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r, err := Open(dir)
	if err == nil {
		where, err := r.Plan.difference(&plan)
		if err != nil {
			return nil, err
		}
		if where != "" {
			return nil, fmt.Errorf("%s: %s: expected the same sweep; use another folder", filepath.Join(dir, planFile), where)
		}
		return r, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 && !begun(entries) {
		return nil, fmt.Errorf("%s holds other files, such as %s: expected a run folder, an empty one or none", dir, entries[0].Name())
	}
	return nil, nil
}

// begun says whether a folder holds nothing but what Create writes before
// plan.json: an earlier one was killed.
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

// write makes the folder; plan.json comes last and says that it is whole.
func (r *Run) write(env Environment) error {
	if err := r.makeFolders(); err != nil {
		return err
	}
	tasks, err := encodeLines(r.Tasks)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(r.Dir, tasksFile), tasks); err != nil {
		return err
	}
	if err := WriteJSON(filepath.Join(r.Dir, envFile), env); err != nil {
		return err
	}
	return WriteJSON(filepath.Join(r.Dir, planFile), r.Plan)
}

func (r *Run) makeFolders() error {
	for _, sub := range []string{SubmitDir, LogDir, TaskDir} {
		if err := os.MkdirAll(filepath.Join(r.Dir, sub), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Open reads a run folder.
func Open(dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir}
	path := filepath.Join(dir, planFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := decodeStrict(raw, &r.Plan); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Tasks, err = readTasks(filepath.Join(dir, tasksFile)); err != nil {
		return nil, err
	}
	want, err := encodeLines(r.Plan.Tasks())
	if err != nil {
		return nil, err
	}
	if got, err := encodeLines(r.Tasks); err != nil || !bytes.Equal(got, want) {
		return nil, errors.Join(err, fmt.Errorf("%s: expected the %d tasks of %s, found %d others", filepath.Join(dir, tasksFile), len(r.Plan.Tasks()), planFile, len(r.Tasks)))
	}
	r.Jobs, err = readJobs(filepath.Join(dir, jobsFile), len(r.Tasks))
	return r, err
}

func readTasks(path string) ([]Task, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for line := range bytes.Lines(raw) {
		var t Task
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(tasks)+1, err)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func WriteJSON(path string, v any) error {
	js, err := encodeIndent(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, js)
}

// Lock takes the folder for this process: submissions and cancellations come
// one after the other. Tasks do not need it.
func (r *Run) Lock() (unlock func(), err error) {
	unlock, err = filelock.Folder(filepath.Join(r.Dir, SubmitDir))
	if err != nil {
		return nil, err
	}
	// Another process may have written since the folder was read.
	jobs, err := readJobs(filepath.Join(r.Dir, jobsFile), len(r.Tasks))
	if err != nil {
		unlock()
		return nil, err
	}
	r.Jobs = jobs
	return unlock, nil
}
