package report

import (
	"slices"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// spreadEvenly reports whether nothing distinguishes the sources.
func spreadEvenly(sources []runs.SourceResult) bool {
	return len(sources) > 1 && !slices.ContainsFunc(sources, func(s runs.SourceResult) bool { return s.By != pipeline.ByEven })
}

// DueTo returns a sentence on what the shares of some of all sources are due to where that is not their relevance, or
// "". Without it, a table that has both, and the chance of the largest relevances, would contradict itself.
func DueTo(some, all []runs.SourceResult) string {
	if spreadEvenly(all) {
		return "Nothing tells the sources apart yet: the next budget is spread evenly, whatever nu is."
	}
	explored, even := false, false
	for _, s := range some {
		explored, even = explored || s.By == pipeline.ByExploration, even || s.By == pipeline.ByEven
	}
	switch {
	case explored:
		return "Some of these shares are due to exploration, not to nu: to how well what the target's own samples say predicts labels there."
	case even:
		return "Shares have a part that is spread evenly, where nu is no more than chance gives."
	}
	return ""
}
