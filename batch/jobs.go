package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// JobRecord is what jobs.jsonl says about a part.
type JobRecord struct {
	Job
	Engine string
	Try    int
	// Refused says that the engine did not take it; Unsure that nobody knows:
	// the submitter was killed between writing that it would hand the part over
	// and writing what came of it, or the engine's answer made no sense.
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
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
	Key   string    `json:"key"`

	Engine string   `json:"engine,omitempty"`
	Try    int      `json:"try,omitempty"`
	File   string   `json:"file,omitempty"`
	Argv   []string `json:"argv,omitempty"`
	Tasks  Tasks    `json:"tasks,omitempty"`
	Offset int      `json:"offset,omitempty"`
	Dense  bool     `json:"dense,omitempty"`

	ID    string `json:"id,omitempty"`
	Error string `json:"error,omitempty"`
}

// record appends a line to jobs.jsonl, makes it last and applies it.
func (r *Run) record(line jobLine) error {
	line.Time = time.Now().UTC()
	if err := AppendLine(filepath.Join(r.Dir, jobsFile), line); err != nil {
		return err
	}
	jobs, err := applyJob(r.Jobs, line)
	r.Jobs = jobs
	return err
}

// AppendLine adds a JSON line to a file and syncs it. What a killed writer left
// of its last line is closed off first.
func AppendLine(path string, v any) error {
	js, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	line := append(js, '\n')
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReadLines calls line with each whole JSON line of a file, and skips what a
// killed writer left of one. A file that is not there has none.
func ReadLines[T any](path string, line func(T) error) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n := 0
	for text := range bytes.Lines(raw) {
		n++
		var v T
		if json.Unmarshal(text, &v) != nil {
			continue
		}
		if err := line(v); err != nil {
			return fmt.Errorf("%s, line %d: %w", path, n, err)
		}
	}
	return nil
}

func readJobs(path string, tasks int) ([]*JobRecord, error) {
	var jobs []*JobRecord
	err := ReadLines(path, func(line jobLine) (err error) {
		if n := len(line.Tasks); n > 0 && line.Tasks[n-1] >= tasks {
			return fmt.Errorf("task %d: expected 0 to %d", line.Tasks[n-1], tasks-1)
		}
		jobs, err = applyJob(jobs, line)
		return err
	})
	return jobs, err
}

func applyJob(jobs []*JobRecord, line jobLine) ([]*JobRecord, error) {
	if line.Event == eventSubmit {
		part := Part{Key: line.Key, File: line.File, Argv: line.Argv, Tasks: line.Tasks, Offset: line.Offset, Dense: line.Dense}
		return append(jobs, &JobRecord{Job: Job{Part: part}, Engine: line.Engine, Try: line.Try, Unsure: true, Time: line.Time,
			Error: "the submission was broken off", Cancelled: map[int]bool{}}), nil
	}
	var j *JobRecord
	for _, known := range jobs {
		if known.Key == line.Key {
			j = known
		}
	}
	if j == nil {
		return jobs, fmt.Errorf("%s of %q, which was not submitted", line.Event, line.Key)
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
		return jobs, fmt.Errorf("unknown event %q", line.Event)
	}
	return jobs, nil
}

// tries is how many submissions there were.
func (r *Run) tries() int {
	n := 0
	for _, j := range r.Jobs {
		n = max(n, j.Try)
	}
	return n
}

// jobOf is the last part that holds each task and was not refused, nil where
// there is none.
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
