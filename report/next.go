package report

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/runs"
)

// worthDrawing is the least fraction of a budget that relevance must give to sources with rows left for one of them to
// be advised.
const worthDrawing = 0.1

// noneLeft is the advice where no source with rows left is worth drawing.
const noneLeft = "Label no more by relevance: no relevant source has rows left"

// nearlyEven bounds the largest share of shares that are about the same, as a multiple of their mean.
const nearlyEven = 1.1

// nextShares divides the next budget over the sources. Those whose rows are all drawn get nothing; the others get it in
// proportion to their shares, as from an allocation, or nothing where their shares sum to less than worthDrawing. drawn
// is what relevance alone would give the sources without rows left.
func nextShares(sources []runs.SourceResult) (next, drawn []float64) {
	next, drawn = make([]float64, len(sources)), make([]float64, len(sources))
	for i, s := range sources {
		if s.AllDrawn {
			drawn[i] = s.Share
		} else {
			next[i] = s.Share
		}
	}
	switch left := floats.Sum(next); {
	case floats.Sum(drawn) == 0:
	case left < worthDrawing:
		clear(next)
	default:
		floats.Scale(1/left, next)
	}
	return next, drawn
}

// largest returns the indices of at most n of the largest shares, in descending order, without those that are 0.
func largest(shares []float64, n int) []int {
	order := falling(len(shares), func(i int) float64 { return shares[i] })
	none := slices.IndexFunc(order, func(i int) bool { return !(shares[i] > 0) })
	if none < 0 {
		none = len(order)
	}
	return order[:min(n, none)]
}

// wanted returns at most n sources with the largest shares.
func wanted(sources []runs.SourceResult, shares []float64, n int) (out []runs.SourceResult) {
	for _, at := range largest(shares, n) {
		out = append(out, sources[at])
	}
	return out
}

// withShares names at most n sources with the largest shares, and these shares.
func withShares(sources []runs.SourceResult, shares []float64, n int) Sentence {
	var out Sentence
	for i, at := range largest(shares, n) {
		if i > 0 {
			out = append(out, plain(", "))
		}
		out = append(out, say(name(sources[at].Source), " (", part(shares[at]), ")")...)
	}
	return out
}
