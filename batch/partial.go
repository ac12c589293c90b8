package batch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// PartialSweep returns a sweep of the units that have results. While results are missing or damaged, it leaves out the target, seed or
// budget of whose units the largest share has none: a target rather than a seed, and a seed rather than a budget. The error is an
// [*Unfinished] if this leaves nothing.
func (r *Run) PartialSweep() (*Sweep, error) {
	f, err := r.found()
	if err != nil {
		return nil, err
	}
	s := &Sweep{Identity: r.Plan.Identity, found: f}
	id := &s.Identity
	var targets, seeds, budgets []string
	for {
		var missing []Unit
		units := id.Units()
		for _, u := range units {
			if _, there := f.of[u]; !there {
				missing = append(missing, u)
			}
		}
		if len(missing) == 0 {
			break
		}
		target, ofTarget := mostMissing(id.Targets, missing, func(u Unit) string { return u.Target })
		seed, ofSeed := mostMissing(id.Seeds, missing, func(u Unit) uint64 { return u.Seed })
		budget, ofBudget := mostMissing(id.Budgets, missing, func(u Unit) float64 { return u.Budget })
		switch {
		case max(ofTarget, ofSeed, ofBudget) == 0:
			some := slices.Concat(f.missing, f.damaged)
			slices.Sort(some)
			return nil, &Unfinished{some, len(r.Tasks)}
		case ofTarget >= max(ofSeed, ofBudget):
			targets, id.Targets = append(targets, text.OneLine(target, 60)), without(id.Targets, target)
		case ofSeed >= ofBudget:
			seeds, id.Seeds = append(seeds, fmt.Sprint(seed)), without(id.Seeds, seed)
		default:
			budgets, id.Budgets = append(budgets, text.Number(budget)), without(id.Budgets, budget)
			id.Config.Schedule.Budget = id.Budgets[0]
		}
	}
	var left []string
	for _, of := range []struct {
		what  string
		names []string
	}{{"target", targets}, {"seed", seeds}, {"budget", budgets}} {
		if len(of.names) > 0 {
			left = append(left, text.Form(len(of.names), of.what, of.what+"s")+" "+text.List(of.names, 5))
		}
	}
	s.Left = strings.Join(left, ", and ")
	return s, nil
}

// mostMissing returns the value that most of the missing units have, the first of these, and the number of these units times that of
// values, since equally many units have each value. The last value cannot be left out, and gets 0.
func mostMissing[V comparable](values []V, missing []Unit, of func(Unit) V) (worst V, most int) {
	if len(values) < 2 {
		return worst, 0
	}
	counts := map[V]int{}
	for _, u := range missing {
		counts[of(u)]++
	}
	for _, v := range values {
		if n := counts[v] * len(values); n > most {
			worst, most = v, n
		}
	}
	return worst, most
}

func without[V comparable](values []V, v V) []V {
	return slices.DeleteFunc(slices.Clone(values), func(w V) bool { return w == v })
}
