package runs

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
)

// The files of a round of a study.
const (
	ScoreFile = "score.json"
	stateFile = "state.safetensors"
)

// RoundScore is the content of score.json, what a round of a study found.
type RoundScore struct {
	// Round counts from 1. Upto is the last line of the journal whose labels the round had.
	Round int `json:"round"`
	Upto  int `json:"upto"`
	// Labelled is the number of labelled rows of sources that the round had, Target the number of the target's samples,
	// Test that of its held-out rows, and Cost what the rows of sources cost.
	Labelled int     `json:"labelled"`
	Target   int     `json:"target"`
	Test     int     `json:"test"`
	Cost     float64 `json:"cost"`
	// Result is the outcome of all methods. Scores are measured on the target's samples, each left out, where the
	// settings allow that.
	Result Result `json:"result"`
	// Held holds the scores on the held-out rows, in the order of the methods, empty without these rows.
	Held []pipeline.Score `json:"held_out,omitempty"`
	// Losses are the losses of the first method's Score, row by row.
	Losses *pipeline.Losses `json:"losses,omitempty"`
}

// After sets Earlier of the result from earlier rounds that left out the same number of the target's samples.
func (r *RoundScore) After(rounds []RoundScore) {
	if r.Losses == nil || r.Result.TooFew || len(r.Result.Methods) == 0 || !squared(r.Result.Methods[0].Score.Metric) {
		return
	}
	var epochs []pipeline.Epoch
	for i := range rounds {
		if s := &rounds[i]; len(s.Result.Methods) > 0 && s.Losses != nil && s.Target == r.Target && s.Losses.Rows == r.Losses.Rows {
			m := &s.Result.Methods[0]
			if m.Score.Metric != r.Result.Methods[0].Score.Metric {
				continue
			}
			epochs = append(epochs, pipeline.Epoch{Method: m.Method, Epoch: s.Round, Samples: m.Samples, LeaveOneOut: m.LeaveOneOut})
		}
	}
	m := &r.Result.Methods[0]
	last := &pipeline.Epoch{Method: m.Method, Epoch: r.Round, Samples: m.Samples, LeaveOneOut: m.LeaveOneOut}
	of := samples{n: r.Target, effective: float64(r.Target)}
	if r.Result.Groups > 0 {
		of.groups, of.effective = r.Result.Groups, r.Result.CountAs
	}
	r.Result.Earlier = earlier(epochs, last, of)
}

// squared reports whether a metric is of squared residuals.
func squared(metric string) bool {
	return metric == pipeline.MetricMSE || metric == pipeline.MetricRelative
}

// LearnRound carries out the round of a study that is the last of problem p. It learns from the labelled rows in, which
// need not be those that p would have drawn, and goes on from st, the state after the round before. The baselines of p
// without sources, and trees or a kernel on the same rows, follow. It returns the files of the round: those of a finished run (rows
// is the content of rows.csv), score.json, and the state for the next round, which belongs to id. of describes the
// study; score holds what the caller knows of the round, and next returns the rows that an ask after its last epoch is for, by source.
func LearnRound(ctx context.Context, data *pipeline.Resident, p *pipeline.Problem, st pipeline.State, in pipeline.Round,
	of Identity, rows []byte, score RoundScore, id string, next func(last *pipeline.Epoch) (map[string]int, error)) ([]File, error) {
	l, err := pipeline.NewLearner(data, p)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	test := in.Test
	if p.Config.Head.Prior == pipeline.PriorResidual {
		in.Test = pipeline.Labelled{}
	}
	score.Target, score.Test = len(in.Target.Rows), len(test.Rows)
	models, evaluations := map[string][]byte{}, map[string][]byte{}
	var first pipeline.State
	var held []*pipeline.Epoch
	sources := in.Sources
	for i, method := range p.Config.Methods {
		if i > 0 {
			in.Method, in.Epoch, in.Sources = method, 1, make([]pipeline.Labelled, len(p.Sources))
		}
		if pipeline.IsBeside(method) {
			in.Sources = sources
		}
		if st, err = l.Learn(ctx, st, in); err != nil {
			return nil, err
		}
		if models[method], err = encodeModel(l, st, of.Version, false); err != nil {
			return nil, err
		}
		if evaluations[method], err = encodeEvaluation(p, l); err != nil {
			return nil, err
		}
		last := st.Epochs[len(st.Epochs)-1]
		if i == 0 {
			first, score.Labelled, score.Cost, score.Losses = st, last.Samples, last.Cost, last.Losses
		}
		if len(test.Rows) > 0 {
			e := &pipeline.Epoch{Method: method}
			if e.Score, e.Losses, err = l.ScoreOn(test); err != nil {
				return nil, err
			}
			score.Held, held = append(score.Held, e.Score), append(held, e)
		}
	}
	score.Result = summarise(p, p.Set.Name, in.Target, st.Epochs)
	asks, err := next(&first.Epochs[len(first.Epochs)-1])
	if err != nil {
		return nil, err
	}
	for i := range score.Result.Sources {
		score.Result.Sources[i].Next = asks[score.Result.Sources[i].Source]
	}
	score.Result.Earlier = nil // earlier rounds may have had other samples of the target, see [RoundScore.After]
	if score.Result.Contradicted == nil {
		score.Result.Contradicted = contradicted(score.Result.Recommended, held)
	}
	in.Sources, in.Test = sources, test
	score.Result.Warnings = append(p.UnseenIn(in), p.Set.SharedGroups(p.Target.Pool, func(pool int) []int32 {
		if pool == p.Target.Pool {
			return in.Target.Rows
		}
		for m, source := range p.Sources {
			if source.Pool == pool {
				return sources[m].Rows
			}
		}
		return nil
	})...)
	scores, err := jsonfile.Encode(score)
	if err != nil {
		return nil, err
	}
	of.Config, of.Targets, of.Seeds = p.Config, []string{p.TargetName()}, []uint64{p.Config.Seed}
	files, err := runContent(p, of, st.Epochs, score.Result)
	if err != nil {
		return nil, err
	}
	for i := range len(first.Epochs) - 1 {
		first.Epochs[i].Uncertainty = nil // the files of its own round have it
	}
	state, err := checkpoint{path: stateFile, id: id}.encode(first)
	if err != nil {
		return nil, err
	}
	method := folder{id: of}.modelMethod(&score.Result)
	files = append(files, File{modelFile, models[method]}, File{rowsFile, rows})
	if evaluation := evaluations[method]; len(evaluation) > 0 {
		files = append(files, File{evaluationFile, evaluation})
	}
	score.Result.Files = Hashes{}
	for _, f := range files {
		score.Result.Files[f.Name] = HashOf(f.Content)
	}
	result, err := score.Result.encode()
	return append(files, File{stateFile, state}, File{ScoreFile, scores}, File{resultFile, result}), err
}

// runContent returns config.json, epochs.jsonl and relevance.csv of a run.
func runContent(p *pipeline.Problem, id Identity, epochs []pipeline.Epoch, res Result) ([]File, error) {
	config, err := jsonfile.Encode(id)
	if err != nil {
		return nil, err
	}
	lines, err := jsonfile.EncodeLines(epochs)
	if err != nil {
		return nil, err
	}
	relevance, err := encodeRelevance(p, res.Sources)
	return []File{{configFile, config}, {epochsFile, lines}, {relevanceFile, relevance}}, err
}

// LoadRound reads the state that a round of a study left in the folder dir for the next round.
func LoadRound(dir, id string) (pipeline.State, error) {
	path := filepath.Join(dir, stateFile)
	raw, err := atomicfile.ReadFile(path, maxTensors)
	if err != nil {
		return pipeline.State{}, err
	}
	return checkpoint{path: path, id: id}.decode(raw)
}

// ReadScore reads the score.json of a round of a study. It is an error if its SHA-256 is not sum, unless that is empty.
func ReadScore(dir, sum string) (s RoundScore, err error) {
	path := filepath.Join(dir, ScoreFile)
	raw, err := atomicfile.ReadFile(path, maxResult)
	if err != nil {
		return s, err
	}
	if found := HashOf(raw); sum != "" && found != sum {
		return s, fmt.Errorf("%s: expected sha256 %.12s, found %.12s: it was changed; restore it from a copy of the study", path, sum, found)
	}
	if err = jsonfile.Decode(raw, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if len(s.Held) > len(s.Result.Methods) {
		err = fmt.Errorf("%s: expected at most one held-out score for each of %d methods, found %d", path, len(s.Result.Methods), len(s.Held))
	}
	return s, err
}
