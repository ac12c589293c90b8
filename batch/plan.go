package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/amtrl/amtrl/runs"
)

// Plan is what a run folder is for: a sweep, and how its tasks open the data
// and the device. It is plan.json, written once.
type Plan struct {
	// ID is drawn when the folder is made: 12 hexadecimal digits.
	ID string `json:"id"`
	// Identity has no backend yet, which each task fills in.
	Identity runs.Identity `json:"identity"`
	// Flags choose the data and the device, in the order of the command line's
	// flags and with every value spelt out.
	Flags []Flag `json:"flags"`
	// Pack is how many units make a task.
	Pack int `json:"pack"`
}

// Flag is a flag of the command line and its value.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Task is a line of tasks.jsonl: units of the sweep that are carried out one
// after the other.
type Task struct {
	Task  int    `json:"task"`
	Units []Unit `json:"units"`
}

// Unit is a [runs.Unit] as JSON.
type Unit struct {
	Target string  `json:"target"`
	Seed   uint64  `json:"seed"`
	Budget float64 `json:"budget,omitempty"`
}

func (u Unit) sweepUnit() runs.Unit {
	return runs.Unit{Target: u.Target, Budget: u.Budget, Seed: u.Seed}
}

// Name names the unit as the sweep does.
func (u Unit) Name() string { return u.sweepUnit().Name() }

// Tasks cuts the units of the sweep into tasks of Pack each.
func (p *Plan) Tasks() []Task {
	units := p.Identity.Units()
	pack := max(p.Pack, 1)
	tasks := make([]Task, 0, (len(units)+pack-1)/pack)
	for i := 0; i < len(units); i += pack {
		t := Task{Task: len(tasks)}
		for _, u := range units[i:min(i+pack, len(units))] {
			t.Units = append(t.Units, Unit{u.Target, u.Seed, u.Budget})
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// difference says where two plans differ, their ids apart, or nothing.
func (p *Plan) difference(other *Plan) (string, error) {
	where, err := p.Identity.Difference(other.Identity)
	if where != "" || err != nil {
		return where, err
	}
	if p.Pack != other.Pack {
		return fmt.Sprintf("pack is %d there and %d here", p.Pack, other.Pack), nil
	}
	here := map[string]string{}
	for _, f := range other.Flags {
		here[f.Name] = f.Value
	}
	for _, f := range p.Flags {
		if v, ok := here[f.Name]; !ok || v != f.Value {
			return fmt.Sprintf("%s is %q there and %q here", f.Name, f.Value, v), nil
		}
	}
	return "", nil
}

// Paths within a run folder.
const (
	planFile  = "plan.json"
	tasksFile = "tasks.jsonl"
	envFile   = "env.json"
	jobsFile  = "jobs.jsonl"
	SubmitDir = "submit"
	LogDir    = "log"
	TaskDir   = "task"
	// SweepDir is where collect puts the files of the sweep.
	SweepDir = "sweep"
)

// encodeLines writes values as JSON, one a line.
func encodeLines[T any](values []T) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for i := range values {
		if err := enc.Encode(&values[i]); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// decodeStrict reads one JSON value without unknown fields.
func decodeStrict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("byte %d: it ends early, expected one whole JSON object", len(raw))
	}
	if err != nil {
		return fmt.Errorf("byte %d: %w", dec.InputOffset(), err)
	}
	if rest := bytes.TrimSpace(raw[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("byte %d: expected the end of one JSON object", dec.InputOffset())
	}
	return nil
}

func encodeIndent(v any) ([]byte, error) {
	js, err := json.MarshalIndent(v, "", "  ")
	return append(js, '\n'), err
}

// taskPath is a path in the folder that the task alone writes.
func (r *Run) taskPath(task int, parts ...string) string {
	return filepath.Join(append([]string{r.Dir, TaskDir, fmt.Sprint(task)}, parts...)...)
}
