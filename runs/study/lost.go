package study

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs"
)

// readWhole is read for a journal that must know the asks and rounds in the folder: one that was lost, or that an older copy replaced,
// would otherwise go on from too early, and write over them. A killed process leaves no table of an ask without its line. It can leave one
// round without its line, whole or in part, which learned from lines that the journal has.
func (s *Study) readWhole() (*journal, error) {
	// Other processes may write meanwhile: what is there before the journal is read must be in it.
	ask, err := largest(filepath.Join(s.Dir, asksDir), ".csv")
	if err != nil {
		return nil, err
	}
	round, err := largest(filepath.Join(s.Dir, roundsDir), "")
	if err != nil {
		return nil, err
	}
	j, err := s.read()
	if err != nil {
		return nil, err
	}
	asks, rounds := j.count()
	switch {
	case ask > asks:
		return nil, s.lost(s.askPath(ask), text.Several(asks, "ask"))
	case round > rounds+1:
		return nil, s.lost(s.RoundDir(round), text.Several(rounds, "round"))
	case round <= rounds:
		return j, nil
	}
	score, err := runs.ReadScore(s.RoundDir(round), "") // the journal does not have its sum yet
	if errors.Is(err, fs.ErrNotExist) {                 // a process was killed in the middle of writing it
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	if score.Upto > len(j.events) { // the journal may have grown until the round was there
		if j, err = s.read(); err != nil {
			return nil, err
		}
	}
	if score.Upto > len(j.events) {
		return nil, s.lost(s.RoundDir(round), text.Several(len(j.events), "line")+", of which the round needs "+strconv.Itoa(score.Upto))
	}
	return j, nil
}

func (s *Study) lost(path, has string) error {
	return fmt.Errorf("%s: expected no more than %s has (%s): the journal was lost, or is an older copy; nothing was written: put it back, "+
		"or move away what it does not have", path, filepath.Join(s.Dir, journalFile), has)
}

// restoreTable writes the table of the last ask, where a process was killed before it did.
func (s *Study) restoreTable(st *state) error {
	if len(st.asks) == 0 {
		return nil
	}
	asked, err := s.asked(st.asks[len(st.asks)-1])
	if err != nil {
		return err
	}
	if _, err := os.Lstat(asked.Path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.writeAsk(asked)
}

// count returns the number of asks and of rounds.
func (j *journal) count() (asks, rounds int) {
	for i := range j.events {
		switch e := &j.events[i]; {
		case e.Ask != nil:
			asks++
		case e.Fit != nil:
			rounds++
		}
	}
	return asks, rounds
}

// largest returns the largest number among the names in a folder that are a number of four digits or more with the given ending, 0 for
// none.
func largest(dir, ending string) (n int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ending)
		if i, err := strconv.Atoi(name); is && err == nil && i > n && fmt.Sprintf("%04d", i) == name {
			n = i
		}
	}
	return n, err
}
