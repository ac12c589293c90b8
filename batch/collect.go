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

// Collect writes the results of all tasks to the folder out, as the files that the same sweep leaves on one machine. If
// the tasks ran on different devices, config.json names the device of the first unit; mixed then lists all devices and
// is the reason in config.json. The error is an [*Unfinished] if tasks have no result.
func (r *Run) Collect(out string) (sum *runs.Summary, id runs.Identity, mixed string, err error) {
	id = r.Plan.Identity
	units := id.Units()
	results, seconds := make([]runs.Result, len(units)), make([]float64, len(units))
	places := make(map[Unit]int, len(units)) // tasks come in another order where seeds or budgets were added
	for i, u := range units {
		places[u] = i
	}
	var missing, damaged Tasks
	var firstDamaged error
	var devices []string
	counts := map[string]int{}
	for t := range r.Tasks {
		res, err := r.Result(t)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, t)
			continue
		case isDamaged(err):
			damaged, firstDamaged = append(damaged, t), cmp.Or(firstDamaged, err)
			continue
		case err != nil:
			return nil, id, "", err
		}
		r.clean(t) // what is left only takes room, and the folder may be on a disk that cannot be written
		for i, u := range res.Units {
			at := places[r.Tasks[t].Units[i]]
			results[at], seconds[at] = u.Result, u.Seconds
			if at == 0 {
				id.Backend = u.Backend
			}
			d := strings.TrimSpace(u.Backend.Backend + " " + u.Backend.Device + " " + u.Backend.Detail)
			if counts[d] == 0 {
				devices = append(devices, d)
			}
			counts[d]++
		}
	}
	if len(damaged) > 0 {
		return nil, id, "", fmt.Errorf("%d of %s %s a damaged result, %s; a retry of these computes it again: %w", len(damaged),
			text.Several(len(r.Tasks), "task"), text.Form(len(damaged), "has", "have"), damaged, firstDamaged)
	}
	if len(missing) > 0 {
		return nil, id, "", &Unfinished{missing, len(r.Tasks)}
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
