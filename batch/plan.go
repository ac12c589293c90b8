package batch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/runs"
)

// Plan is what a run folder is for: a sweep, and how its tasks open the data
// and the device. It is plan.json, which changes where seeds and budgets are added and never else.
type Plan struct {
	// ID is drawn when the folder is made: 12 hexadecimal digits.
	ID string `json:"id"`
	// Identity has no backend yet, which each task fills in.
	Identity runs.Identity `json:"identity"`
	// Flags choose the data and the device, in the order of the command line's flags and with every value spelt out.
	Flags []Flag `json:"flags"`
	// Words lead to the data and to files, as the command line had them, for [runs.WriteFlags].
	Words []string `json:"words,omitempty"`
	// Pack is how many units make a task.
	Pack int `json:"pack"`
	// Before are the seeds and budgets that the sweep had before each time that some were added or put in another order,
	// the oldest first.
	Before []Extent `json:"before,omitempty"`
}

// Extent is the seeds and budgets of a sweep.
type Extent struct {
	Seeds   []uint64  `json:"seeds"`
	Budgets []float64 `json:"budgets,omitempty"`
}

// Flag is a flag of the command line and its value.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Data is the absolute path of the data, empty where it is built in or made.
func (p *Plan) Data() string {
	if data := p.flag("data"); filepath.IsAbs(data) {
		return data
	}
	return ""
}

// Files are the absolute paths of the files that the data name where they are a manifest. What cannot be read here is
// for the tasks to complain about.
func (p *Plan) Files() []string {
	info, err := os.Stat(p.Data())
	if err != nil || info.IsDir() {
		return nil
	}
	m, err := manifest.Read(p.Data())
	if err != nil {
		return nil
	}
	inputs, err := m.Inputs()
	if err != nil {
		return nil
	}
	var out []string
	for _, in := range inputs {
		out = append(out, filepath.Clean(in.Path))
		if in.Vectors != nil {
			out = append(out, filepath.Clean(in.Vectors.Path))
		}
	}
	slices.Sort(out)
	return slices.Compact(out) // one file of vectors is that of all tables
}

// NamesThreads says whether the plan names a number of threads for each task.
func (p *Plan) NamesThreads() bool { return !slices.Contains([]string{"", "0"}, p.flag("threads")) }

func (p *Plan) flag(name string) string {
	for _, f := range p.Flags {
		if f.Name == name {
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

func (t *Task) names() []string {
	var names []string
	for _, u := range t.Units {
		names = append(names, u.Name())
	}
	return names
}

// extents are what the sweep has had, what it has now last.
func (p *Plan) extents() []Extent {
	return append(slices.Clone(p.Before), Extent{p.Identity.Seeds, p.Identity.Budgets})
}

// Tasks cuts the units of the sweep into tasks of Pack each. The units of seeds and budgets that were added come behind
// all that were there before, in tasks of their own, so that a task stays what it is.
func (p *Plan) Tasks() []Task {
	var tasks []Task
	seeds, budgets := map[uint64]bool{}, map[float64]bool{}
	id := p.Identity
	for _, e := range p.extents() {
		id.Seeds, id.Budgets = e.Seeds, e.Budgets
		units := slices.DeleteFunc(id.Units(), func(u Unit) bool { return seeds[u.Seed] && (len(e.Budgets) == 0 || budgets[u.Budget]) })
		for some := range slices.Chunk(units, p.Pack) {
			tasks = append(tasks, Task{len(tasks), some})
		}
		addAll(seeds, e.Seeds)
		addAll(budgets, e.Budgets)
	}
	return tasks
}

func addAll[E comparable](set map[E]bool, list []E) {
	for _, e := range list {
		set[e] = true
	}
}

// join adds the seeds and budgets of another plan, in its order where it has all, and says where the two differ
// otherwise, their ids apart, or nothing.
func (p *Plan) join(other *Plan) (changed bool, where string, err error) {
	joined, where, err := p.Identity.Join(other.Identity)
	if where != "" || err != nil {
		return false, where, err
	}
	if p.Pack != other.Pack {
		return false, fmt.Sprintf("pack is %d there and %d here", p.Pack, other.Pack), nil
	}
	here := map[string]string{}
	for _, f := range other.Flags {
		here[f.Name] = f.Value
	}
	for _, f := range p.Flags {
		if v, ok := here[f.Name]; !ok || v != f.Value {
			return false, fmt.Sprintf("%s is %q there and %q here", f.Name, f.Value, v), nil
		}
	}
	is := p.extents()
	last, n := is[len(is)-1], len(is)-1
	if slices.Equal(joined.Seeds, last.Seeds) && slices.Equal(joined.Budgets, last.Budgets) {
		return false, "", nil
	}
	// What differs from the one before in its order alone has no tasks.
	if n == 0 || len(last.Seeds) > len(is[n-1].Seeds) || len(last.Budgets) > len(is[n-1].Budgets) {
		p.Before = is
	}
	p.Identity = joined
	return true, "", nil
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
