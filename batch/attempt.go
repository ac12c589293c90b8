package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amtrl/amtrl/runs"
)

// AttemptLine is a line of a task's attempt.jsonl.
type AttemptLine struct {
	Event   string    `json:"event"`
	Time    time.Time `json:"time"`
	Attempt int       `json:"attempt"`

	// Of a start: the part, the engine's name of the task and how often it says
	// that it restarted it, the process, the program, and what the engine shows of
	// GPUs.
	Part     string `json:"part,omitempty"`
	EngineID string `json:"engine_id,omitempty"`
	Restart  string `json:"restart,omitempty"`
	Host     string `json:"host,omitempty"`
	PID      int    `json:"pid,omitempty"`
	Version  string `json:"version,omitempty"`
	SHA256   string `json:"program_sha256,omitempty"`
	Visible  string `json:"visible_devices,omitempty"`

	// Of a device: what computes, and the GPUs that nvidia-smi lists.
	Backend *runs.BackendChoice `json:"backend,omitempty"`
	GPUs    []string            `json:"gpus,omitempty"`

	// Of a unit: a finished epoch of it, or all of it with its seconds.
	Unit    string  `json:"unit,omitempty"`
	Method  string  `json:"method,omitempty"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`

	// Of an end.
	Code   *int   `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
}

// The events of attempt.jsonl.
const (
	attemptStart  = "start"
	attemptDevice = "device"
	attemptEpoch  = "epoch"
	attemptUnit   = "unit"
	attemptEnd    = "end"
)

// The reasons of an attempt's end.
const (
	reasonDone       = "done"
	reasonFailed     = "failed"
	reasonRequeue    = "requeue"
	reasonTerminated = "terminated"
	reasonTakenOver  = "taken over"
)

// Exit is how the last attempt ended: the file exit of a task.
type Exit struct {
	Attempt int    `json:"attempt"`
	Part    string `json:"part"`
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Error   string `json:"error,omitempty"`
}

// Attempts reads the attempts of a task.
func (r *Run) Attempts(task int) ([]AttemptLine, error) {
	var lines []AttemptLine
	return lines, ReadLines(r.taskPath(task, "attempt.jsonl"), func(l AttemptLine) error {
		lines = append(lines, l)
		return nil
	})
}

// readExit reads how the last attempt ended, nil where none has.
func (r *Run) readExit(task int) (*Exit, error) {
	var e Exit
	path := r.taskPath(task, "exit")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &e, nil
}

// UnitResult is the result of a unit and what it was computed on.
type UnitResult struct {
	Unit    string             `json:"unit"`
	Backend runs.BackendChoice `json:"backend"`
	Seconds float64            `json:"seconds"`
	Result  runs.Result        `json:"result"`
}

// TaskResult is result.json, which says that a task is done.
type TaskResult struct {
	Task    int          `json:"task"`
	Attempt int          `json:"attempt"`
	Units   []UnitResult `json:"units"`
}

// hasResult says whether a task is done.
func (r *Run) hasResult(task int) (bool, error) {
	_, err := os.Stat(r.taskPath(task, "result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Result reads the result of a task.
func (r *Run) Result(task int) (*TaskResult, error) {
	path := r.taskPath(task, "result.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var res TaskResult
	if err := decodeStrict(raw, &res); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if res.Task != task || len(res.Units) != len(r.Tasks[task].Units) {
		return nil, fmt.Errorf("%s: expected the %d units of task %d, found %d of task %d", path, len(r.Tasks[task].Units), task, len(res.Units), res.Task)
	}
	for i := range res.Units {
		if err := r.checkUnit(&res.Units[i], r.Tasks[task].Units[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return &res, nil
}

// checkUnit refuses the result of another unit or of other methods.
func (r *Run) checkUnit(u *UnitResult, want Unit) error {
	raw, err := json.Marshal(u.Result)
	if err != nil {
		return err
	}
	_, err = runs.DecodeResult(raw, want.sweepUnit(), r.Plan.Identity.Config.Methods)
	return err
}

// readUnit reads the result of a unit of an unfinished task, nil where there is
// none.
func (r *Run) readUnit(task int, unit Unit) (*UnitResult, error) {
	path := r.unitPath(task, unit)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var u UnitResult
	if err := decodeStrict(raw, &u); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := r.checkUnit(&u, unit); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &u, nil
}

func (r *Run) unitPath(task int, unit Unit) string {
	return filepath.Join(r.taskPath(task, "units"), unit.Name()+".json")
}
