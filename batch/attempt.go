package batch

import (
	"errors"
	"io/fs"
	"time"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/runs"
)

// AttemptLine is a line of a task's attempt.jsonl.
type AttemptLine struct {
	Event   string    `json:"event"`
	Time    time.Time `json:"time"`
	Attempt int       `json:"attempt"`

	// Fields of a start: the key of the part, the engine's name for the task and its count of restarts, the process,
	// the program, and CUDA_VISIBLE_DEVICES.
	Part     string `json:"part,omitempty"`
	EngineID string `json:"engine_id,omitempty"`
	Restart  string `json:"restart,omitempty"`
	Host     string `json:"host,omitempty"`
	PID      int    `json:"pid,omitempty"`
	Version  string `json:"version,omitempty"`
	SHA256   string `json:"program_sha256,omitempty"`
	Visible  string `json:"visible_devices,omitempty"`

	// Fields of a device: what computes, and the GPUs that nvidia-smi lists.
	Backend *runs.BackendChoice `json:"backend,omitempty"`
	GPUs    []string            `json:"gpus,omitempty"`

	// Fields of a finished epoch (unit, method and epoch) and of a finished unit (unit and seconds).
	Unit    string  `json:"unit,omitempty"`
	Method  string  `json:"method,omitempty"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`

	// Fields of an end.
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
	reasonTimeout    = "timeout" // it met its time limit and may not go on by itself
	reasonRequeue    = "requeue"
	reasonTerminated = "terminated"
	reasonTakenOver  = "taken over"
)

var reasons = []string{reasonDone, reasonFailed, reasonTimeout, reasonRequeue, reasonTerminated, reasonTakenOver}

// attemptExit is the content of the file exit of a task: how its last attempt ended.
type attemptExit struct {
	Attempt int    `json:"attempt"`
	Part    string `json:"part"`
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Error   string `json:"error,omitempty"`
}

// Attempts reads the lines of attempt.jsonl of a task, in order.
func (r *Run) Attempts(task int) ([]AttemptLine, error) {
	var lines []AttemptLine
	err := jsonfile.ReadLines(r.taskPath(task, "attempt.jsonl"), maxFile, func(l AttemptLine) error {
		if l.Attempt > 0 && l.Attempt <= maxSubmissions {
			lines = append(lines, l)
		}
		return nil
	})
	return lines, err
}

// readExit reads how the last attempt of a task ended. It returns nil if none has ended.
func (r *Run) readExit(task int) (*attemptExit, error) {
	var e attemptExit
	err := readChecked(r.taskPath(task, "exit"), &e, func() error { return e.check(r.Plan.ID) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &e, nil
}
