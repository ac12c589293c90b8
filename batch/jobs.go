package batch

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/amtrl/amtrl/internal/jsonfile"
)

// JobRecord is what jobs.jsonl says about a part.
type JobRecord struct {
	Job
	Engine string
	// Submission is the number of the submission that it was part of.
	Submission int
	// Refused says that the engine did not take it; Unsure that nobody knows: the submitter was killed between writing
	// that it would hand the part over and writing what came of it, or the engine's answer made no sense.
	Refused, Unsure bool
	// Error is why.
	Error string
	// Cancelled are the tasks that were cancelled.
	Cancelled map[int]bool
	Time      time.Time
}

// The events of jobs.jsonl. A part has one eventSubmit, written and synced
// before the engine is called, and then one of the others but eventCancel.
const (
	eventSubmit    = "submit"
	eventSubmitted = "submitted"
	eventRefused   = "refused"
	eventUnsure    = "unsure"
	eventFound     = "found"
	eventCancel    = "cancel"
)

// jobLine is a line of jobs.jsonl.
type jobLine struct {
	Event      string    `json:"event"`
	Time       time.Time `json:"time"`
	Engine     string    `json:"engine,omitempty"`
	Submission int       `json:"try,omitempty"`
	Part                 // the key alone, and the tasks of a cancellation, where it is no eventSubmit
	ID         string    `json:"id,omitempty"`
	Error      string    `json:"error,omitempty"`
}

// record appends a line to jobs.jsonl, makes it last and applies it.
func (r *Run) record(line jobLine) error {
	line.Time = time.Now().UTC()
	if err := jsonfile.Append(filepath.Join(r.Dir, jobsFile), line); err != nil {
		return err
	}
	return r.apply(line)
}

// readJobs reads jobs.jsonl, all of which must belong to the run.
func (r *Run) readJobs() error {
	read := &Run{Dir: r.Dir}
	err := jsonfile.ReadLines(filepath.Join(r.Dir, jobsFile), maxFile, func(line jobLine) error {
		if err := line.check(r.Plan.ID, len(r.Tasks)); err != nil {
			return err
		}
		return read.apply(line)
	})
	if err == nil {
		r.Jobs = read.Jobs
	}
	return err
}

// Part is what is known of the part of a key.
func (r *Run) Part(key string) (*JobRecord, error) {
	if i := slices.IndexFunc(r.Jobs, func(j *JobRecord) bool { return j.Key == key }); i >= 0 {
		return r.Jobs[i], nil
	}
	return nil, fmt.Errorf("%s has no part %q", r.Dir, key)
}

// apply adds what a line of jobs.jsonl says.
func (r *Run) apply(line jobLine) error {
	j, unknown := r.Part(line.Key)
	if line.Event == eventSubmit {
		if j != nil {
			return fmt.Errorf("%q was submitted before", line.Key)
		}
		line.Content = nil // which is on disk
		r.Jobs = append(r.Jobs, &JobRecord{Job: Job{Part: line.Part}, Engine: line.Engine, Submission: line.Submission, Unsure: true,
			Time: line.Time, Error: "the submission was broken off", Cancelled: map[int]bool{}})
		return nil
	}
	if unknown != nil {
		return fmt.Errorf("%s of %q, which was not submitted", line.Event, line.Key)
	}
	switch line.Event {
	case eventSubmitted, eventFound:
		j.ID, j.Unsure, j.Error = line.ID, false, ""
	case eventRefused:
		j.Refused, j.Unsure, j.Error = true, false, line.Error
	case eventUnsure:
		j.Error = line.Error
	case eventCancel:
		for _, t := range line.Tasks {
			j.Cancelled[t] = true
		}
	default:
		return fmt.Errorf("unknown event %q", line.Event)
	}
	return nil
}

func (r *Run) submissions() int {
	n := 0
	for _, j := range r.Jobs {
		n = max(n, j.Submission)
	}
	return n
}

// jobOf is the last part that holds each task and was not refused, nil where there is none.
func (r *Run) jobOf() []*JobRecord {
	of := make([]*JobRecord, len(r.Tasks))
	for _, j := range r.Jobs {
		if !j.Refused {
			for _, t := range j.Tasks {
				of[t] = j
			}
		}
	}
	return of
}

// JobsOf are the parts that held a task and were not refused, oldest first.
func (r *Run) JobsOf(task int) []*JobRecord {
	var list []*JobRecord
	for _, j := range r.Jobs {
		if !j.Refused && j.Index(task) >= 0 {
			list = append(list, j)
		}
	}
	return list
}
