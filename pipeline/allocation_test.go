package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

func randomCosts(rng *rand.Rand, m int) []float64 {
	c := make([]float64, m)
	for i := range c {
		c[i] = math.Exp(rng.NormFloat64())
	}
	return c
}

func TestRatesSpendOneUnit(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		m := 1 + rng.IntN(40)
		costs, nu := randomCosts(rng, m), normals(rng, m)
		mix := rng.Float64()
		for _, rule := range Rules() {
			rates := Allocation{Rule: rule, Mix: mix}.rates(nu, costs)
			uniform, total := uniformRates(costs), 0.0
			for i, r := range rates {
				total += r * costs[i]
				if r < mix*uniform[i]*(1-1e-12) {
					t.Fatalf("%s: rate %d is %g, below mix %g of uniform %g", rule, i, r, mix, uniform[i])
				}
			}
			if !near(total, 1, 1e-12) {
				t.Fatalf("%s: a unit of budget buys %g", rule, total)
			}
		}
	}
}

func TestRatesFollowTheRule(t *testing.T) {
	nu, costs := []float64{3, -1, 0, 2}, []float64{1, 1, 1, 1}
	sq := Allocation{Rule: RuleSquared}.rates(nu, costs)
	for i, want := range []float64{9. / 14, 1. / 14, 0, 4. / 14} {
		if !near(sq[i], want, 1e-14) {
			t.Errorf("squared: rate %d is %g, want %g", i, sq[i], want)
		}
	}
	// n proportional to |nu|/sqrt(c) under sum c n = 1.
	l1 := Allocation{Rule: RuleL1}.rates([]float64{2, 2}, []float64{1, 4})
	if !near(l1[0], 2./6, 1e-14) || !near(l1[1], 1./6, 1e-14) {
		t.Errorf("l1 with costs 1 and 4: %v, want [1/3 1/6]", l1)
	}
	// n proportional to nu^2/sqrt(c), whatever the unit of the costs.
	for _, unit := range []float64{1, 7, dataset.MinCost} {
		priced := Allocation{Rule: RulePriced}.rates([]float64{1, 2}, []float64{unit, 4 * unit})
		if want := []float64{1. / 9, 2. / 9}; !near(priced[0]*unit, want[0], 1e-14) || !near(priced[1]*unit, want[1], 1e-14) {
			t.Errorf("priced with costs 1 and 4 times %g: %v, want %v", unit, priced, want)
		}
	}
	for _, r := range (Allocation{Rule: RuleSquared}).rates([]float64{0, 0}, []float64{1, 3}) {
		if !near(r, 0.25, 1e-14) {
			t.Errorf("nu = 0 should give uniform, got rate %g", r)
		}
	}
	for _, scale := range []float64{1e-300, 1e300} {
		r := Allocation{Rule: RuleSquared}.rates([]float64{scale, 2 * scale}, []float64{1, 1})
		if !near(r[1], 0.8, 1e-14) {
			t.Errorf("nu scaled by %g: rates %v, want [0.2 0.8]", scale, r)
		}
	}
}

// Where nothing tells the sources apart, priced divides a budget as for equal relevance, so that a source at 400 times the
// cost does not take it all, and the other rules buy the same number from each source.
func TestEvenRates(t *testing.T) {
	costs := []float64{1, 25, 400}
	for _, c := range []struct {
		rule string
		want []float64
	}{
		{RulePriced, []float64{1, 1. / 5, 1. / 20}}, {RuleAuto, []float64{1, 1. / 5, 1. / 20}},
		{RuleSquared, []float64{1, 1, 1}}, {RuleL1, []float64{1, 1, 1}},
	} {
		unit := linalg.Dot(c.want, costs)
		for _, e := range []*Epoch{
			{Nu: []float64{0, 0, 0}},
			{Nu: []float64{1, 2, 0}, NuByChance: 9},
			{Nu: []float64{1, 2, 0}, NuByChance: 9, Own: 0.4, Match: []float64{3, 0, 1}, MatchByChance: 1},
			{Nu: []float64{0, 0, 0}, Own: 1, Match: []float64{0, 0, 0}},
		} {
			for m, share := range (Allocation{Rule: c.rule, Mix: MixAuto}).SharesAfter(e, costs) {
				must.Hold(t, near(share, c.want[m]*costs[m]/unit, 1e-12), "%s after %+v: share %d is %g", c.rule, e, m, share)
			}
		}
	}
}

// Where all costs are the same, auto and priced give the shares of squared, to the bit. Where costs differ, auto gives those of priced.
func TestAutoFollowsTheCosts(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		m := 1 + rng.IntN(20)
		nu, e, mix := normals(rng, m), &Epoch{NuByChance: 0.1, Own: 0.3}, []float64{0, 0.2, MixAuto}[rng.IntN(3)]
		for range m {
			e.Match = append(e.Match, rng.Float64())
		}
		e.Nu = nu
		same := slices.Repeat([]float64{math.Exp(3 * rng.NormFloat64())}, m)
		want := Allocation{RuleSquared, mix}.SharesAfter(e, same)
		for _, rule := range []string{RuleAuto, RulePriced} {
			if got := (Allocation{rule, mix}).SharesAfter(e, same); !slices.Equal(got, want) {
				t.Fatalf("%s at costs of %g: %v, squared %v", rule, same[0], got, want)
			}
		}
		costs := append(randomCosts(rng, m), 0.5)
		e.Nu, e.Match = append(nu, 1), append(e.Match, 1)
		auto, priced := Allocation{RuleAuto, mix}.SharesAfter(e, costs), Allocation{RulePriced, mix}.SharesAfter(e, costs)
		if squared := (Allocation{RuleSquared, mix}).SharesAfter(e, costs); !slices.Equal(auto, priced) || slices.Equal(auto, squared) {
			t.Fatalf("auto at costs %v: %v, priced %v, squared %v", costs, auto, priced, squared)
		}
	}
}

// The priced rule minimises sum nu_m^4/n_m under sum c_m n_m = N, as squared does where costs are the same.
func TestPricedRuleMinimises(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		m := 2 + rng.IntN(20)
		nu, costs := normals(rng, m), randomCosts(rng, m)
		best := Allocation{Rule: RulePriced}.rates(nu, costs)
		sum := func(n []float64) float64 {
			total := 0.0
			for i, v := range nu {
				total += math.Pow(v, 4) / n[i]
			}
			return total
		}
		other, spent := make([]float64, m), 0.0
		for i := range best {
			other[i] = best[i] * math.Exp(0.3*rng.NormFloat64())
			spent += other[i] * costs[i]
		}
		for i := range other {
			other[i] /= spent
		}
		if b, o := sum(best), sum(other); b > o*(1+1e-12) {
			t.Fatalf("%g at the priced allocation, %g at a perturbed one", b, o)
		}
	}
}

// The l1 rule minimises sum nu_m^2/n_m under sum c_m n_m = N.
func TestL1RuleMinimisesTheBound(t *testing.T) {
	rng := testrand.New(t)
	bound := func(nu, n []float64) float64 {
		s := 0.0
		for i := range nu {
			s += nu[i] * nu[i] / n[i]
		}
		return s
	}
	for range 100 {
		m := 2 + rng.IntN(10)
		nu, costs := normals(rng, m), randomCosts(rng, m)
		best := Allocation{Rule: RuleL1}.rates(nu, costs)
		other, total := make([]float64, m), 0.0
		for i := range other {
			other[i] = best[i] * math.Exp(0.3*rng.NormFloat64())
			total += other[i] * costs[i]
		}
		for i := range other {
			other[i] /= total
		}
		if b, o := bound(nu, best), bound(nu, other); b > o*(1+1e-12) {
			t.Fatalf("bound %g at the l1 allocation, %g at a perturbed one", b, o)
		}
	}
}

func TestSpendMeetsTheBudget(t *testing.T) {
	rng := testrand.New(t)
	for range 500 {
		m := 1 + rng.IntN(30)
		costs := ones(m)
		if rng.IntN(2) == 0 {
			costs = randomCosts(rng, m)
		}
		rates := Allocation{Rule: RuleSquared}.rates(normals(rng, m), costs)
		have, limit := make([]int, m), make([]int, m)
		floor, start, reach, dearest := rng.IntN(5), 0.0, 0.0, 0.0
		for i := range have {
			have[i], limit[i] = rng.IntN(20), 20+rng.IntN(200)
			start += costs[i] * float64(max(have[i], floor))
			if rates[i] > 0 {
				reach += costs[i] * float64(limit[i])
			}
			dearest = math.Max(dearest, costs[i])
		}
		cost := rng.Float64() * 2 * reach
		n := spend(rates, costs, cost, floor, have, limit)
		total := 0.0
		for i := range n {
			if n[i] < have[i] || n[i] < floor || n[i] > limit[i] {
				t.Fatalf("source %d has %d samples, outside have %d, floor %d, limit %d", i, n[i], have[i], floor, limit[i])
			}
			total += costs[i] * float64(n[i])
		}
		if total > math.Max(cost, start)*(1+1e-9) {
			t.Fatalf("spent %g of %g (at the start %g)", total, cost, start)
		}
		if cost > start && total < math.Min(cost, reach)-dearest*(1+1e-9) {
			t.Fatalf("spent %g of %g, reachable %g: more than one sample (%g) was left", total, cost, reach, dearest)
		}
	}
}

// Without a floor or a limit in the way, each source gets its share of the budget to within a sample, and the whole budget is spent.
func TestSpendIsProportional(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		m := 2 + rng.IntN(8)
		rates := Allocation{Rule: RuleSquared}.rates(normals(rng, m), ones(m))
		have, limit := make([]int, m), make([]int, m)
		for i := range limit {
			limit[i] = 1 << 30
		}
		budget := float64(1000 + rng.IntN(100_000))
		n := spend(rates, ones(m), budget, 0, have, limit)
		sum := 0
		for i := range n {
			sum += n[i]
			if math.Abs(float64(n[i])-rates[i]*budget) > 1 {
				t.Fatalf("source %d has %d samples, its share of the budget is %g", i, n[i], rates[i]*budget)
			}
		}
		if sum != int(budget) {
			t.Fatalf("spent %d of %g", sum, budget)
		}
	}
}

func TestRaiseIsLineFourOfAlgorithmTwo(t *testing.T) {
	n := raise([]float64{0.5, 0.3, 0.2, 0}, 1000, 250, []int{0, 400, 0, 0}, []int{450, 1000, 1000, 100})
	for i, want := range []int{450, 400, 250, 100} {
		if n[i] != want {
			t.Errorf("source %d: %d samples, want %d", i, n[i], want)
		}
	}
}

// Rates of whole numbers of samples buy these numbers: rounding adds none.
func TestRaiseToWholeNumbers(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		m, total := 2+rng.IntN(20), 0
		want, rates := make([]int, m), make([]float64, m)
		for i := range want {
			want[i] = 1 + rng.IntN(1000)
			total += want[i]
		}
		for i, n := range want {
			rates[i] = float64(n) / float64(total)
		}
		got := raise(rates, float64(total), 0, make([]int, m), slices.Repeat([]int{1 << 30}, m))
		must.EqualSlices(t, got, want, "samples of %d", total)
	}
}
