package pipeline

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// DueTo names the cause of the largest part of each share, which with a fixed mix is nu for all sources.
func TestDueTo(t *testing.T) {
	costs := []float64{1, 1, 1}
	for _, c := range []struct {
		e    Epoch
		want []string
	}{
		{Epoch{Nu: []float64{1, 0, 0.1}, Match: []float64{0, 1, 0}, Own: 0.5, MatchByChance: 0.2}, []string{"", ByExploration, ByEven}},
		{Epoch{Nu: []float64{0.2, 0.1, 0}, NuByChance: 1, Match: []float64{1, 2, 3}, Own: 0.4, MatchByChance: 1},
			[]string{ByEven, ByEven, ByEven}},
		{Epoch{Nu: []float64{0, 0, 0}, Match: []float64{0, 0, 0}, Own: 1}, []string{ByEven, ByEven, ByEven}},
		{Epoch{Nu: []float64{1, 2, 0}, Match: []float64{1, 1, 1}}, []string{"", "", ""}},
		{Epoch{Nu: []float64{1, 2, 2}}, []string{"", "", ""}},
	} {
		got := Allocation{Rule: RuleSquared, Mix: MixAuto}.DueTo(&c.e, costs)
		must.Hold(t, slices.Equal(got, c.want), "%+v: due to %q, expected %q", c.e, got, c.want)
		got = Allocation{Rule: RuleSquared, Mix: 0.9}.DueTo(&c.e, costs)
		must.Hold(t, slices.Equal(got, []string{"", "", ""}), "with a fixed mix due to %q", got)
	}
}

// The cause of a share is the largest of its three parts.
func TestDueToTheLargestPart(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		m := 2 + rng.IntN(6)
		costs, nu, match := randomCosts(rng, m), normals(rng, m), make([]float64, m)
		for i := range match {
			match[i] = rng.ExpFloat64()
		}
		e := Epoch{Nu: nu, NuByChance: rng.Float64() * linalg.Dot(nu, nu), Match: match, Own: rng.Float64(), MatchByChance: rng.Float64()}
		even, total := e.NuByChance/linalg.Dot(nu, nu), floats.Sum(match)
		rule := []string{RuleL1, RulePriced}[rng.IntN(2)]
		got := Allocation{Rule: rule, Mix: MixAuto}.DueTo(&e, costs)
		byNu, evenly := Allocation{Rule: rule}.rates(nu, costs), uniformRates(costs)
		if rule == RulePriced {
			evenly = Allocation{Rule: rule}.rates(ones(m), costs)
		}
		for i, due := range got {
			parts := []float64{(1 - e.Own) * (1 - even) * byNu[i], e.Own * (1 - e.MatchByChance) * match[i] / total / costs[i],
				((1-e.Own)*even + e.Own*e.MatchByChance) * evenly[i]}
			must.Equal(t, due, []string{ByRelevance, ByExploration, ByEven}[floats.MaxIdx(parts)], "the cause of parts of %v", parts)
		}
	}
}
