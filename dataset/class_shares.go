package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// The share of a class among the labels of a source is odd where its logit lies at least log(sharesApart) from that of every other source
// that is not odd, and so far from their mean that a t-test of one more source of their normal distribution finds it with a probability of
// sharesChance at most, over all sources and classes of the column. As many as one source in sharesOften may be odd: the furthest from the
// median are, if the nearest of them passes the test beside all others. The standard deviation of the others counts as no less than that of
// their labels, as drawn at random. Sources with fewer than sharesLeast labels, or all in one class, are not looked at, and neither are
// classes that half of the sources lack.
const (
	sharesApart  = 3
	sharesChance = 1e-3
	sharesOften  = 4
	sharesLeast  = 20
	shareSources = 5 // the least number of sources
	shareLines   = 3 // the largest number of sources that are listed, the furthest first
)

// oddShare is a source whose share of a class lies far from those of all others.
type oddShare struct {
	source, word int
	share, rows  float64
	// low and high are the least and the largest share in the others, of which there are so many, and far is the distance from their mean in
	// standard deviations.
	low, high, far float64
	others         int
	opposite       bool // whether there are two classes
}

// classShare is the share of a class in a source: the logit, and its variance if the labels are drawn at random.
type classShare struct {
	source                int
	share, rows           float64
	logit, variance, away float64
}

func newClassShare(source, count, rows int) classShare {
	k, rest := float64(count)+0.5, float64(rows-count)+0.5
	return classShare{source: source, share: float64(count) / float64(rows), rows: float64(rows), logit: math.Log(k / rest),
		variance: 1/k + 1/rest}
}

// oddShares returns, for each source with an odd share of a class, the class of which it lies the furthest from the others. Of two classes
// it looks at the one that fewer labels have. Sources with classes of their own are left out.
func (c *columnWords) oddShares() (out []oddShare) {
	var looked []int
	all, strange := make([]int, len(c.words)), make([]bool, len(c.of))
	by := make([][]classShare, len(c.words)) // of the sources that have the class, by their places in looked
	var none []classShare                    // what a class without a label would have, by place in looked
	strangers, _ := c.strangers()
	for _, i := range strangers {
		strange[i] = true
	}
	for i, of := range c.of {
		rows := rowsOf(of)
		if rows < sharesLeast || len(of) < 2 || strange[i] {
			continue
		}
		for _, w := range of {
			by[w.word] = append(by[w.word], newClassShare(len(looked), w.rows, rows))
			all[w.word] += w.rows
		}
		looked, none = append(looked, i), append(none, newClassShare(i, 0, rows))
	}
	var classes []int
	for w, rows := range all {
		if rows > 0 {
			classes = append(classes, w)
		}
	}
	if len(looked) < shareSources || len(classes) < 2 {
		return nil
	}
	if len(classes) == 2 {
		slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
		classes = classes[:1]
	}
	found := map[int]oddShare{}
	for _, w := range classes {
		if 2*len(by[w]) <= len(looked) {
			continue
		}
		shares := slices.Clone(none)
		for _, share := range by[w] {
			at := share.source
			share.source = looked[at]
			shares[at] = share
		}
		for _, odd := range unlikeOthers(shares, len(looked)*len(classes)) {
			if odd.word, odd.opposite = w, len(classes) == 1; odd.far > found[odd.source].far {
				found[odd.source] = odd
			}
		}
	}
	for _, odd := range found {
		out = append(out, odd)
	}
	slices.SortFunc(out, func(a, b oddShare) int { return cmp.Or(cmp.Compare(b.far, a.far), cmp.Compare(a.source, b.source)) })
	return out
}

// unlikeOthers returns the sources whose share of one class is odd, of a column with so many shares in all. It reorders shares.
func unlikeOthers(shares []classShare, tests int) (out []oddShare) {
	slices.SortFunc(shares, func(a, b classShare) int { return cmp.Compare(a.logit, b.logit) })
	median := shares[len(shares)/2].logit
	for i := range shares {
		shares[i].away = math.Abs(shares[i].logit - median)
	}
	slices.SortStableFunc(shares, func(a, b classShare) int { return cmp.Compare(a.away, b.away) })
	most := max(1, len(shares)/sharesOften)
	low, high, lowest, highest := math.Inf(1), math.Inf(-1), 1., 0.
	var sum, squares, variance float64
	for n, s := range shares[:len(shares)-1] {
		low, high, lowest, highest = min(low, s.logit), max(high, s.logit), min(lowest, s.share), max(highest, s.share)
		sum, squares, variance = sum+s.logit-median, squares+s.away*s.away, variance+s.variance
		others := n + 1
		if len(shares)-others > most || others < shareSources-1 {
			continue
		}
		mean, of := sum/float64(others), float64(others)
		spread := max((squares-sum*mean)/(of-1), variance/of)
		limit := tQuantile(of-1, sharesChance/float64(tests))
		far := func(s classShare) float64 {
			if gap := max(low-s.logit, s.logit-high); !(gap >= math.Log(sharesApart)) {
				return 0
			}
			return math.Abs(s.logit-median-mean) / math.Sqrt(spread*(1+1/of)+s.variance)
		}
		if slices.ContainsFunc(shares[others:], func(s classShare) bool { return !(far(s) > limit) }) {
			continue
		}
		for _, s := range shares[others:] {
			out = append(out, oddShare{source: s.source, share: s.share, rows: s.rows, low: lowest, high: highest, far: far(s), others: others})
		}
		return out
	}
	return nil
}

// tQuantile returns the number that the absolute value of one of Student's t-distribution exceeds with probability p, by the approximation
// of Wallace (1959).
func tQuantile(freedom, p float64) float64 {
	z := math.Sqrt2 * math.Erfcinv(p) * (8*freedom + 3) / (8*freedom + 1)
	return math.Sqrt(freedom * math.Expm1(z*z/freedom))
}

// oddClasses lists the sources with classes of their own, and those with shares of classes unlike all others.
func (s *Set) oddClasses() []Oddity {
	columns := s.classCounts()
	return append(s.ownWords("classes", columns), s.oddClassShares(columns)...)
}

// oddClassShares lists the sources that have far more, or fewer, labels of a class than all others.
func (s *Set) oddClassShares(columns []*columnWords) (out []Oddity) {
	for _, c := range columns {
		odd := c.oddShares()
		for _, o := range odd[:min(len(odd), shareLines)] {
			of := ""
			if c.column != "" {
				of = " of " + text.OneLine(c.column, 80)
			}
			advice := "see whether its labels are right, and mean what those of the others mean"
			if o.opposite {
				advice = "see whether its words mean the opposite, and whether its labels are right"
			}
			out = append(out, Oddity{s.Pools[o.source].Name, fmt.Sprintf("class %q%s is %.3g %% of its %s, %.3g to %.3g %% in %s",
				text.OneLine(c.words[o.word], 80), of, 100*o.share, text.Several(int(o.rows), "label"), 100*o.low, 100*o.high,
				text.Several(o.others, "other source")), advice})
		}
		if more := len(odd) - shareLines; more > 0 {
			out = append(out, Oddity{"", fmt.Sprintf("%s with shares of classes unlike all others", text.Several(more, "more source")),
				"see their labels"})
		}
	}
	return out
}
