package runs

import (
	"slices"

	"github.com/amtrl/amtrl/pipeline"
)

// available is the number of rows that each source of a problem can give: those that any of its outputs trains on and
// none is tested on, without the target's samples where the target is a source too.
func available(p *pipeline.Problem) []int {
	out := make([]int, len(p.Sources))
	for i, s := range p.Sources {
		first := p.Set.Tasks[s.Tasks[0]].Train
		out[i] = len(first)
		if slices.ContainsFunc(s.Tasks[1:], func(t int) bool { return !slices.Equal(p.Set.Tasks[t].Train, first) }) {
			marks := make([]bool, p.Set.Pools[s.Pool].Rows)
			for _, t := range s.Tasks {
				for _, r := range p.Set.Tasks[t].Train {
					marks[r] = true
				}
			}
			for _, t := range s.Tasks {
				for _, r := range p.Set.Tasks[t].Test {
					marks[r] = false
				}
			}
			out[i] = 0
			for _, m := range marks {
				if m {
					out[i]++
				}
			}
		}
		if s.Name == p.Target.Name {
			out[i] -= p.Config.TargetSamples
		}
	}
	return out
}
