package batch

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/amtrl/amtrl/internal/jsonfile"
)

// JobRecord is what jobs.jsonl records about a part.
type JobRecord struct {
	Job
	Engine string
	// Submission is the number of the submission to which the part belongs.
	Submission int
	// Refused reports that the engine did not take the part. Unsure reports that nobody knows whether it did: the submitter was
	// killed between recording that it would hand the part over and recording the outcome, or the engine's answer made no sense.
	Refused, Unsure bool
	// Error is the reason for Refused or Unsure.
	Error string
	// Cancelled are the tasks that were cancelled.
	Cancelled map[int]bool
	Time      time.Time
}

// The events of jobs.jsonl. A part has one eventSubmit, written and synced before the engine is called, and after the call
// eventSubmitted, eventRefused or eventUnsure. Where the outcome is unknown, eventFound may settle it later. eventCancel may follow.
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
	Part                 // only its key, except in eventSubmit; in eventCancel also its tasks
	ID         string    `json:"id,omitempty"`
	Error      string    `json:"error,omitempty"`
}

// record appends a line to jobs.jsonl, syncs the file, and applies the line to r.
func (r *Run) record(line jobLine) error {
	line.Time = time.Now().UTC()
	if err := jsonfile.Append(filepath.Join(r.Dir, jobsFile), line); err != nil {
		return err
	}
	return r.apply(line)
}

// readJobs reads jobs.jsonl into r.Jobs. Every line must belong to the run.
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

// Part returns the record of the part with this key, or an error if the run has none.
func (r *Run) Part(key string) (*JobRecord, error) {
	if i := slices.IndexFunc(r.Jobs, func(j *JobRecord) bool { return j.Key == key }); i >= 0 {
		return r.Jobs[i], nil
	}
	return nil, fmt.Errorf("%s has no part %q", r.Dir, key)
}

// apply changes r.Jobs as a line of jobs.jsonl says.
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

// jobOf returns for each task the last part that holds it and was not refused, nil if there is none.
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

// JobsOf returns the parts that held a task and were not refused, oldest first.
func (r *Run) JobsOf(task int) []*JobRecord {
	var list []*JobRecord
	for _, j := range r.Jobs {
		if !j.Refused && j.Index(task) >= 0 {
			list = append(list, j)
		}
	}
	return list
}
