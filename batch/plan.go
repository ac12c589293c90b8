package batch

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/runs"
)

// Plan is what a run folder is for: a sweep, and how its tasks open the data
// and the device. It is plan.json, written once.
type Plan struct {
	// ID is drawn when the folder is made: 12 hexadecimal digits.
	ID string `json:"id"`
	// Identity has no backend yet, which each task fills in.
	Identity runs.Identity `json:"identity"`
	// Flags choose the data and the device, in the order of the command line's flags and with every value spelt out.
	Flags []Flag `json:"flags"`
	// Pack is how many units make a task.
	Pack int `json:"pack"`
}

// Flag is a flag of the command line and its value.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Data is the absolute path of the data, empty where it is built in or made.
func (p *Plan) Data() string {
	for _, f := range p.Flags {
		if f.Name == "data" && filepath.IsAbs(f.Value) {
			return f.Value
		}
	}
	return ""
}

// Task is a line of tasks.jsonl: units of the sweep that are carried out one after the other.
type Task struct {
	Task  int    `json:"task"`
	Units []Unit `json:"units"`
}

// Unit is a unit of the sweep.
type Unit = runs.Unit

// names are those of the units.
func (t *Task) names() []string {
	var names []string
	for _, u := range t.Units {
		names = append(names, u.Name())
	}
	return names
}

// Tasks cuts the units of the sweep into tasks of Pack each.
func (p *Plan) Tasks() []Task {
	units := p.Identity.Units()
	tasks := make([]Task, 0, (len(units)+p.Pack-1)/p.Pack)
	for some := range slices.Chunk(units, p.Pack) {
		tasks = append(tasks, Task{len(tasks), some})
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

// taskPath is a path in the folder that the task alone writes.
func (r *Run) taskPath(task int, parts ...string) string {
	return filepath.Join(append([]string{r.Dir, TaskDir, fmt.Sprint(task)}, parts...)...)
}
