package batch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
)

// Submission returns the next submission of the run, with these settings and tasks.
func (r *Run) Submission(set Settings, tasks []int) Submission {
	return Submission{Dir: r.Dir, ID: r.Plan.ID, Name: filepath.Base(r.Dir), Number: r.submissions() + 1, Tasks: tasks, Program: set.Program,
		Resources: set.Resources, Data: r.Plan.Data(), Files: r.Plan.Files()}
}

// Submit hands tasks to the engine, part by part, and returns the parts that the engine took. The folder records each
// part before the engine is called, and the outcome afterwards, so that nothing is handed over without a record. The
// caller holds the lock. After an error, the earlier parts are with the engine.
func (r *Run) Submit(ctx context.Context, e Engine, set Settings, tasks []int) ([]*JobRecord, error) {
	sub := r.Submission(set, tasks)
	parts, err := e.Render(ctx, sub)
	if err != nil {
		return nil, err
	}
	// Without the folder of logs Slurm fails every task without a message.
	if err := r.makeFolders(); err != nil {
		return nil, err
	}
	if err := jsonfile.Write(r.settingsPath(sub.Number), set); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := atomicfile.Write(filepath.Join(r.Dir, SubmitDir, p.File), p.Content); err != nil {
			return nil, err
		}
	}
	var jobs []*JobRecord
	for i, p := range parts {
		j, err := r.handOver(ctx, e, sub.Number, p)
		if err != nil {
			return jobs, fmt.Errorf("part %d of %d (tasks %s): %w", i+1, len(parts), p.Tasks, err)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func (r *Run) handOver(ctx context.Context, e Engine, number int, p Part) (*JobRecord, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.record(jobLine{Event: eventSubmit, Engine: e.Name(), Submission: number, Part: p}); err != nil {
		return nil, err
	}
	j := r.Jobs[len(r.Jobs)-1]
	// An interrupt must not leave it open whether the engine took the part.
	id, err := e.Submit(context.WithoutCancel(ctx), p)
	line := jobLine{Event: eventSubmitted, Part: Part{Key: p.Key}, ID: id}
	if err != nil {
		line.Event, line.ID, line.Error = eventRefused, "", err.Error()
		if _, unsure := errors.AsType[*Unsure](err); unsure {
			line.Event = eventUnsure
		}
	}
	return j, errors.Join(err, r.record(line))
}

// Recover asks the engines about the parts of which the folder does not know whether they were taken, and records the
// ids of those that were.
func (r *Run) Recover(ctx context.Context, open Opener) error {
	for _, j := range slices.Clone(r.Jobs) {
		if !j.Unsure {
			continue
		}
		e, err := r.Engine(j, open)
		if err != nil {
			return err
		}
		seen, err := e.Query(ctx, []Job{j.Job})
		if err != nil {
			return &QueryError{e.Name(), err}
		}
		if i := slices.IndexFunc(seen, func(o Observation) bool { return o.Key == j.Key && o.Job != "" }); i >= 0 {
			if err := r.record(jobLine{Event: eventFound, Part: Part{Key: j.Key}, ID: seen[i].Job}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Opener makes the engine of an earlier submission again.
type Opener func(dir string, set Settings) (Engine, error)

// Engine makes the engine to which a part was handed.
func (r *Run) Engine(j *JobRecord, open Opener) (Engine, error) {
	set, err := r.Settings(j.Submission)
	if err != nil {
		return nil, err
	}
	return open(r.Dir, set)
}

// QueryError is the error of an engine that could not be asked.
type QueryError struct {
	Engine string
	Err    error
}

func (e *QueryError) Error() string { return fmt.Sprintf("%s could not be asked: %s", e.Engine, e.Err) }
func (e *QueryError) Unwrap() error { return e.Err }

// Fresh returns the tasks that were never handed over and have no result.
func (r *Run) Fresh() ([]int, error) {
	var fresh []int
	for t, j := range r.jobOf() {
		if j != nil {
			continue
		}
		done, err := r.hasResult(t)
		if err != nil && !isDamaged(err) {
			return nil, err
		}
		if !done {
			fresh = append(fresh, t)
		}
	}
	return fresh, nil
}

// Cancel ends the given tasks, or all that have not ended if tasks is nil, and returns how many it ended, also before
// an error. The folder records the cancellation before the engine is called. The caller holds the lock.
func (r *Run) Cancel(ctx context.Context, open Opener, tasks []int) (int, error) {
	status, err := r.Status(ctx, open)
	if err != nil {
		return 0, err
	}
	if err := r.Recover(ctx, open); err != nil {
		return 0, err
	}
	wanted := slices.Sorted(slices.Values(tasks))
	of := r.jobOf()
	byJob := map[*JobRecord]Tasks{}
	for _, t := range status.Tasks {
		if _, is := slices.BinarySearch(wanted, t.Task); t.State.open() && (is || tasks == nil) {
			byJob[of[t.Task]] = append(byJob[of[t.Task]], t.Task)
		}
	}
	n := 0
	for _, j := range r.Jobs {
		list := byJob[j]
		if len(list) == 0 {
			continue
		}
		e, err := r.Engine(j, open)
		if err != nil {
			return n, err
		}
		if err := r.record(jobLine{Event: eventCancel, Part: Part{Key: j.Key, Tasks: list}}); err != nil {
			return n, err
		}
		whole := []int(list)
		if tasks == nil || len(list) == status.unfinished[j] {
			whole = nil
		}
		if err := e.Cancel(ctx, j.Job, whole); err != nil {
			return n, err
		}
		n += len(list)
	}
	return n, nil
}
