package pipeline

// The reasons for the largest part of a source's share of a budget, see [Allocation.DueTo].
const (
	ByRelevance   = ""
	ByExploration = "exploration"
	ByEven        = "even"
)

// DueTo returns for each source what most of its share after the epoch e is due to: ByRelevance for nu, ByExploration
// for the match that MixAuto explores by, and ByEven for the part that is spread evenly because nothing beyond chance
// tells the sources apart. With a fixed Mix it is ByRelevance for all.
func (a Allocation) DueTo(e *Epoch, costs []float64) []string {
	out := make([]string, len(e.Nu))
	if a.Mix != MixAuto {
		return out
	}
	own, nuEven, matchEven := e.mixture()
	nu, match, even := a.rates(e.Nu, costs), make([]float64, len(out)), a.even(costs)
	if own > 0 {
		match = matchRates(e.Match, costs)
	}
	for m := range out {
		relevance, explored := (1-own)*(1-nuEven)*nu[m], own*(1-matchEven)*match[m]
		rest := ((1-own)*nuEven + own*matchEven) * even[m]
		switch {
		case explored > relevance && explored >= rest:
			out[m] = ByExploration
		case rest > relevance:
			out[m] = ByEven
		}
	}
	return out
}
