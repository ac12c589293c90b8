package pipeline

import (
	"fmt"
	"slices"
)

// planUnit checks that the data can serve the configuration.
func planUnit(dev *Device, cfg *Config, target int) (*unit, error) {
	set := dev.Set
	u := &unit{dev: dev, cfg: cfg, target: target}
	for i := range set.Tasks {
		if i != target || cfg.IncludeTarget {
			u.sources = append(u.sources, i)
		}
	}
	name := set.Tasks[target].Name
	if len(u.sources) == 0 {
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
	for _, s := range u.sources {
		cost := 1.0
		if c, ok := cfg.Costs[set.Tasks[s].Name]; ok {
			cost = c
		}
		u.costs = append(u.costs, cost)
	}
	if err := u.checkNames(); err != nil {
		return nil, err
	}
	if slices.Contains(cfg.Methods, Known) {
		nu, err := u.trueNu()
		if err != nil {
			return nil, err
		}
		if nonzero(nu) == 0 {
			return nil, fmt.Errorf("method %s: the true relevance of every source of %s is 0, expected some that are not", Known, name)
		}
	}
	u.draws = newDraws(set, target, u.sources, cfg.TargetSamples, cfg.Seed)
	u.plans = cfg.Schedule.Plan(cfg.K, len(u.sources), dev.cols())
	if err := u.checkReach(); err != nil {
		return nil, err
	}
	return u, u.checkBatch()
}

// checkNames refuses costs and relevances of tasks that the set does not have.
func (u *unit) checkNames() error {
	for _, m := range []map[string]float64{u.cfg.Costs, u.cfg.Nu} {
		for _, name := range sortedKeys(m) {
			if _, err := u.dev.Set.TaskIndex(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkReach refuses a schedule whose floor alone is more than the sources
// hold, which is the fate of the theorem's own constants, or more than the
// budget pays for.
func (u *unit) checkReach() error {
	last := u.plans[len(u.plans)-1]
	if u.cfg.Schedule.Kind == ScheduleBudget {
		least := 0.0
		for _, c := range u.costs {
			least += c * last.Floor
		}
		if least > u.cfg.Schedule.Budget {
			return fmt.Errorf("the floor of %g samples of each of %d sources costs %g: expected at most the budget, %g", last.Floor, len(u.sources), least, u.cfg.Schedule.Budget)
		}
	}
	for i, limit := range u.draws.limits() {
		if last.Floor > float64(limit) {
			return fmt.Errorf("schedule %s asks for at least %.3g samples of every source by epoch %d, but %s has %d rows to draw from",
				u.cfg.Schedule.Kind, last.Floor, last.Epoch, u.dev.Set.Tasks[u.sources[i]].Name, limit)
		}
	}
	return nil
}

// checkBatch refuses a batch larger than what the first epoch of a method
// trains on; later epochs have more.
func (u *unit) checkBatch() error {
	if u.cfg.Representation != ClassConv {
		return nil
	}
	for _, method := range u.cfg.Methods {
		counts, err := u.allocate(&state{}, method, 1, nil, make([]int, len(u.sources)))
		if err != nil {
			return err
		}
		train, _ := u.cfg.Conv.split(counts)
		if err := u.cfg.Conv.enough(len(train)); err != nil {
			return fmt.Errorf("epoch 1 of %s: %w", method, err)
		}
	}
	return nil
}

// allocate decides how many samples each source has by the end of the epoch.
func (u *unit) allocate(st *state, method string, e int, last *Epoch, have []int) ([]int, error) {
	plan, limit := u.plans[e-1], u.draws.limits()
	rates := uniformRates(u.costs)
	switch {
	case method == Active:
		if e > 1 {
			rates = u.cfg.Allocation.rates(last.Nu, u.costs)
		}
		cost := plan.Cost
		switch u.cfg.Schedule.Kind {
		case ScheduleBudget:
			return spend(rates, u.costs, cost, u.cfg.Schedule.Floor, have, limit), nil
		case ScheduleTheory:
			// The plan is for ||nu|| = 1; nu_1 is (1/M, ..., 1/M).
			sq := 1 / float64(len(u.sources))
			if e > 1 {
				sq = dot(last.Nu, last.Nu)
			}
			cost *= sq
		}
		return raise(rates, cost, plan.Floor, have, limit), nil
	case method == Known:
		nu, err := u.trueNu()
		if err != nil {
			return nil, err
		}
		rates = Allocation{Rule: u.cfg.Allocation.Rule}.rates(nu, u.costs)
	}
	return spend(rates, u.costs, u.budget(st), u.floor(method), have, limit), nil
}

// budget is what Uniform and Known may spend: as much as the active run did.
func (u *unit) budget(st *state) float64 {
	for i := len(st.Epochs) - 1; i >= 0; i-- {
		if st.Epochs[i].Method == Active {
			return st.Epochs[i].Cost
		}
	}
	return u.plans[len(u.plans)-1].Cost
}

// floor is the least number of samples of a source: the schedule's for Known
// (the lower bound of Alg. 1), none for Uniform.
func (u *unit) floor(method string) int {
	if method == Known {
		return u.cfg.Schedule.Floor
	}
	return 0
}

// trueNu is the relevance that the configuration or the data's model gives.
func (u *unit) trueNu() ([]float64, error) {
	set := u.dev.Set
	if len(u.cfg.Nu) > 0 {
		nu := make([]float64, len(u.sources))
		for i, s := range u.sources {
			nu[i] = u.cfg.Nu[set.Tasks[s].Name]
		}
		return nu, nil
	}
	if set.Model == nil {
		return nil, fmt.Errorf("method %s needs the true relevance: %s has no model, so give nu", Known, set.Name)
	}
	return set.Model.Nu(u.target, u.sources)
}
