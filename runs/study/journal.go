package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs"
)

// Event is a line of journal.jsonl. Exactly one of Ask, Tell, Expire and Fit is set.
type Event struct {
	// N counts lines from 1. Previous is the SHA-256 of the line before without its line break, or in the first line of study.json.
	N        int    `json:"n"`
	Previous string `json:"previous"`
	Time     string `json:"time"`
	Event    string `json:"event"`

	Ask    *AskEvent    `json:"ask,omitempty"`
	Tell   *TellEvent   `json:"tell,omitempty"`
	Expire *ExpireEvent `json:"expire,omitempty"`
	Fit    *FitEvent    `json:"fit,omitempty"`
}

// AskEvent records the rows of an ask.
type AskEvent struct {
	// Number counts asks from 1, Round is the round that the ask is for.
	Number int `json:"number"`
	Round  int `json:"round"`
	// Request is the key that was given. Budget is the budget that was given, 0 for that of the study.
	Request string  `json:"request,omitempty"`
	Budget  float64 `json:"budget,omitempty"`
	// TargetRows is the number of rows of the target that was given. Where it is not 0, all rows are of the target.
	TargetRows int       `json:"target_rows,omitempty"`
	Expires    string    `json:"expires,omitempty"`
	Rows       []AskRows `json:"rows"`
}

// AskRows are the rows of one source, in drawing order.
type AskRows struct {
	Source string  `json:"source"`
	Cost   float64 `json:"cost"`
	Reason string  `json:"reason"`
	Rows   []int32 `json:"rows"`
}

// TellEvent records the labels and the skipped rows of one file.
type TellEvent struct {
	// Replace says that an answer may differ from one that was told before.
	Replace bool       `json:"replace,omitempty"`
	Rows    []TellRows `json:"rows,omitempty"`
	Skips   []SkipRows `json:"skips,omitempty"`
	// Checked are rows whose labels are right as they are.
	Checked []CheckedRows `json:"checked,omitempty"`
	// Classes are classes of each output that are added, from this line on, behind those that it has.
	Classes [][]string `json:"classes,omitempty"`
}

// TellRows holds labels of rows of one source: Labels has, for each output, one label for each row, empty for none.
type TellRows struct {
	Source string     `json:"source"`
	Rows   []int32    `json:"rows"`
	Labels [][]string `json:"labels"`
}

// SkipRows are rows of one source that will have no label, and whose labels do not count if they have some.
type SkipRows struct {
	Source string  `json:"source"`
	Rows   []int32 `json:"rows"`
	// Held says that the rows are held out: none of them is ever asked for.
	Held bool `json:"held,omitempty"`
}

// CheckedRows are rows of one source that were looked at. Their labels are no longer named as probable slips, until one of them changes.
type CheckedRows struct {
	Source string  `json:"source"`
	Rows   []int32 `json:"rows"`
}

// ExpireEvent records that the time of asks is over, so that their rows without an answer can be asked for again.
type ExpireEvent struct {
	Asks []int `json:"asks"`
}

// FitEvent records a round that was learned.
type FitEvent struct {
	Round int `json:"round"`
	// Upto is the last line of the journal whose labels the round had.
	Upto int `json:"upto"`
	// Backend computed the round, and By names its device, implementation and arithmetic and the BLAS of the host.
	Backend string `json:"backend"`
	By      string `json:"by,omitempty"`
	// Files has the SHA-256 of each file of the round.
	Files runs.Hashes `json:"files"`
}

// timeForm is the layout of times: UTC, to the second.
const timeForm = "2006-01-02T15:04:05Z"

const maxJournal = 16 << 30

// journal is the content of journal.jsonl.
type journal struct {
	events []Event
	last   string // the hash of the last line
	size   int64  // bytes of the complete lines
	torn   []byte // an incomplete line behind them
}

// read reads the journal and checks that each line follows from the line before. An incomplete last line, as a killed writer leaves it, is
// kept apart.
func (s *Study) read() (*journal, error) {
	path := filepath.Join(s.Dir, journalFile)
	raw, err := atomicfile.ReadFile(path, maxJournal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	j := &journal{last: s.id}
	for len(raw) > 0 {
		line, rest, whole := bytes.Cut(raw, []byte("\n"))
		if len(rest) == 0 && (!whole || !json.Valid(line)) {
			j.torn = raw
			break
		}
		var e Event
		if err := jsonfile.Decode(line, &e); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, len(j.events)+1, err)
		}
		if want := len(j.events) + 1; e.N != want {
			return nil, fmt.Errorf("%s: line %d: expected event %d, found %d: lines are missing or were moved", path, want, want, e.N)
		}
		if e.Previous != j.last {
			before := fmt.Sprintf("line %d", e.N-1)
			if e.N == 1 {
				before = settingsFile
			}
			return nil, fmt.Errorf("%s: line %d: expected the hash of %s, %s, found %q: it was changed", path, e.N, before, j.last, e.Previous)
		}
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, e.N, err)
		}
		j.events = append(j.events, e)
		j.last = runs.HashOf(line)
		j.size += int64(len(line)) + 1
		raw = rest
	}
	return j, nil
}

// noteTorn tells the user of a command that only reads about an incomplete last line.
func (s *Study) noteTorn(j *journal) {
	if n := len(j.torn); n > 0 {
		s.Note("%s ends in %s of a line that was never finished, which the next command that writes sets aside", journalFile,
			text.Several(n, "byte"))
	}
}

func (e *Event) check() error {
	n := 0
	for _, there := range []bool{e.Ask != nil, e.Tell != nil, e.Expire != nil, e.Fit != nil} {
		if there {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("expected one of ask, tell, expire and fit, found %d", n)
	}
	return nil
}

// kind returns the name of the event: tell where it has labels, else skip where it has skipped rows, else check.
func (e *TellEvent) kind() string {
	switch {
	case len(e.Rows) > 0:
		return "tell"
	case len(e.Skips) > 0:
		return "skip"
	}
	return "check"
}

// write appends an event to journal j, which must have been read since the lease is held. When write returns, the line is on disk. An
// incomplete last line is moved to a file of its own.
func (s *Study) write(held *lease.Lease, j *journal, e Event) error {
	e.N, e.Previous, e.Time = len(j.events)+1, j.last, s.now().UTC().Format(timeForm)
	switch {
	case e.Ask != nil:
		e.Event = "ask"
	case e.Tell != nil:
		e.Event = e.Tell.kind()
	case e.Expire != nil:
		e.Event = "expire"
	case e.Fit != nil:
		e.Event = "fit"
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(j.torn) > 0 {
		aside := filepath.Join(s.Dir, fmt.Sprintf("journal.torn-%d", e.N))
		if err := atomicfile.Write(aside, j.torn); err != nil {
			return err
		}
		s.Note("%s ended in %s of a line that was never finished, now in %s", journalFile, text.Several(len(j.torn), "byte"), aside)
	}
	if !held.Held() {
		return fmt.Errorf("%s: %w; nothing was written", s.Dir, lease.ErrLost)
	}
	if err := atomicfile.Extend(filepath.Join(s.Dir, journalFile), j.size, append(line, '\n')); err != nil {
		return err
	}
	j.events, j.last, j.size, j.torn = append(j.events, e), runs.HashOf(line), j.size+int64(len(line))+1, nil
	return nil
}
