package batch

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/runs"
)

// Plan describes what a run folder is for: a sweep, and how its tasks open the data and the device. It is stored as
// plan.json, which changes only when the seeds or budgets do.
type Plan struct {
	// ID is drawn when the folder is made: 12 hexadecimal digits.
	ID string `json:"id"`
	// Identity lacks the backend, which each task fills in.
	Identity runs.Identity `json:"identity"`
	// Flags select the data and the device. They are in the order of the command line's flags, with every value spelt out.
	Flags []Flag `json:"flags"`
	// Words are the words of the command line that select the data and the files, for [runs.WriteFlags].
	Words []string `json:"words,omitempty"`
	// Pack is the number of units per task.
	Pack int `json:"pack"`
	// Before holds the earlier seeds and budgets of the sweep, oldest first: those that it had each time before some
	// were added or put in another order.
	Before []Extent `json:"before,omitempty"`
	// SHA256 is the checksum of plan.json.
	SHA256 string `json:"sha256,omitempty"`
}

// readPlan reads plan.json from a run folder.
func readPlan(dir string) (p Plan, err error) {
	path := filepath.Join(dir, planFile)
	raw, err := atomicfile.ReadFile(path, maxFile)
	if err != nil {
		return p, err
	}
	if err = jsonfile.Decode(raw, &p); err == nil {
		err = cmp.Or(jsonfile.CheckSeal(raw, p.SHA256), p.check())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return p, err
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

// Data returns the absolute path of the data, empty for embedded and synthetic data.
func (p *Plan) Data() string {
	if data := p.flag("data"); filepath.IsAbs(data) {
		return data
	}
	return ""
}

// Files returns the absolute paths of the files that the data name, if the data are a manifest. It returns nil if the
// manifest cannot be read: the tasks report that error.
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
	return slices.Compact(out) // all tables may share one file of vectors
}

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

// extents returns the seeds and budgets that the sweep has had, oldest first, with those that it has now last.
func (p *Plan) extents() []Extent {
	return append(slices.Clone(p.Before), Extent{p.Identity.Seeds, p.Identity.Budgets})
}

// Tasks divides the units of the sweep into tasks of Pack units each. Units of seeds and budgets that were added come
// after all earlier units, in tasks of their own, so that existing tasks do not change.
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

// join adds the seeds and budgets of another plan to p, in the order of the other plan if that has all of them. changed reports whether
// this changed p. If the plans differ in anything else except their ids, p is unchanged and where says in what; otherwise where is empty.
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
		// Plans have had the number of threads, which each submission has of its own.
		if v, ok := here[f.Name]; f.Name != "threads" && (!ok || v != f.Value) {
			return false, fmt.Sprintf("%s is %q there and %q here", f.Name, f.Value, v), nil
		}
	}
	is := p.extents()
	last, n := is[len(is)-1], len(is)-1
	if slices.Equal(joined.Seeds, last.Seeds) && slices.Equal(joined.Budgets, last.Budgets) {
		return false, "", nil
	}
	// An extent that only reorders the one before it has no tasks of its own and is not kept.
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

// taskPath returns a path in the folder that only the task itself writes.
func (r *Run) taskPath(task int, parts ...string) string {
	return filepath.Join(append([]string{r.Dir, TaskDir, fmt.Sprint(task)}, parts...)...)
}
