package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// sharesOf returns counts of classes in sources, drawn with the given shares.
func sharesOf(rng *rand.Rand, rows int, shares [][]float64) *columnWords {
	c := &columnWords{column: "y", words: []string{"no", "yes", "maybe", "late"}[:len(shares[0])]}
	for _, of := range shares {
		counts := make([]wordCount, len(of))
		for w := range counts {
			counts[w].word = w
		}
		for range rows {
			x, w := rng.Float64(), 0
			for w < len(of)-1 && x >= of[w] {
				x, w = x-of[w], w+1
			}
			counts[w].rows++
		}
		c.of = append(c.of, slices.DeleteFunc(counts, func(w wordCount) bool { return w.rows == 0 }))
	}
	return c
}

// Sources with other shares of a class than all others are found, up to a quarter of them. Among few sources, few labels or shares that
// differ in general none is.
func TestOddShares(t *testing.T) {
	rng := testrand.New(t)
	usual := func(sources int, spread float64) (shares [][]float64) {
		for range sources {
			p := 1 / (1 + math.Exp(2-spread*rng.NormFloat64()))
			shares = append(shares, []float64{1 - p, p})
		}
		return shares
	}
	turned := func(shares [][]float64, which ...int) [][]float64 {
		for _, i := range which {
			slices.Reverse(shares[i])
		}
		return shares
	}
	many := slices.Repeat([][]float64{{0.5, 0.3, 0.15, 0.05}}, 10)
	many[3] = []float64{0.05, 0.15, 0.3, 0.5}
	for what, c := range must.Ordered(map[string]struct {
		rows   int
		shares [][]float64
		want   []int
		class  int
	}{
		"none":         {2000, usual(14, 0.1), nil, 0},
		"one":          {2000, turned(usual(14, 0.1), 7), []int{7}, 1},
		"three":        {2000, turned(usual(14, 0.1), 2, 7, 13), []int{2, 7, 13}, 1},
		"half":         {2000, turned(usual(14, 0.1), 0, 1, 2, 3, 4, 5, 6), nil, 0},
		"four sources": {100000, turned(usual(4, 0), 2), nil, 0},
		"few labels":   {19, turned(usual(40, 0), 2), nil, 0},
		"one class":    {2000, append(usual(13, 0.1), []float64{0, 1}), nil, 0},
		"four classes": {2000, many, []int{3}, 3},
	}) {
		var got []int
		for _, o := range sharesOf(rng, c.rows, c.shares).oddShares() {
			got = append(got, o.source)
			must.Hold(t, o.word == c.class || o.word == 0 && c.class == 3, "%s: class %d of %+v", what, o.word, o)
			must.Hold(t, o.share < o.low || o.share > o.high, "%s: %+v", what, o)
		}
		slices.Sort(got)
		must.EqualSlices(t, got, c.want, "%s", what)
	}
	alarms, sets := 0, 600
	for range sets {
		shares := usual(5+rng.IntN(30), 2*rng.Float64())
		if len(sharesOf(rng, 20+rng.IntN(400), shares).oddShares()) > 0 {
			alarms++
		}
	}
	must.Hold(t, alarms < 7, "%d false alarms in %d sets", alarms, sets) // of 0.001 each, seven have a probability of 6e-6
}

// The approximation of Student's distribution is that of tables.
func TestTQuantile(t *testing.T) {
	for _, c := range []struct{ freedom, p, want float64 }{{4, 0.01, 4.604}, {9, 0.001, 4.781}, {12, 0.0001, 5.694}, {1e6, 0.05, 1.960}} {
		got := tQuantile(c.freedom, c.p)
		must.Hold(t, math.Abs(got/c.want-1) < 0.02, "%v of %v: %v, expected %v", c.p, c.freedom, got, c.want)
	}
}

// The message names the class that is rarer, its share there and that in the others. A source that has neither class is another matter.
func TestOddClassShares(t *testing.T) {
	var of [][]string
	for i := range 9 {
		labels := slices.Concat(repeated(180+i, "no"), repeated(20, "yes"))
		if i == 4 {
			labels = slices.Concat(repeated(20, "no"), repeated(60, "yes"))
		}
		if i == 6 {
			labels = repeated(50, "0", "1", "0")
		}
		of = append(of, labels)
	}
	set := ofClasses(t, of...)
	for _, odd := range [][]Oddity{set.Oddities(), set.Warnings().Oddities(true)} {
		must.Hold(t, len(odd) == 2 && odd[0].Pool == "s6" && odd[1].Pool == "s4" && strings.Contains(odd[1].Advice, "the opposite") &&
			odd[1].Found == `class "yes" of back is 75 % of its 80 labels, 9.62 to 10 % in 7 other sources`, "%v", fmt.Sprint(odd))
	}
}
