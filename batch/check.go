package batch

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/text"
)

// Everything that is read from a run folder is checked against the form in which it is written, because parts of it
// become paths, arguments and lines of scripts.

// Bounds of what a run folder can ask for.
const (
	// MaxTasks bounds the tasks of a run and the units of its sweep.
	MaxTasks = 1_000_000
	// maxGrowth bounds the sum of the units that a sweep had before each time it grew.
	maxGrowth = 20 * MaxTasks
	// maxSubmissions bounds the submissions of a run and the attempts of a task.
	maxSubmissions = 1_000_000
	// maxFile bounds the size of a file that is read whole, in bytes.
	maxFile = 1 << 28
	// maxName bounds the name of a target, in bytes: units are named after it, and their files after them.
	maxName = 255
)

var (
	idForm     = regexp.MustCompile(`^[0-9a-f]{12}$`)
	engineForm = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)
	flagForm   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	// jobForm is the form that the job ids of all engines share. Each engine checks its own form before it uses an id.
	jobForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9@;/_.-]{0,511}$`)
)

func readChecked(path string, v any, check func() error) error {
	if err := jsonfile.Read(path, maxFile, v); err != nil {
		return err
	}
	if err := check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// check refuses a plan that Create would not write.
func (p *Plan) check() error {
	if !idForm.MatchString(p.ID) {
		return fmt.Errorf("id is %q: expected 12 hexadecimal digits", text.OneLine(p.ID, 80))
	}
	if p.Pack < 1 || p.Pack > MaxTasks {
		return fmt.Errorf("pack is %d: expected 1 to %d", p.Pack, MaxTasks)
	}
	id := &p.Identity
	units := func(e Extent) float64 {
		return float64(len(id.Targets)) * float64(len(e.Seeds)) * float64(max(len(e.Budgets), 1))
	}
	if units(Extent{id.Seeds, id.Budgets}) > MaxTasks {
		return fmt.Errorf("%s, %s and %s: expected at most %s units in a sweep", text.Several(len(id.Targets), "target"),
			text.Several(len(id.Seeds), "seed"), text.Several(len(id.Budgets), "budget"), text.Count(MaxTasks))
	}
	sum := 0.0
	for i, e := range p.extents()[1:] {
		was := p.Before[i]
		if !within(was.Seeds, e.Seeds) || !within(was.Budgets, e.Budgets) || len(was.Seeds) == 0 ||
			(len(was.Budgets) == 0) != (len(e.Budgets) == 0) || units(was) > units(e) {
			return fmt.Errorf("before, place %d: expected seeds and budgets of which all come after, too, each once", i)
		}
		if sum += units(was); sum > maxGrowth {
			return fmt.Errorf("before: seeds and budgets were added too often: expected at most %d units in all that the sweep has been",
				int(maxGrowth))
		}
	}
	for _, t := range id.Targets {
		if len(t) > maxName {
			return fmt.Errorf("target %q: expected a name of at most %d bytes", text.OneLine(t, 80), maxName)
		}
	}
	seen := map[string]bool{}
	for _, f := range p.Flags {
		if !flagForm.MatchString(f.Name) || seen[f.Name] || strings.ContainsRune(f.Value, 0) {
			return fmt.Errorf("flags: %q %q: expected each flag once, by its name, without NUL", text.OneLine(f.Name, 80), text.OneLine(f.Value, 80))
		}
		seen[f.Name] = true
	}
	return nil
}

// within reports whether every element of list is in other and none is twice in list.
func within[E comparable](list, other []E) bool {
	seen, all := map[E]bool{}, map[E]bool{}
	addAll(seen, list)
	addAll(all, other)
	return len(seen) == len(list) && !slices.ContainsFunc(list, func(e E) bool { return !all[e] })
}

func partKey(id string, number, part int) string { return fmt.Sprintf("%s-%d-%d", id, number, part) }

// checkKey returns the submission number and the part number in key, or an error if key is not the key of a part of the run id.
func checkKey(id, key string) (number, part int, err error) {
	n, err := fmt.Sscanf(key, id+"-%d-%d", &number, &part)
	if n != 2 || err != nil || partKey(id, number, part) != key || number < 1 || number > maxSubmissions || part < 0 || part > MaxTasks {
		return 0, 0, fmt.Errorf("key %q: expected %s-N-M, the M-th part of submission N", text.OneLine(key, 80), id)
	}
	return number, part, nil
}

// check refuses a line that record would not write for a run with this id and this number of tasks.
func (l *jobLine) check(id string, tasks int) error {
	number, part, err := checkKey(id, l.Key)
	if err != nil {
		return err
	}
	if n := len(l.Tasks); n > 0 && l.Tasks[n-1] >= tasks {
		return fmt.Errorf("task %d: expected 0 to %d", l.Tasks[n-1], tasks-1)
	}
	if l.ID != "" && !jobForm.MatchString(l.ID) {
		return fmt.Errorf("the id of a job is %q: expected letters, digits and @;/_.-", text.OneLine(l.ID, 80))
	}
	if l.Event != eventSubmit {
		return nil
	}
	base, extension, _ := strings.Cut(l.File, ".")
	switch {
	case l.Submission != number:
		return fmt.Errorf("try is %d: expected %d as in the key %s", l.Submission, number, l.Key)
	case !engineForm.MatchString(l.Engine):
		return fmt.Errorf("engine is %q: expected the name of one", text.OneLine(l.Engine, 80))
	case base != fmt.Sprintf("%d-%d", number, part) || !engineForm.MatchString(extension):
		return fmt.Errorf("file is %q: expected %d-%d and an extension", text.OneLine(l.File, 80), number, part)
	case len(l.Tasks) == 0:
		return fmt.Errorf("no tasks: expected some")
	case l.Offset < 0 || l.Offset > l.Tasks[0] || l.Dense && l.Offset != 0:
		return fmt.Errorf("offset is %d: expected 0 to %d, the first task", l.Offset, l.Tasks[0])
	}
	return nil
}

func (s *Settings) check() error {
	r := &s.Resources
	for _, n := range []struct {
		name      string
		value, hi int
	}{
		{"gpus", r.GPUs, 1024}, {"cpus", r.CPUs, math.MaxInt32}, {"threads", r.Threads, math.MaxInt32}, {"mem_mib", r.MemMiB, 1 << 40},
		{"parallel", r.Parallel, math.MaxInt32}, {"max_restarts", r.MaxRestarts, 1000},
	} {
		if n.value < 0 || n.value > n.hi {
			return fmt.Errorf("%s is %d: expected 0 to %d", n.name, n.value, n.hi)
		}
	}
	const longest = 10 * 365 * 24 * time.Hour
	switch {
	case !engineForm.MatchString(s.Engine):
		return fmt.Errorf("engine is %q: expected the name of one", text.OneLine(s.Engine, 80))
	case strings.HasPrefix(s.Program, "-") || strings.ContainsRune(s.Program, 0):
		return fmt.Errorf("program is %q: expected a path", text.OneLine(s.Program, 80))
	case r.Time < 0 || r.Time > longest || r.Time%time.Second != 0:
		return fmt.Errorf("time is %d: expected whole seconds of at most %s, in nanoseconds", r.Time, longest)
	case !text.Printable(r.GPUType):
		return fmt.Errorf("gpu_type is %q: expected a name", text.OneLine(r.GPUType, 80))
	}
	return nil
}

func (e *attemptExit) check(id string) error {
	if _, _, err := checkKey(id, e.Part); err != nil {
		return err
	}
	if e.Attempt < 0 || e.Attempt > maxSubmissions || e.Code < 0 || e.Code > 255 || !slices.Contains(reasons, e.Reason) {
		return fmt.Errorf("attempt %d ended with exit code %d, %q: expected numbers and reasons as attempts have them", e.Attempt, e.Code,
			text.OneLine(e.Reason, 80))
	}
	return nil
}
