package pipeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The rules that turn a relevance into sampling weights.
const (
	RuleSquared = "squared"
	RulePriced  = "priced"
	RuleL1      = "l1"
	// RuleAuto is RulePriced where the costs of the sources differ, else RuleSquared.
	RuleAuto = "auto"
)

// Rules returns the values that Allocation.Rule can have.
func Rules() []string { return []string{RuleSquared, RulePriced, RuleL1, RuleAuto} }

// Allocation holds the settings that turn nu into a number of samples for each source.
type Allocation struct {
	// Rule is one of
	//
	//	squared  n_m proportional to nu_m^2 (Alg. 1 and Alg. 2, line 4), whatever a sample of source m costs
	//	priced   n_m proportional to nu_m^2 / sqrt(c_m) for a cost of c_m: with weights a_m = nu_m^4 the minimiser of
	//	         sum a_m/n_m at a budget sum c_m n_m, as in stratified sampling (Cochran 1977, section 5.5);
	//	         the same as squared where all costs are equal
	//	l1       n_m proportional to |nu_m| / sqrt(c_m), which for a given nu and budget minimises the bound
	//	         sum nu_m^2/n_m of the paper's analysis (Wang, Chen, Jamieson and Du, ICML 2023)
	//	auto     priced where costs differ, else squared
	Rule string `json:"rule"`
	// Mix is the fraction of each epoch's budget that is spread uniformly: with Mix > 0 every source gets at least Mix
	// times what the uniform allocation of the same budget would draw from it. MixAuto takes Epoch.Own as the fraction
	// and spreads it by Epoch.Match instead of uniformly. Of both parts of the budget, the one by nu and the one by the
	// match, it spreads evenly what chance alone would give: under RulePriced as for equal nu, else uniformly.
	Mix float64 `json:"mix"`
}

// MixAuto derives the fraction from the round before: it explores with the part of the target that the sources' heads
// leave unexplained, and spreads evenly what nu would have by chance.
const MixAuto = -1

func (a Allocation) validate() error {
	if !slices.Contains(Rules(), a.Rule) {
		return fmt.Errorf("unknown allocation rule %q: expected %s", a.Rule, strings.Join(Rules(), ", "))
	}
	if a.Mix != MixAuto && !(a.Mix >= 0 && a.Mix <= 1) {
		return fmt.Errorf("allocation: mix is %g, expected a number from 0 to 1, or auto for what the sources do not explain", a.Mix)
	}
	return nil
}

// For returns the allocation with RuleAuto replaced: by RulePriced where the costs of the sources differ, else by
// RuleSquared.
func (a Allocation) For(costs []float64) Allocation {
	if a.Rule == RuleAuto {
		if a.Rule = RuleSquared; len(costs) > 0 && slices.Min(costs) != slices.Max(costs) {
			a.Rule = RulePriced
		}
	}
	return a
}

// rates returns how many samples of each source a unit of budget buys: rates r
// with sum c_m r_m = 1. A zero relevance gives the even ones.
func (a Allocation) rates(nu, costs []float64) []float64 {
	a = a.For(costs)
	weights := make([]float64, len(nu))
	largest := 0.0
	for _, v := range nu {
		largest = math.Max(largest, math.Abs(v))
	}
	if largest == 0 {
		return a.even(costs)
	}
	total, least := 0.0, slices.Min(costs)
	for m, v := range nu {
		v = math.Abs(v) / largest
		switch weights[m] = v * v; a.Rule {
		case RulePriced: // costs over the least, so that equal costs give exactly the rates of RuleSquared
			weights[m] /= math.Sqrt(costs[m] / least)
		case RuleL1:
			weights[m] = v / math.Sqrt(costs[m])
		}
		total += weights[m] * costs[m]
	}
	mix, uniform := max(0, a.Mix), uniformRates(costs)
	for m := range weights {
		weights[m] = (1-mix)*weights[m]/total + mix*uniform[m]
	}
	return weights
}

// after returns the rates of the epoch that follows e.
func (a Allocation) after(e *Epoch, costs []float64) []float64 {
	rates := a.rates(e.Nu, costs)
	if a.Mix != MixAuto {
		return rates
	}
	own, nuEven, matchEven := e.mixture()
	even := a.even(costs)
	match := even
	if own > 0 {
		match = matchRates(e.Match, costs)
	}
	for m, v := range match {
		rates[m] = (1-nuEven)*rates[m] + nuEven*even[m]
		rates[m] = (1-own)*rates[m] + own*((1-matchEven)*v+matchEven*even[m])
	}
	return rates
}

// mixture returns the fractions that MixAuto mixes by: own of the budget goes by the match and the rest by nu. Of the
// rest nuEven, and of own matchEven, is spread evenly instead, as much as chance gives of nu and of the match; all of it
// where nu or the match is 0.
func (e *Epoch) mixture() (own, nuEven, matchEven float64) {
	if e.Match != nil {
		if own, matchEven = e.Own, e.MatchByChance; floats.Sum(e.Match) == 0 {
			matchEven = 1
		}
	}
	square := linalg.Dot(e.Nu, e.Nu)
	if square == 0 {
		return own, 1, matchEven
	}
	return own, math.Min(1, e.NuByChance/square), matchEven
}

// SharesAfter returns the fraction of the next epoch's budget that each source gets after the epoch e.
func (a Allocation) SharesAfter(e *Epoch, costs []float64) []float64 {
	shares := a.after(e, costs)
	for m, c := range costs {
		shares[m] *= c
	}
	return shares
}

// even returns the rates where nothing tells the sources apart, as before the first round: those of equal relevance by
// RulePriced, which buy fewer samples where these are dearer, and else the uniform ones. The same number from each source
// would leave most of the budget to a few dear ones.
func (a Allocation) even(costs []float64) []float64 {
	if a = a.For(costs); a.Rule != RulePriced {
		return uniformRates(costs)
	}
	return Allocation{Rule: a.Rule}.rates(slices.Repeat([]float64{1}, len(costs)), costs)
}

// uniformRates returns the rates that buy the same number of samples from every source.
func uniformRates(costs []float64) []float64 {
	total := 0.0
	for _, c := range costs {
		total += c
	}
	return slices.Repeat([]float64{1 / total}, len(costs))
}

// raise returns the allocation of Alg. 2, line 4, with samples of earlier epochs kept:
// n_m = max(ceil(rate_m cost), floor, have_m), at most limit_m.
func raise(rates []float64, cost, floor float64, have, limit []int) []int {
	n := make([]int, len(rates))
	for m, r := range rates {
		want := math.Max(math.Ceil(r*cost-1e-9), floor)
		n[m] = max(int(math.Min(want, float64(limit[m]))), have[m])
	}
	return n
}

// spendSlack is the fraction of a cost by which spend may exceed it, for rounding errors.
const spendSlack = 1e-9

// spend returns the numbers of samples that a total cost buys: x_m = max(level rate_m, floor, have_m), at most limit_m,
// with the one level at which sum c_m x_m is the cost. Each x_m is rounded down. What is left of the cost buys one more
// sample from each of the sources with the largest remainders, as far as it goes.
func spend(rates, costs []float64, cost float64, floor int, have, limit []int) []int {
	x := make([]float64, len(rates))
	fill := func(level float64) float64 {
		total := 0.0
		for m, r := range rates {
			least := max(min(floor, limit[m]), have[m])
			x[m] = math.Max(math.Min(level*r, float64(limit[m])), float64(least))
			total += costs[m] * x[m]
		}
		return total
	}
	lo, hi := 0.0, cost
	for fill(hi) < cost && hi < cost*0x1p60 {
		lo, hi = hi, 2*hi
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if fill(mid) <= cost {
			lo = mid
		} else {
			hi = mid
		}
	}
	fill(lo)
	n, left := make([]int, len(rates)), cost
	var order []int
	for m := range x {
		n[m] = int(x[m])
		left -= costs[m] * float64(n[m])
		if n[m] < limit[m] && x[m] > float64(n[m]) {
			order = append(order, m)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[b]-float64(n[b]), x[a]-float64(n[a])) })
	for _, m := range order {
		if costs[m] <= left+spendSlack*cost {
			n[m]++
			left -= costs[m]
		}
	}
	return n
}
