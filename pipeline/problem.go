package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// Problem is one target of a data set under a configuration: its sources, what
// a sample of each costs, the order in which their rows are drawn, and what the
// schedule asks of each round. It needs the data alone, no device.
type Problem struct {
	Set    *dataset.Set
	Config Config
	// Target is the target's task in Set.Tasks, Sources are those of the M sources
	// in ascending order, and Costs is what one sample of each source costs.
	Target  int
	Sources []int
	Costs   []float64

	draws draws
	plans []EpochPlan
}

// NewProblem states the problem of a target, which is an index into set.Tasks,
// under cfg, completed and canonical, and checks that the data can serve it. set
// must be valid and stay as it is.
func NewProblem(set *dataset.Set, cfg Config, target int) (*Problem, error) {
	cfg = cfg.Complete(set).Canonical()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Problem{Set: set, Config: cfg, Target: target}
	p.Sources = set.Sources(target)
	if cfg.IncludeTarget {
		p.Sources = append(p.Sources, target)
		slices.Sort(p.Sources)
	}
	name := p.TargetName()
	if len(p.Sources) == 0 {
		return nil, fmt.Errorf("%s has one task, %s: expected at least one source beside the target", set.Name, name)
	}
	if have := len(set.Tasks[target].Train); have < cfg.TargetSamples {
		return nil, fmt.Errorf("target %s has %d rows to draw from, expected at least the %d target samples", name, have, cfg.TargetSamples)
	}
	if set.Model == nil && len(set.Tasks[target].Test) == 0 {
		return nil, fmt.Errorf("target %s has no test rows", name)
	}
	if cfg.Representation == ClassConv {
		if err := cfg.Conv.check(set, cfg.K); err != nil {
			return nil, err
		}
	}
	for _, name := range p.SourceNames() {
		cost, given := cfg.Costs[name]
		if !given {
			cost = 1
		}
		p.Costs = append(p.Costs, cost)
	}
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	if slices.Contains(cfg.Methods, Known) {
		nu, err := p.trueNu()
		if err != nil {
			return nil, err
		}
		if nonzero(nu) == 0 {
			return nil, fmt.Errorf("method %s: the true relevance of every source of %s is 0, expected some that are not", Known, name)
		}
	}
	p.draws = newDraws(set, target, p.Sources, cfg.TargetSamples, cfg.Seed)
	p.plans = cfg.Schedule.Plan(cfg.K, len(p.Sources), set.Pools[0].Cols)
	if err := p.checkReach(); err != nil {
		return nil, err
	}
	return p, p.checkBatch()
}

// TargetName is the name of the target's task.
func (p *Problem) TargetName() string { return p.Set.Tasks[p.Target].Name }

// SourceNames are the names of the sources' tasks, in the order of Sources.
func (p *Problem) SourceNames() []string {
	names := make([]string, len(p.Sources))
	for i, s := range p.Sources {
		names[i] = p.Set.Tasks[s].Name
	}
	return names
}

// checkNames refuses costs and relevances of tasks that the set does not have.
func (p *Problem) checkNames() error {
	for _, m := range []map[string]float64{p.Config.Costs, p.Config.Nu} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if _, err := p.Set.TaskIndex(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkReach refuses a schedule whose floor alone is more than the sources
// hold, which is the fate of the theorem's own constants, or more than the
// budget pays for.
func (p *Problem) checkReach() error {
	last, schedule := p.plans[len(p.plans)-1], p.Config.Schedule
	least := 0.0
	for _, c := range p.Costs {
		least += c * last.Floor
	}
	if schedule.Kind == ScheduleBudget && least > schedule.Budget {
		return fmt.Errorf("the floor of %g samples of each of %d sources costs %g: expected at most the budget, %g", last.Floor,
			len(p.Sources), least, schedule.Budget)
	}
	for i, limit := range p.draws.limits() {
		if last.Floor > float64(limit) {
			return fmt.Errorf("schedule %s asks for at least %.3g samples of every source by epoch %d, but %s has %d rows to draw from",
				schedule.Kind, last.Floor, last.Epoch, p.Set.Tasks[p.Sources[i]].Name, limit)
		}
	}
	return nil
}

// checkBatch refuses a batch larger than what the first round of a method
// trains on; later rounds have more.
func (p *Problem) checkBatch() error {
	if p.Config.Representation != ClassConv {
		return nil
	}
	for _, method := range slices.DeleteFunc(slices.Clone(p.Config.Methods), isBaseline) {
		counts, err := p.allocate(State{}, method, 1)
		if err != nil {
			return err
		}
		train, _ := p.Config.Conv.split(counts)
		if err := p.Config.Conv.enough(len(train)); err != nil {
			return fmt.Errorf("epoch 1 of %s: %w", method, err)
		}
	}
	return nil
}

// trueNu is the relevance that the configuration or the data's model gives.
func (p *Problem) trueNu() ([]float64, error) {
	if len(p.Config.Nu) > 0 {
		nu := make([]float64, len(p.Sources))
		for i, name := range p.SourceNames() {
			nu[i] = p.Config.Nu[name]
		}
		return nu, nil
	}
	if p.Set.Model == nil {
		return nil, fmt.Errorf("method %s needs the true relevance: %s has no model, so give nu", Known, p.Set.Name)
	}
	return p.Set.Model.Nu(p.Target, p.Sources)
}
