package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	// Numbers of a source are learned in units of their own where their standard deviation is over largeSpread times that of
	// the typical source, or less than smallSpread times, and the logarithm of the factor is also over farSpread times the
	// median of its magnitude over all sources. Of a source in the same unit that is only somewhat smaller, noise would become
	// larger.
	largeSpread, smallSpread = 5, 0.05
	farSpread                = 5
	// leastUnlike is the least number of labels whose spread counts, and leastAlike the least number of sources that show what
	// is typical.
	leastUnlike, leastAlike = 10, 4
)

// alike returns the round with the numbers of sources that spread largeSpread times as much as those of the typical source, or
// smallSpread times, brought to its mean and spread: those in a larger unit, or with a label that is wrong by a large factor,
// would make up most of the squared errors that all sources share, and those in a smaller one would have no head. The typical
// mean and spread of a column are medians over the sources and the target, whose own labels stay.
func (p *Problem) alike(in Round) Round {
	if p.Set.Binary || !p.Config.Intercept || p.Config.Sources != SourcesPools {
		return in
	}
	sources, labelled := append(slices.Clone(p.Sources), p.Target), append(slices.Clone(in.Sources), in.Target)
	for column := range p.labelUnits() {
		var found []numbersOf
		var means, spreads []float64
		at := 0
		for m, l := range labelled {
			for c := range sources[m].Tasks {
				if at++; p.columns[at-1] != column {
					continue
				}
				y := widened(l.column(c, len(sources[m].Tasks)))
				if mean, variance := stat.PopMeanVariance(y, nil); len(y) >= leastUnlike && variance > 0 {
					found = append(found, numbersOf{m, c, mean, math.Sqrt(variance)})
					means, spreads = append(means, mean), append(spreads, math.Sqrt(variance))
				}
			}
		}
		if len(found) < leastAlike {
			continue
		}
		slices.Sort(means)
		slices.Sort(spreads)
		mean, spread := stat.Quantile(0.5, stat.Empirical, means, nil), stat.Quantile(0.5, stat.Empirical, spreads, nil)
		var apart []float64
		for _, s := range spreads {
			apart = append(apart, math.Abs(math.Log(s/spread)))
		}
		slices.Sort(apart)
		far := math.Exp(farSpread * apart[len(apart)/2])
		for _, of := range found {
			if r := of.spread / spread; of.source < len(in.Sources) && (r > max(far, largeSpread) || r < min(1/far, smallSpread)) {
				l, outputs := labelled[of.source], len(sources[of.source].Tasks)
				y := slices.Clone(l.Y)
				for i := of.output; i < len(y); i += outputs {
					y[i] = float32(mean + (float64(y[i])-of.mean)/r)
				}
				labelled[of.source] = Labelled{l.Rows, y}
			}
		}
	}
	in.Sources = labelled[:len(in.Sources)]
	return in
}

// numbersOf holds the mean and the spread of the labels of one output of a source.
type numbersOf struct {
	source, output int
	mean, spread   float64
}
