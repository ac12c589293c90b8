package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Estimate is the relevance nu of each source after the last round of a run's first method, to which relevance.csv belongs, and the share
// of the next round's budget that an allocation gives it. The sources are in order of falling |nu|.
type Estimate struct {
	Target     string              `json:"target"`
	Method     string              `json:"method"`
	Relevance  pipeline.Relevance  `json:"relevance"`
	Allocation pipeline.Allocation `json:"allocation"`
	// Rank is the rank of the sources' heads that nu follows from.
	Rank    int           `json:"rank"`
	Sources []SourceShare `json:"sources"`
}

// SourceShare is the relevance and the share of one source.
type SourceShare struct {
	Source string  `json:"source"`
	Nu     float64 `json:"nu"`
	Share  float64 `json:"share"`
}

// ErrTransfer is the error of an estimate that a model does not suffice for.
var ErrTransfer = fmt.Errorf("relevance %s is measured on the target's samples, which a model does not have: expected %s, %s, %s, or the "+
	"run to have it", pipeline.Transfer, pipeline.MinNorm, pipeline.Ridge, pipeline.L1)

// Settings returns the configuration of a run folder, or the default one if the folder holds only a model. The error for a folder that has
// neither wraps [fs.ErrNotExist].
func Settings(dir string) (pipeline.Config, error) {
	id, err := ReadIdentity(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, modelFile)); err != nil {
			return pipeline.Config{}, text.Mark(fmt.Errorf("%s has no %s: expected the folder of a finished run", dir, modelFile), err)
		}
		return pipeline.NewConfig(pipeline.PresetDefault)
	}
	return id.Config, err
}

// EstimateRelevance returns the estimate for the folder of a finished run by the relevance, the allocation and the costs of cfg, which must
// be complete ([pipeline.Config.Complete]). If the relevance is that of the run, nu is the run's own. Otherwise it is estimated from the
// heads of the model on the device that open opens and EstimateRelevance closes: so a folder that holds only a model will do.
// [pipeline.RelevanceAuto] is then ridge. The error for a folder without a model wraps [fs.ErrNotExist].
func EstimateRelevance(dir string, cfg pipeline.Config, open func() (backend.Device, error)) (*Estimate, error) {
	if cfg.Relevance.Kind == pipeline.RelevanceAuto {
		cfg.Relevance = pipeline.Relevance{Kind: pipeline.Ridge, Rcond: -1, Tau: 1}
	}
	cfg = cfg.Canonical()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	run, err := ReadRun(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return estimateBy(ReadModel, dir, &cfg, &pipeline.Epoch{}, open)
	case err != nil:
		return nil, err
	}
	method, own := run.Identity.Config.Methods[0], run.Identity.Config.Relevance
	var round *pipeline.Epoch
	for i := range run.Epochs {
		if run.Epochs[i].Method == method {
			round = &run.Epochs[i]
		}
	}
	switch {
	case round == nil:
		return nil, fmt.Errorf("%s: epochs.jsonl: expected an epoch of method %s, found none", dir, method)
	case cfg.Relevance == own:
		e := &Estimate{Target: run.Result.Target, Method: method, Rank: round.NuRank}
		return e.share(&cfg, run.Sources, round), nil
	case cfg.Relevance.Kind == pipeline.Transfer:
		return nil, fmt.Errorf("%w, found %s", ErrTransfer, own.Kind)
	}
	read := func(dir string) (*pipeline.Model, error) {
		model, err := ReadMethodModel(dir, method)
		if err == nil && !slices.Equal(model.Sources, run.Sources) {
			err = fmt.Errorf("%s: the model of method %s: expected the %d sources of the run, found others", dir, method, len(run.Sources))
		}
		return model, err
	}
	return estimateBy(read, dir, &cfg, round, open)
}

// estimateBy estimates nu from the heads of the model that read returns, and the shares as if that nu had been the relevance of round.
func estimateBy(read func(dir string) (*pipeline.Model, error), dir string, cfg *pipeline.Config, round *pipeline.Epoch,
	open func() (backend.Device, error)) (*Estimate, error) {
	model, err := read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, text.Mark(fmt.Errorf("%s has no %s: expected the folder of a finished run", dir, modelFile), fs.ErrNotExist)
	case err != nil:
		return nil, err
	case !slices.ContainsFunc(model.Heads, func(v float32) bool { return v != 0 }):
		return nil, fmt.Errorf("%s: expected the heads of sources, found the model of method %s, which has none", dir, model.Method)
	}
	if open == nil {
		return nil, errors.New("estimate: expected a function that opens a device, found nil")
	}
	device, err := open()
	if err != nil {
		return nil, err
	}
	defer device.Close()
	q, err := device.NewQueue()
	if err != nil {
		return nil, err
	}
	defer q.Close()
	nu, rank, err := model.Relevance(q, cfg.Relevance)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	e := &Estimate{Target: model.Target, Method: model.Method, Rank: rank}
	return e.share(cfg, model.Sources, &pipeline.Epoch{Nu: nu, Own: round.Own, Match: round.Match, MatchByChance: round.MatchByChance}), nil
}

// share fills in the relevance and the share of each source after round and returns e.
func (e *Estimate) share(cfg *pipeline.Config, names []string, round *pipeline.Epoch) *Estimate {
	e.Relevance = cfg.Relevance
	costs := make([]float64, len(names))
	for i, name := range names {
		costs[i] = cfg.Cost(name)
	}
	e.Allocation = cfg.Allocation.For(costs)
	for i, share := range e.Allocation.SharesAfter(round, costs) {
		e.Sources = append(e.Sources, SourceShare{names[i], round.Nu[i], share})
	}
	slices.SortStableFunc(e.Sources, func(a, b SourceShare) int { return cmp.Compare(math.Abs(b.Nu), math.Abs(a.Nu)) })
	return e
}
