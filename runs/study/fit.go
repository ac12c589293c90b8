package study

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// ErrNothingNew is the error of a round without a label that the round before did not have.
var ErrNothingNew = errors.New("no label came since the last round")

// ErrTooFew is the error of a round without labels of sources, or without labels of the target.
var ErrTooFew = errors.New("expected labels of sources and of the target to learn from")

// errNoDevice is the error of a round without a function that opens a device.
var errNoDevice = errors.New("expected a function that opens a device, found nil")

// Learn carries out a round from all labels so far, on the device that open opens and Learn closes, writes the folder of the round, and
// returns its number. Other processes can write to the journal meanwhile; Learn waits for another process that learns.
func (s *Study) Learn(ctx context.Context, open func() (backend.Device, error)) (int, error) {
	if s.data == nil {
		return 0, ErrNotAttached
	}
	if open == nil {
		return 0, errNoDevice
	}
	learning, err := s.lock(ctx, filepath.Join(s.Dir, roundsDir))
	if err != nil {
		return 0, err
	}
	defer learning.Release()
	s, j, st, err := s.load()
	if err != nil {
		return 0, err
	}
	round := len(st.fits) + 1
	if round > 1 && st.labels <= st.learnedUpTo() {
		return round - 1, ErrNothingNew
	}
	if round > pipeline.MaxRounds {
		return 0, fmt.Errorf("expected at most %d rounds", pipeline.MaxRounds)
	}
	device, err := open()
	if err != nil {
		return 0, err
	}
	defer device.Close()
	files, err := s.learn(ctx, device, st, j.events)
	if err != nil {
		return 0, err
	}
	e := &FitEvent{Round: round, Upto: len(j.events), Backend: device.Info().Backend, By: computedBy(device)}
	held, err := s.lock(ctx, s.Dir)
	if err != nil {
		return 0, err
	}
	defer held.Release()
	if j, err = s.read(); err != nil {
		return 0, err
	}
	// Whoever took over while this process was stopped may have written the round, or be writing it.
	for _, other := range j.events {
		if other.Fit != nil && other.Fit.Round == round {
			return 0, fmt.Errorf("%s: %w: round %d is learned", s.Dir, lease.ErrLost, round)
		}
	}
	if !learning.Held() || !held.Held() {
		return 0, fmt.Errorf("%s: %w; nothing was written", s.Dir, lease.ErrLost)
	}
	if e.Files, err = runs.WriteFiles(s.RoundDir(round), files); err != nil {
		return 0, err
	}
	return round, s.write(held, j, Event{Fit: e})
}

// computedBy names the implementation of a device, its arithmetic and the BLAS of the host. The bytes of a round follow from these.
func computedBy(device backend.Device) string {
	i := device.Info()
	return strings.Join([]string{i.Device, i.Detail, i.Precision, runs.HostBLAS()}, "; ")
}

// learn computes the files of the round after st, which is the state after events.
func (s *Study) learn(ctx context.Context, device backend.Device, st *state, events []Event) ([]runs.File, error) {
	round, upto := len(st.fits)+1, len(events)
	p, err := s.problem(round)
	if err != nil {
		return nil, err
	}
	in := st.samples(p, round)
	rows := 0
	for _, l := range in.Sources {
		rows += len(l.Rows)
	}
	if rows == 0 || len(in.Target.Rows) == 0 {
		return nil, fmt.Errorf("found %s of sources and %s of the target %s: %w", text.Several(rows, "labelled row"),
			text.Count(len(in.Target.Rows)), s.Settings.Target, ErrTooFew)
	}
	data, err := pipeline.NewResident(device, s.data.Set)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	if shortage := data.Shortage(); shortage != "" {
		s.Note("%s", shortage)
	}
	var before pipeline.State
	if st.classes > st.learnedUpTo() {
		before, err = s.relearn(ctx, data, events, st.fits)
	} else if round > 1 {
		before, err = s.loadRound(round - 1)
	}
	if err != nil {
		return nil, err
	}
	drawn, err := s.drawnRows(st, p, in, round)
	if err != nil {
		return nil, err
	}
	of := runs.Identity{Version: s.Settings.Version, Data: runs.DataIdentity{
		Name: s.data.Set.Name, SHA256: s.Settings.Data.SHA256, Tasks: len(s.data.Set.Tasks), Pools: len(s.data.Set.Pools),
		Cols: s.data.Set.Pools[0].Cols,
	}}
	of.Backend.Backend = device.Info().Backend
	next := func(last *pipeline.Epoch) (map[string]int, error) { return s.next(st, round, last) }
	return runs.LearnRound(ctx, data, p, before, in, of, drawn, runs.RoundScore{Round: round, Upto: upto}, s.roundID(round), next)
}

// next returns the number of rows of each source that an ask right after a round would be for. last is its last epoch, and st the state
// before the round. After the last round of a schedule it is for as much as one of its rounds.
func (s *Study) next(st *state, round int, last *pipeline.Epoch) (map[string]int, error) {
	if round == pipeline.MaxRounds {
		return nil, nil
	}
	schedule, budget := s.Settings.Config.Schedule, 0.0
	if s.Settings.RoundBudget == 0 && round >= schedule.Epochs {
		budget = schedule.Budget / float64(schedule.Epochs)
	}
	prop, err := s.proposeAfter(st, round, last, budget)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, group := range prop.groups {
		out[group.Source] = len(group.Rows)
	}
	return out, nil
}

// drawnRows returns rows.csv of a round: the rows of sources that it learned from, each with the round that had it first.
func (s *Study) drawnRows(st *state, p *pipeline.Problem, in pipeline.Round, round int) ([]byte, error) {
	since := func(pool int, i int32) int {
		if r := st.rows[pool][i]; r != nil && r.values != nil && s.known(pool, i) == nil {
			told := r.firstTold()
			for k, f := range st.fits {
				if told <= f.Upto {
					return k + 1
				}
			}
			return round
		}
		return 1
	}
	byRound := make([][][]string, round)
	for m, l := range in.Sources {
		source := p.Sources[m]
		for _, i := range l.Rows {
			id, number, err := s.data.Set.Pools[source.Pool].Origin.Find(int(i))
			if err != nil {
				return nil, err
			}
			if was, listed := s.numbers[runs.RowID{Source: source.Name, ID: id}]; listed {
				number = was
			}
			if k := since(source.Pool, i); k <= round {
				line := []string{strconv.Itoa(k), source.Name, id, strconv.FormatInt(number, 10), text.Number(p.Costs[m])}
				byRound[k-1] = append(byRound[k-1], line)
			}
		}
	}
	return runs.EncodeCSV(slices.Concat([][]string{runs.RowsHeader()}, slices.Concat(byRound...)))
}

func (s *Study) roundID(round int) string { return s.id + "/" + strconv.Itoa(round) }

// loadRound reads the state after a round from its folder.
func (s *Study) loadRound(round int) (pipeline.State, error) {
	st, err := runs.LoadRound(s.RoundDir(round), s.roundID(round))
	if err == nil && len(st.Epochs) != round {
		err = fmt.Errorf("%s: expected the records of %d rounds, found %d", s.RoundDir(round), round, len(st.Epochs))
	}
	return st, err
}
