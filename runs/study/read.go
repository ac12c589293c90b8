package study

import "github.com/amtrl/amtrl/runs"

// Learned is what the rounds of a study found.
type Learned struct {
	// Rounds are their scores, of which the last has the models in use, and Run is the folder of that round as one of a run.
	Rounds []runs.RoundScore
	Run    *runs.Finished
}

// ReadLearned reads what the rounds of the study in a folder found. It needs no data, and says nothing of what was asked or
// told since the last round.
func ReadLearned(dir string) (*Learned, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	last, err := s.LatestRound()
	if err != nil {
		return nil, err
	}
	l := &Learned{}
	for round := 1; ; round++ {
		score, err := runs.ReadScore(s.roundDir(round))
		if err != nil {
			return nil, err
		}
		l.Rounds = append(l.Rounds, score)
		if s.roundDir(round) == last {
			break
		}
	}
	l.Run, err = runs.ReadRun(last)
	return l, err
}
