package pipeline

import (
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// alike returns the round with the numbers of sources that are unlike those of the others (see [dataset.UnlikeSources]) brought to
// the usual mean and spread, which are medians over the sources and the target, whose own labels stay.
func (p *Problem) alike(in Round) Round {
	if p.Set.Binary || !p.Config.Intercept || p.Config.Sources != SourcesPools {
		return in
	}
	sources, labelled := append(slices.Clone(p.Sources), p.Target), append(slices.Clone(in.Sources), in.Target)
	for column := range p.labelUnits() {
		var of [][2]int // source and output
		var numbers [][]float64
		at := 0
		for m, l := range labelled {
			for c := range sources[m].Tasks {
				if at++; p.columns[at-1] == column {
					of, numbers = append(of, [2]int{m, c}), append(numbers, widened(l.column(c, len(sources[m].Tasks))))
				}
			}
		}
		for _, u := range dataset.UnlikeSources(numbers) {
			m, output := of[u.Source][0], of[u.Source][1]
			if m == len(in.Sources) {
				continue
			}
			l := labelled[m]
			y := slices.Clone(l.Y)
			for i := output; i < len(y); i += len(sources[m].Tasks) {
				y[i] = float32(u.Of(float64(y[i])))
			}
			labelled[m] = Labelled{l.Rows, y}
		}
	}
	in.Sources = labelled[:len(in.Sources)]
	return in
}
