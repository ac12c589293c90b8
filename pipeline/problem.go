package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Problem is one target of a data set under a configuration: its sources, the cost of a sample of each, the order in
// which their rows are drawn, and the plan of each round. It needs the data alone, no device. It never changes, so that
// any number of goroutines can use it.
type Problem struct {
	// Set is the data set. Where sources are pools that have classes of one of the target's columns of which the target
	// has no labels, Set has tasks of the target for these classes, after all others.
	Set    *dataset.Set
	Config Config
	// Target is the target, Sources are the M sources in the order of the set, and Costs is the cost of one sample of
	// each source: a row with all its labels.
	Target  Source
	Sources []Source
	Costs   []float64

	draws draws
	// In the copy of the problem that a Learner has, means holds the centre of each pool, nil for CentringGlobal, apart says that the pools
	// lie apart, and centres is what is subtracted from the rows of each pool: means, or nil.
	means, centres [][]float32
	apart          bool
	phi            *phiRows // in the place of the features, nil for these; see [Learner.pooledOnPhi]
	plans          []EpochPlan
	// columns holds for each output of the sources, and then for each output of the target, the index of its column
	// among all columns of labels.
	columns []int
}

// NewProblem returns the problem of a target, an index into cfg.SourcesIn(set), under cfg, which it completes and makes
// canonical, and checks that the data can serve it. set must be valid ([dataset.Set.Validate]) and must not change
// afterwards. NewProblem checks its shape and row numbers itself, and takes its elements and labels for granted.
func NewProblem(set *dataset.Set, cfg Config, target int) (*Problem, error) {
	if err := set.CheckShape(); err != nil {
		return nil, err
	}
	if err := checkRows(set); err != nil {
		return nil, err
	}
	cfg = cfg.Complete(set).Canonical()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	all := cfg.SourcesIn(set)
	if err := checkSources(set, all); err != nil {
		return nil, err
	}
	if target < 0 || target >= len(all) {
		return nil, fmt.Errorf("%s: expected a target from 0 to %d, found %d", set.Title(), len(all)-1, target)
	}
	p := &Problem{Set: set, Config: cfg, Target: all[target], Sources: cfg.SourcesFor(set, target)}
	name := p.TargetName()
	if targets := cfg.TargetsIn(set); !slices.Contains(targets, name) {
		return nil, fmt.Errorf("%w; %s is a source alone", set.NoSuch("target", name, targets), name)
	}
	if n := len(set.Pools) - 1; len(p.Sources) == 0 && cfg.Sources == SourcesPools && n > 0 {
		return nil, fmt.Errorf("%s: expected a labelled row of some source beside the target %s, found none of %s: have some labelled, which "+
			"amtrl study does", set.Title(), name, text.Several(n, "source"))
	}
	if len(p.Sources) == 0 {
		kind := "task"
		if cfg.Sources == SourcesPools {
			kind = "pool"
		}
		return nil, fmt.Errorf("%s has one %s, %s: expected at least one source beside the target", set.Title(), kind, name)
	}
	p.draws = newDraws(set, p.Target, p.Sources, cfg.TargetSamples, cfg.Seed)
	if have := len(p.draws.target); have < cfg.TargetSamples {
		return nil, fmt.Errorf("target %s has %s to draw from, expected at least the %s", name, text.Several(have, "row"),
			text.Several(cfg.TargetSamples, "target sample"))
	}
	if err := p.checkGroups(); err != nil {
		return nil, err
	}
	if cfg.Centring == CentringSource && set.Model != nil {
		return nil, fmt.Errorf("centring %s: expected %s, since the data come from a model, whose sources do not lie apart", CentringSource,
			CentringGlobal)
	}
	if set.Model == nil && len(p.draws.test) == 0 && !cfg.leavesOneOut() {
		return nil, fmt.Errorf("target %s has no test rows: expected some, fewer target samples, or prior %s for the leave-one-out error",
			name, PriorResidual)
	}
	p.Target.Tasks = byColumn(p.Set, p.Target)
	p.addUnseen()
	p.columns = columnsOf(p.Set, append(slices.Clone(p.Sources), p.Target))
	if slices.Contains(cfg.Methods, Pooled) && cfg.Sources != SourcesPools {
		return nil, fmt.Errorf("method %s needs sources %s, whose outputs can be those of the target", Pooled, SourcesPools)
	}
	for _, method := range cfg.Methods {
		if err := cfg.checkBeside(method, set); err != nil {
			return nil, err
		}
	}
	if cfg.Representation == ClassConv {
		if err := cfg.Conv.check(set, cfg.K); err != nil {
			return nil, err
		}
	}
	p.Costs = cfg.CostsOf(p.Sources)
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	if slices.Contains(cfg.Methods, Known) {
		nu, err := p.trueNu()
		if err != nil {
			return nil, err
		}
		if linalg.Nonzero(nu) == 0 {
			return nil, fmt.Errorf("method %s: the true relevance of every source of %s is 0, expected some that are not", Known, name)
		}
	}
	p.plans = cfg.Schedule.Plan(p.Costs, cfg.K, set.Pools[0].Cols)
	if err := p.checkReach(); err != nil {
		return nil, err
	}
	return p, p.checkBatch()
}

// columnsOf returns for each output of sources the index of its column; columns are numbered in the order in which they
// first occur.
func columnsOf(set *dataset.Set, sources []Source) []int {
	var columns []int
	places := map[string]int{}
	for _, s := range sources {
		for _, t := range s.Tasks {
			name := set.Tasks[t].Output.Name
			if _, known := places[name]; !known {
				places[name] = len(places)
			}
			columns = append(columns, places[name])
		}
	}
	return columns
}

// outputs returns the number of outputs of all sources together.
func (p *Problem) outputs() int { return len(p.columns) - len(p.Target.Tasks) }

// targetColumns returns the column of each output of the target.
func (p *Problem) targetColumns() []int { return p.columns[p.outputs():] }

// labelUnits returns the number of columns of labels, or 0 without intercepts, where labels have no units.
func (p *Problem) labelUnits() int {
	if !p.Config.Intercept {
		return 0
	}
	return slices.Max(p.columns) + 1
}

// TargetName returns the name of the target.
func (p *Problem) TargetName() string { return p.Target.Name }

// SourceNames returns the names of the sources, in the order of Sources.
func (p *Problem) SourceNames() []string {
	names := make([]string, len(p.Sources))
	for i, s := range p.Sources {
		names[i] = s.Name
	}
	return names
}

// OutputNames returns the names of the tasks of each source, in the order of Sources, and last those of the target.
func (p *Problem) OutputNames() [][]string {
	var names [][]string
	for _, s := range append(slices.Clone(p.Sources), p.Target) {
		var of []string
		for _, t := range s.Tasks {
			of = append(of, p.Set.Tasks[t].Name)
		}
		names = append(names, of)
	}
	return names
}

// checkNames returns an error if a cost or a relevance is given for a source that the set does not have.
func (p *Problem) checkNames() error {
	for _, m := range []map[string]float64{p.Config.Costs, p.Config.Nu} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if _, err := p.Config.FindSource(p.Set, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkReach returns an error if the floor alone asks for more samples than a source has, as it does with the theorem's
// own constants, or costs more than the budget, or if the target's samples and test rows leave no row to the sources of
// its pool.
func (p *Problem) checkReach() error {
	last, schedule := p.plans[len(p.plans)-1], p.Config.Schedule
	least := 0.0
	for _, c := range p.Costs {
		least += c * last.Floor
	}
	if schedule.Kind == ScheduleBudget && least > schedule.Budget {
		return fmt.Errorf("the floor of %s of each of %s costs %g: expected at most the budget, %g",
			text.Several(schedule.Floor, "sample"), text.Several(len(p.Sources), "source"), least, schedule.Budget)
	}
	there, apart := p.Available(), p.Target.keepsApart(p.Set)
	shares := slices.ContainsFunc(p.Sources, func(s Source) bool { return s.Pool == p.Target.Pool })
	if apart && shares && sumInts(there) == 0 {
		return fmt.Errorf("target %s has no test rows of its own: its %s and %s for tests leave sources of its pool no row, "+
			"expected fewer samples", p.TargetName(), text.Several(len(p.draws.target), "sample"), text.Several(len(p.draws.test), "row"))
	}
	for i, limit := range there {
		if limit == 0 && apart && p.Sources[i].Pool == p.Target.Pool {
			continue // the target has all its rows for itself
		}
		if last.Floor > float64(limit) {
			return fmt.Errorf("schedule %s asks for at least %.3g samples of every source by epoch %d, but %s has %s to draw from",
				schedule.Kind, last.Floor, last.Epoch, p.Sources[i].Name, text.Several(limit, "row"))
		}
	}
	return nil
}

// checkBatch returns an error if the batch of a network is larger than the training set in the first round of a method;
// later rounds have more rows.
func (p *Problem) checkBatch() error {
	if p.Config.Representation != ClassConv {
		return nil
	}
	for _, method := range slices.DeleteFunc(slices.Clone(p.Config.Methods), fitsRows) {
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

// trueNu returns the true relevance of each source, from the configuration or else from the model of the data. It is an
// error if neither has it.
func (p *Problem) trueNu() ([]float64, error) {
	if len(p.Config.Nu) > 0 {
		nu := make([]float64, len(p.Sources))
		for i, name := range p.SourceNames() {
			nu[i] = p.Config.Nu[name]
		}
		return nu, nil
	}
	if p.Set.Model == nil {
		return nil, fmt.Errorf("method %s needs the true relevance: %s has no model that tells it, expected nu of the sources", Known,
			p.Set.Title())
	}
	var tasks []int
	for _, s := range p.Sources {
		tasks = append(tasks, s.Tasks...)
	}
	var nu [][]float64
	for _, t := range p.Target.Tasks {
		v, err := p.Set.Model.Nu(t, tasks)
		if err != nil {
			return nil, err
		}
		nu = append(nu, v)
	}
	return blockNorms(nu, outputsOf(p.Sources)), nil
}
