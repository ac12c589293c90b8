package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/runs"
)

const maxFile = 4 << 30

// Verified counts what a replay confirmed.
type Verified struct {
	Events int `json:"events"`
	Asks   int `json:"asks"`
	Rounds int `json:"rounds"`
}

// Verify replays the journal: it chooses the rows of each ask again, learns each round again, and compares both, and the files of the
// study, with what the journal says. It changes nothing. open, which must not be nil, is called where there are rounds, with the name of
// the backend that learned them, and returns a device, which Verify closes; a device of another backend is an error. progress is called
// with the number of each round, and may be nil.
func (s *Study) Verify(ctx context.Context, open func(name string) (backend.Device, error), progress func(int)) (v Verified, err error) {
	if s.data == nil {
		return v, ErrNotAttached
	}
	if open == nil {
		return v, errNoDevice
	}
	j, err := s.readWhole()
	if err != nil {
		return v, err
	}
	s.noteTorn(j)
	if s, err = s.after(j.events); err != nil {
		return v, err
	}
	st, err := s.replay(nil)
	if err != nil {
		return v, err
	}
	asks, _ := j.count()
	var device backend.Device
	for i := range j.events {
		e := &j.events[i]
		err := ctx.Err()
		switch {
		case err != nil:
		case e.Ask != nil:
			err = s.verifyAsk(st, e.Ask)
			if errors.Is(err, fs.ErrNotExist) && e.Ask.Number == asks {
				err = nil // a process that was killed left only the line, and the next command that writes adds the table
			}
			v.Asks++
		case e.Fit != nil:
			v.Rounds++
			if device == nil {
				if device, err = open(e.Fit.Backend); err != nil {
					return v, fmt.Errorf("round %d: a device like that which learned it: %w", e.Fit.Round, err)
				}
				defer device.Close()
			}
			if progress != nil {
				progress(v.Rounds)
			}
			err = s.verifyRound(ctx, device, j.events, e.Fit)
		}
		if err == nil {
			err = st.apply(e)
		}
		if err != nil {
			return v, fmt.Errorf("%s: line %d: %w", journalFile, e.N, err)
		}
		v.Events++
	}
	return v, nil
}

// verifyAsk chooses the rows of an ask again, from the state st before it, and compares them and their table with the journal.
func (s *Study) verifyAsk(st *state, e *AskEvent) error {
	groups, err := s.groupsOf(st, e)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(groups, e.Rows, func(a, b AskRows) bool { return a.Source == b.Source && slices.Equal(a.Rows, b.Rows) }) {
		return fmt.Errorf("ask %d: expected the rows that follow from the lines before, found others", e.Number)
	}
	asked, err := s.asked(e)
	if err != nil {
		return err
	}
	want, err := asked.csv()
	if err != nil {
		return err
	}
	found, err := atomicfile.ReadFile(asked.Path, maxFile)
	if err == nil && string(found) != string(want) {
		err = fmt.Errorf("%s: expected the rows of the journal, sha256 %s, found %s", asked.Path, runs.HashOf(want)[:12], runs.HashOf(found)[:12])
	}
	return err
}

// groupsOf returns the rows that an ask of the same request chooses in the state st.
func (s *Study) groupsOf(st *state, e *AskEvent) ([]AskRows, error) {
	if e.TargetRows > 0 {
		group, err := st.moreOfTarget(e.TargetRows)
		return []AskRows{group}, err
	}
	prop, err := s.propose(st, e.Budget)
	if err != nil {
		return nil, err
	}
	return prop.groups, nil
}

func (s *Study) verifyRound(ctx context.Context, device backend.Device, events []Event, e *FitEvent) error {
	dir := s.RoundDir(e.Round)
	for _, name := range slices.Sorted(maps.Keys(e.Files)) {
		want := e.Files[name]
		raw, err := atomicfile.ReadFile(filepath.Join(dir, name), maxFile)
		if err != nil {
			return err
		}
		if found := runs.HashOf(raw); found != want {
			return fmt.Errorf("%s: expected sha256 %s, found %s: it was changed", filepath.Join(dir, name), want[:min(12, len(want))], found[:12])
		}
	}
	if found := device.Info().Backend; found != e.Backend {
		return fmt.Errorf("round %d: expected backend %s, which learned it, found %s", e.Round, e.Backend, found)
	}
	// The round had the labels up to line Upto, but its number counts the rounds that were learned after that line too.
	then, err := s.after(events[:e.Upto])
	if err != nil {
		return err
	}
	if s.data.Set.Columns.ID != "" {
		if then.numbers, err = runs.ReadRowNumbers(dir); err != nil {
			return err
		}
	}
	st, err := then.replay(events[:e.Upto])
	if err != nil {
		return err
	}
	for i := e.Upto; i < len(events) && events[i].Fit != e; i++ {
		if f := events[i].Fit; f != nil {
			st.fits = append(st.fits, f)
		}
	}
	files, err := then.learn(ctx, device, st, events[:e.Upto])
	if err != nil {
		return err
	}
	for _, f := range files {
		if found := runs.HashOf(f.Content); found != e.Files[f.Name] {
			err := fmt.Errorf("round %d: %s: learned again its sha256 is %s, expected %s", e.Round, f.Name, found[:12],
				e.Files[f.Name][:min(12, len(e.Files[f.Name]))])
			if here := computedBy(device); here != e.By {
				err = fmt.Errorf("%w: results differ by rounding between what learned it (%s) and what is here (%s)", err, e.By, here)
			}
			return err
		}
	}
	return nil
}
