package study

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Learned is what the rounds of a study found.
type Learned struct {
	Settings Settings
	// Rounds are their scores, of which the last has the models in use.
	Rounds []runs.RoundScore
	// Run is the last round as a run, whose rounds those of the study are.
	Run *runs.Finished
}

// ReadLearned reads the settings of a study and what its rounds found. It needs no data, and says nothing of what was asked
// or told since the last round.
func ReadLearned(dir string) (*Learned, error) {
	l := &Learned{}
	if err := jsonfile.Read(filepath.Join(dir, SettingsFile), maxSettings, &l.Settings); err != nil {
		return nil, err
	}
	s := &Study{Dir: dir}
	for {
		round := len(l.Rounds) + 1
		score, err := runs.ReadScore(s.roundDir(round))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		if score.Round != round || len(score.Result.Methods) == 0 {
			return nil, fmt.Errorf("%s: expected round %d with its methods, found round %d", s.roundDir(round), round, score.Round)
		}
		l.Rounds = append(l.Rounds, score)
	}
	if len(l.Rounds) == 0 {
		return nil, fmt.Errorf("%s: expected a study that has learned something, found no round", dir)
	}
	var err error
	l.Run, err = l.asRun(s.roundDir(len(l.Rounds)))
	return l, err
}

// asRun lists the rounds as a run would; dir is that of the last.
func (l *Learned) asRun(dir string) (*runs.Finished, error) {
	last := &l.Rounds[len(l.Rounds)-1]
	f := &runs.Finished{Result: last.Result}
	f.Identity = runs.Identity{Version: l.Settings.Version, Config: l.Settings.Config, Targets: []string{l.Settings.Target},
		Seeds: []uint64{last.Result.Seed}, Data: runs.DataIdentity{Name: last.Result.Data, SHA256: l.Settings.Data.SHA256}}
	for _, src := range last.Result.Sources {
		f.Sources = append(f.Sources, src.Source)
	}
	slices.Sort(f.Sources)
	for _, r := range l.Rounds {
		m := r.Result.Methods[0]
		e := pipeline.Epoch{Method: m.Method, Epoch: r.Round, Samples: m.Samples, Cost: m.Cost, Score: m.Score,
			Counts: make([]int, len(f.Sources)), Nu: make([]float64, len(f.Sources))}
		for _, src := range r.Result.Sources {
			i, known := slices.BinarySearch(f.Sources, src.Source)
			if !known {
				return nil, fmt.Errorf("round %d: source %q is not one of the last round", r.Round, src.Source)
			}
			e.Counts[i], e.Nu[i] = src.Samples, src.Nu
		}
		f.Epochs = append(f.Epochs, e)
	}
	return f, f.ReadRelevance(dir)
}
