package pipeline

import (
	"context"
	"slices"
	"testing"
)

// A checkpoint whose checksum is right may still not be this unit's.
func TestUnitRefusesStatesThatAreNotItsOwn(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 4, 200, 5, false))
	u, full := runUnit(t, dev, smallConfig(), 0)
	for what, change := range map[string]func(*State){
		"short parameters":    func(s *State) { s.Theta = s.Theta[1:] },
		"no parameters":       func(s *State) { s.Theta = nil },
		"long head":           func(s *State) { s.Head = append(slices.Clone(s.Head), 0) },
		"an epoch too many":   func(s *State) { s.Epochs = append(s.Epochs, s.Epochs[len(s.Epochs)-1]) },
		"epochs out of order": func(s *State) { s.Epochs[0], s.Epochs[1] = s.Epochs[1], s.Epochs[0] },
		"another method":      func(s *State) { s.Epochs[0].Method = Uniform },
		"a source too few":    func(s *State) { s.Epochs[0].Counts = s.Epochs[0].Counts[1:] },
		"a nu too few":        func(s *State) { s.Epochs[0].Nu = nil },
		"more than there are": func(s *State) { s.Epochs[0].Counts = []int{1 << 20, 1, 1} },
		"a negative count":    func(s *State) { s.Epochs[0].Counts = []int{-1, 1, 1} },
		"an optimiser":        func(s *State) { s.Optimiser = []float32{1} },
	} {
		st := State{Epochs: slices.Clone(full.Epochs), Theta: full.Theta, Head: full.Head}
		change(&st)
		if _, err := u.Solve(context.Background(), st, quiet, unsaved); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if err := u.Check(full); err != nil {
		t.Errorf("its own state: %v", err)
	}
}

// A source without samples has no head to learn: its nu must not come from the
// random start.
func TestUnsampledSourcesHaveNoHead(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 4, 200, 5, false))
	cfg := smallConfig()
	cfg.Methods, cfg.ERM.Lambda = []string{Active}, 0
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 1, Budget: 2}
	_, st := runUnit(t, dev, cfg, 0)
	for m, n := range st.Epochs[0].Counts {
		if n == 0 && st.Epochs[0].Nu[m] != 0 {
			t.Errorf("source %d has no sample, and nu %g", m, st.Epochs[0].Nu[m])
		}
	}
	if !slices.Contains(st.Epochs[0].Counts, 0) {
		t.Error("every source was sampled: the test tests nothing")
	}
}
