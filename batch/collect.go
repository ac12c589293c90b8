package batch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs"
)

// Unfinished is the error of collecting a run in which tasks have no result.
type Unfinished struct {
	// Missing are the tasks without a result; Of is the number of all tasks.
	Missing Tasks
	Of      int
}

func (u *Unfinished) Error() string {
	list := u.Missing.String()
	if len(list) > 60 {
		list = list[:60] + "..."
	}
	return fmt.Sprintf("%s of %s %s no result yet: %s", text.Count(len(u.Missing)), text.Several(u.Of, "task"),
		text.Form(len(u.Missing), "has", "have"), list)
}

// found holds the results that tasks left, and which tasks left none.
type found struct {
	of               map[Unit]UnitResult
	missing, damaged Tasks
	firstDamaged     error
}

// found reads the results of all tasks.
func (r *Run) found() (found, error) {
	f := found{of: map[Unit]UnitResult{}}
	for t := range r.Tasks {
		res, err := r.Result(t)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.missing = append(f.missing, t)
			continue
		case isDamaged(err):
			f.damaged, f.firstDamaged = append(f.damaged, t), cmp.Or(f.firstDamaged, err)
			continue
		case err != nil:
			return f, err
		}
		r.clean(t) // what is left only takes room, and the folder may be on a disk that cannot be written
		for i, u := range res.Units {
			f.of[r.Tasks[t].Units[i]] = u
		}
	}
	return f, nil
}

// Sweep is a sweep all of whose units have results in a run.
type Sweep struct {
	Identity runs.Identity
	// Left says in words which targets, seeds and budgets of the run [Run.PartialSweep] left out, and is empty if it left out none.
	Left string

	found found
}

// Sweep returns the sweep of all tasks. The error is an [*Unfinished] if tasks have no result.
func (r *Run) Sweep() (*Sweep, error) {
	f, err := r.found()
	switch {
	case err != nil:
		return nil, err
	case len(f.damaged) > 0:
		return nil, fmt.Errorf("%d of %s %s a damaged result, %s; a retry of these computes it again: %w", len(f.damaged),
			text.Several(len(r.Tasks), "task"), text.Form(len(f.damaged), "has", "have"), f.damaged, f.firstDamaged)
	case len(f.missing) > 0:
		return nil, &Unfinished{f.missing, len(r.Tasks)}
	}
	return &Sweep{Identity: r.Plan.Identity, found: f}, nil
}

// Write writes the sweep to the folder out, as the files that it leaves on one machine. If the units ran on different
// devices, config.json names the device of the first unit; mixed then lists all devices and is the reason in config.json.
func (s *Sweep) Write(out string) (sum *runs.Summary, id runs.Identity, mixed string, err error) {
	id = s.Identity
	units := id.Units()
	results, seconds := make([]runs.Result, len(units)), make([]float64, len(units))
	var devices []string
	counts := map[string]int{}
	for i, of := range units {
		u := s.found.of[of]
		results[i], seconds[i] = u.Result, u.Seconds
		if i == 0 {
			id.Backend = u.Backend
		}
		d := strings.TrimSpace(u.Backend.Backend + " " + u.Backend.Device + " " + u.Backend.Detail)
		if counts[d] == 0 {
			devices = append(devices, d)
		}
		counts[d]++
	}
	if len(devices) > 1 {
		for i, d := range devices {
			devices[i] = fmt.Sprintf("%d on %s", counts[d], d)
		}
		mixed = "the units ran on different devices: " + strings.Join(devices, "; ")
		id.Backend.Reason = mixed
	}
	sum, err = runs.WriteSweep(out, id, results, seconds)
	return sum, id, mixed, err
}
