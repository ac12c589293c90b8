package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/runs"
)

// UnitResult is the result of a unit and the device on which it was computed.
type UnitResult struct {
	Unit    string             `json:"unit"`
	Backend runs.BackendChoice `json:"backend"`
	Seconds float64            `json:"seconds"`
	Result  runs.Result        `json:"result"`
	// SHA256 is the checksum of the file of a unit.
	SHA256 string `json:"sha256,omitempty"`
}

// TaskResult is the content of result.json, which means that the task is done. Task stays the first field, by which hasResult knows the
// file.
type TaskResult struct {
	Task    int          `json:"task"`
	Attempt int          `json:"attempt"`
	Units   []UnitResult `json:"units"`
	// SHA256 is the checksum of the file.
	SHA256 string `json:"sha256,omitempty"`
}

// Damaged is the error of a result file that exists but does not hold the result.
type Damaged struct{ Err error }

func (d *Damaged) Error() string { return d.Err.Error() }
func (d *Damaged) Unwrap() error { return d.Err }

func isDamaged(err error) bool {
	_, ok := errors.AsType[*Damaged](err)
	return ok
}

func (r *Run) resultPath(task int) string { return r.taskPath(task, "result.json") }

// hasResult reports whether a task has its result, and looks only at the start and the end of the file. A file that was
// cut off, or whose bytes never reached the disk, is a [*Damaged] error. [Run.Result] reads the whole file.
func (r *Run) hasResult(task int) (bool, error) {
	path := r.resultPath(task)
	f, size, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	first, last := fmt.Sprintf("{\n  \"task\": %d,\n", task), "\n}\n"
	var ends [64]byte
	if size >= int64(len(first)+len(last)) {
		_, err1 := f.ReadAt(ends[:len(first)], 0)
		_, err2 := f.ReadAt(ends[len(first):len(first)+len(last)], size-int64(len(last)))
		if err := errors.Join(err1, err2); err != nil {
			return false, err
		}
	}
	if string(ends[:len(first)+len(last)]) != first+last {
		return false, &Damaged{fmt.Errorf("%s: expected the whole result of task %d, found %d bytes that are not", path, task, size)}
	}
	return true, nil
}

// Result reads the result of a task. The error wraps [fs.ErrNotExist] if there is none, and is a [*Damaged] if the file
// is not what the task would leave.
func (r *Run) Result(task int) (*TaskResult, error) {
	var res TaskResult
	if err := readResult(r.resultPath(task), &res, &res.SHA256); err != nil {
		return nil, err
	}
	var err error
	if res.Task != task || len(res.Units) != len(r.Tasks[task].Units) {
		err = fmt.Errorf("expected the %d units of task %d, found %d of task %d", len(r.Tasks[task].Units), task, len(res.Units), res.Task)
	}
	for i := range res.Units {
		if err == nil {
			err = r.checkUnit(&res.Units[i], r.Tasks[task].Units[i])
		}
	}
	if err != nil {
		return nil, &Damaged{fmt.Errorf("%s: %w", r.resultPath(task), err)}
	}
	return &res, nil
}

// SetAside renames the results of these tasks that s calls damaged to result.json.damaged, so that they are not taken for results while
// other attempts run. The caller holds the lock.
func (r *Run) SetAside(s *Status, tasks []int) error {
	for _, t := range tasks {
		if s.Tasks[t].State != DamagedResult {
			continue
		}
		path := r.resultPath(t)
		if err := os.Rename(path, path+".damaged"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readResult reads a file into v, whose checksum is then in sum, empty for one of a version without.
func readResult(path string, v any, sum *string) error {
	raw, err := atomicfile.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	if err = jsonfile.Decode(raw, v); err == nil {
		err = jsonfile.CheckSeal(raw, *sum)
	}
	if err != nil {
		return &Damaged{fmt.Errorf("%s: %w", path, err)}
	}
	return nil
}

func (r *Run) checkUnit(u *UnitResult, want Unit) error {
	return u.Result.Check(want, r.Plan.Identity.Config.Methods)
}

// readUnit reads the result of a unit of an unfinished task. It returns nil if there is none.
func (r *Run) readUnit(task int, unit Unit) (*UnitResult, error) {
	var u UnitResult
	path := r.unitPath(task, unit)
	err := readResult(path, &u, &u.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := r.checkUnit(&u, unit); err != nil {
		return nil, &Damaged{fmt.Errorf("%s: %w", path, err)}
	}
	u.SHA256 = "" // the file of the task has one for all units
	return &u, nil
}

func (r *Run) unitPath(task int, unit Unit) string {
	return filepath.Join(r.taskPath(task, "units"), unit.Name()+".json")
}

// clean removes the files that a task needs no more once it is done. They are still there if the process was killed
// after it had written the result.
func (r *Run) clean(task int) error {
	return errors.Join(os.RemoveAll(r.taskPath(task, "checkpoint")), os.RemoveAll(r.taskPath(task, "units")))
}
