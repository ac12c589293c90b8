package pipeline

import (
	"cmp"
	"maps"
	"runtime"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// defaultWidth is the width K of the representation where neither the settings nor the data state one.
const defaultWidth = 50

// Complete returns the settings with open ones filled in, so that it is enough to choose a kind:
//
//	K                 where it is 0, the width of the linear model that generated the
//	                  data, and 50 for other data
//	Sources           where it is empty, SourcesPools for data that name their outputs,
//	                  except under preset paper; where they do not choose, SourcesTasks
//	                  becomes empty, which means the same
//	Scaling           where it is ScalingAuto, the scaling that the features of the set call
//	                  for, and where it is empty, ScalingGlobal
//	Centring          where it is CentringAuto, CentringGlobal, for which empty stands, except
//	                  for the linear class with intercepts on pools of data that name their
//	                  outputs
//	Schedule.Epochs   where it is 0, DefaultEpochs
//	Methods           where they are those of preset default and sources are pools, these and
//	                  the baseline Pooled, Trees for tables whose columns, times the columns
//	                  of numbers and classes to predict, 32 at most, are at most 8,192, and
//	                  Kernel for other features of the linear class with intercepts and at
//	                  most 32 columns of labels
//	Schedule.Theory   where it is nil, delta 0.1, r 1 and sigma_min 1
//	Head.Loss         empty for labels that are numbers
//	Costs             for each source without one, the cost that the data state
//	Allocation.Rule   where it is RuleAuto, RulePriced where the costs of the sources of the set
//	                  differ, else RuleSquared
//	Conv              where it is nil, DefaultConv of the preset
//	Relevance.Kind    where it is RelevanceAuto, Transfer for pools and networks, else Ridge
//	Relevance.Tau     where it is 0, 1
//	Relevance.Lambda  where it is 0, 0.3
//
// Constants of kinds that are not chosen are filled in too: Canonical removes them. NewIdentity of package runs does
// both, so a program needs to call neither. Settings that depend on the data stay open where set is nil or
// [dataset.Set.CheckShape] refuses it.
func (c Config) Complete(set *dataset.Set) Config {
	if set.CheckShape() != nil {
		set = nil
	}
	if c.K == 0 {
		c.K = defaultWidth
		if set != nil && set.Model != nil {
			c.K = set.Model.K
		}
	}
	if c.Schedule.Epochs == 0 {
		c.Schedule.Epochs = c.DefaultEpochs()
	}
	if c.Schedule.Theory == nil {
		c.Schedule.Theory = &Theory{Delta: 0.1, R: 1, SigmaMin: 1}
	}
	c.Scaling, c.Centring = cmp.Or(c.Scaling, ScalingGlobal), cmp.Or(c.Centring, CentringGlobal)
	if set != nil {
		if c.Scaling == ScalingAuto {
			c.Scaling, _ = c.scalingFor(set)
		}
		named := c.Preset != PresetPaper && namesOutputs(set)
		switch {
		case named && c.Sources == "":
			c.Sources = SourcesPools
		case !named && c.Sources == SourcesTasks:
			c.Sources = ""
		}
		if c.Sources == SourcesPools && slices.Equal(c.Methods, defaultMethods) {
			c.Methods = append(slices.Clone(defaultMethods), Pooled)
			switch {
			case c.Representation != ClassLinear:
			case hasTable(set) && suitsTrees(set):
				c.Methods = append(c.Methods, Trees)
			case !hasTable(set) && c.Intercept && suitsKernel(set):
				c.Methods = append(c.Methods, Kernel)
			}
		}
		if c.Relevance.Kind == RelevanceAuto {
			if c.Relevance.Kind = Ridge; c.Sources == SourcesPools || c.Representation == ClassConv {
				c.Relevance.Kind = Transfer
			}
		}
		if c.Centring == CentringAuto && !c.canCentre(set) {
			c.Centring = CentringGlobal
		}
		if !set.Binary {
			c.Head.Loss = ""
		}
		all := c.SourcesIn(set)
		c.Costs = completeCosts(c.Costs, set, all)
		c.Allocation = c.Allocation.For(c.CostsOf(slices.DeleteFunc(all, func(s Source) bool { return set.Pools[s.Pool].Target })))
	}
	if c.Conv == nil {
		c.Conv = DefaultConv(c.Preset)
	}
	if c.Relevance.Tau == 0 {
		c.Relevance.Tau = 1
	}
	if c.Relevance.Lambda == 0 {
		c.Relevance.Lambda = 0.3
	}
	return c
}

// DefaultEpochs returns the number of rounds of a schedule that states none: 5 for a budget under preset default with
// the linear class, else 4. Schedule.Epochs does not matter, since it may belong to another schedule.
func (c *Config) DefaultEpochs() int {
	if c.Preset == PresetDefault && c.Schedule.Kind == ScheduleBudget && c.Representation == ClassLinear {
		return 5
	}
	return 4
}

// cloned returns a copy of what p points to, or nil.
func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Canonical returns the settings without the constants that nothing reads: those of kinds of schedule, representation
// and relevance and of methods that are not chosen. Configurations that mean the same are then identical, byte for byte
// as JSON. The result shares no memory with c.
func (c Config) Canonical() Config {
	c.Methods, c.Costs, c.Nu = slices.Clone(c.Methods), maps.Clone(c.Costs), maps.Clone(c.Nu)
	c.Schedule.Theory, c.Conv = cloned(c.Schedule.Theory), cloned(c.Conv)
	if c.Conv != nil {
		c.Conv.Channels = slices.Clone(c.Conv.Channels)
	}
	if c.Schedule.Kind != ScheduleTheory {
		c.Schedule.Theory = nil
	}
	if c.Schedule.Kind != ScheduleBudget {
		c.Schedule.Budget = 0
	}
	if c.Schedule.Kind == ScheduleTheory && !slices.Contains(c.Methods, Known) {
		c.Schedule.Floor = 0 // the theorem has floors of its own
	}
	if c.Representation == ClassConv {
		if c.ERM = (ERM{}); c.Conv != nil && c.Conv.Validation == 0 {
			c.Conv.Patience = DefaultConv(c.Preset).Patience
		}
	} else {
		c.Conv = nil
	}
	if c.Scaling == ScalingGlobal || !c.Intercept {
		c.Scaling = ""
	}
	if c.Centring == CentringGlobal || !c.Intercept {
		c.Centring = ""
	}
	if !slices.Contains(c.Methods, Known) {
		c.Nu = nil
	}
	if c.Allocation.Rule == RuleAuto && c.Schedule.Kind == ScheduleTheory {
		c.Allocation.Rule = RuleSquared // Alg. 2, line 4
	}
	if c.Allocation.Mix == MixAuto && (c.Schedule.Kind == ScheduleTheory || !c.Intercept) {
		c.Allocation.Mix = 0 // nothing says how much to explore
	}
	if c.Head.Prior == PriorResidual && c.Representation == ClassLinear && !c.Intercept {
		c.Head.Prior = PriorSources // the model without intercepts has no delta either
	}
	if c.Head.Loss == LossSquared || c.Head.Prior != PriorResidual {
		c.Head.Loss = ""
	}
	if c.Head.Prior == PriorResidual {
		c.Head.Rcond = -1
	}
	if c.Relevance.Kind != MinNorm {
		c.Relevance.Rcond = -1
	}
	if c.Relevance.Kind != Ridge && c.Relevance.Kind != RelevanceAuto {
		c.Relevance.Tau = 0
	}
	if c.Relevance.Kind != L1 {
		c.Relevance.Lambda = 0
	}
	return c
}

// Showcase is the target of the paper's figures, of MNIST-C.
const Showcase = "glass_blur_2"

// DefaultTarget returns the name of the target to take where none was chosen: the paper's showcase, glass_blur_2 or its
// pool, where the set has it, else the last of those that can be the target, which is the target of the synthetic
// problems. It is empty where there is none. The settings must be complete.
func (c *Config) DefaultTarget(set *dataset.Set) string {
	names := c.TargetsIn(set)
	if len(names) == 0 {
		return ""
	}
	if i, err := set.TaskIndex(Showcase); err == nil {
		for _, s := range c.SourcesIn(set) {
			if slices.Contains(s.Tasks, i) && slices.Contains(names, s.Name) {
				return s.Name
			}
		}
	}
	return names[len(names)-1]
}

// Concurrency returns how many units of a sweep to carry out at a time, and how many threads each may use. jobs and
// threads are the numbers that were asked for, 0 for none: then there is one unit for each processor at a time, and
// several units at a time share the processors evenly. A result of 0 threads means all processors.
func Concurrency(units, jobs, threads int) (int, int) {
	all := runtime.GOMAXPROCS(0)
	jobs = min(cmp.Or(jobs, all), units)
	if threads == 0 && jobs > 1 {
		threads = max(1, all/jobs)
	}
	return jobs, threads
}

// completeCosts returns the given costs and, for sources without one, the costs other than 1 that the data state.
func completeCosts(given map[string]float64, set *dataset.Set, sources []Source) map[string]float64 {
	costs := maps.Clone(given)
	for _, s := range sources {
		cost := set.Pools[s.Pool].Cost
		if _, is := costs[s.Name]; is || cost == 0 || cost == 1 || set.Pools[s.Pool].Target {
			continue
		}
		if costs == nil {
			costs = map[string]float64{}
		}
		costs[s.Name] = cost
	}
	return costs
}

// Cost returns the cost of a row of a source under complete settings, 1 where they state none.
func (c *Config) Cost(source string) float64 {
	if cost, given := c.Costs[source]; given {
		return cost
	}
	return 1
}

// CostsOf returns the Cost of each of the sources.
func (c *Config) CostsOf(sources []Source) []float64 {
	costs := make([]float64, len(sources))
	for i, s := range sources {
		costs[i] = c.Cost(s.Name)
	}
	return costs
}
