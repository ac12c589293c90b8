package boost

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A split by source gains about as much as the best of all subsets of the sources, which differs from it by shrinkage alone.
func TestSplitBySourceOfAllSubsets(t *testing.T) {
	rng := testrand.New(t)
	for range 60 {
		sources, n := 2+rng.IntN(8), 2000
		c := NewColumns(make([]float32, n), 1) // a column of one value, by which nothing can be split
		of, shift := make([]int32, n), make([]float64, sources)
		for m := range shift {
			shift[m] = float64(m) + rng.NormFloat64()/4
		}
		c.SplitBySource(of, sources, 0)
		b := newBooster(c, make([]float64, n), make([]float64, n), 1, Numbers, upTo(n), nil)
		by, all := make([]sums, sources), sums{}
		for i := range n {
			of[i] = int32(rng.IntN(sources))
			b.gradient[i], b.curvature[i] = shift[of[i]]+rng.NormFloat64(), 1
			row := sums{b.gradient[i], 1, 1}
			by[of[i]], all = by[of[i]].plus(row), all.plus(row)
		}
		b.tried = []int{0}
		root := &leaf{rows: upTo(n), bins: b.newBins(), all: all}
		b.choose(root)
		most, got := 0.0, sums{}
		for m, is := range root.low {
			if is {
				got = got.plus(by[m])
			}
		}
		for subset := 1; subset < 1<<sources-1; subset++ {
			low := sums{}
			for m, s := range by {
				if subset>>m&1 == 1 {
					low = low.plus(s)
				}
			}
			most = max(most, low.gain(sourceShrinkage)+all.minus(low).gain(sourceShrinkage)-all.gain(shrinkage))
		}
		if most == 0 { // the sources happen to be alike
			must.Equal(t, root.gain, 0, "a gain of %d sources", sources)
			continue
		}
		must.Hold(t, root.column == bySource && root.gain > 0.97*most, "%d sources: a gain of %g, by column %d, expected %g", sources, root.gain,
			root.column, most)
		gain := got.gain(sourceShrinkage) + all.minus(got).gain(sourceShrinkage) - all.gain(shrinkage)
		must.Hold(t, math.Abs(root.gain-gain) < 1e-6*gain, "a gain of %g, that of its sources is %g", root.gain, gain)
	}
}

// Where half of the sources have the opposite effect, trees that split by source learn that of their own, of which there are
// few rows, and no column need be in a tree that is split by source alone.
func TestTreesOfOppositeSources(t *testing.T) {
	rng, ctx := testrand.New(t), context.Background()
	const sources, n, d, left = 10, 1500, 4, 500
	x, y, of := make([]float32, n*d), make([]float64, n), make([]int32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	sign := func(m int32) float64 { return float64(1 - 2*(m%2)) }
	for i := range y {
		switch of[i] = int32(1 + rng.IntN(sources-1)); {
		case i < left+40: // the first are predicted
			of[i] = 0
		}
		y[i] = sign(of[i])*math.Copysign(1, float64(x[i*d]*x[i*d+1])) + 0.5*sign(of[i]) + 0.1*rng.NormFloat64()
	}
	c, out := NewColumns(x, d), make([]int, left)
	for i := range out {
		out[i] = i
	}
	err := func() (sum float64) {
		predicted := must.Get(LeftOut(ctx, c, y, make([]float64, n), 1, Numbers, upTo(n)[left:], out, stages))(t)
		for i, v := range predicted[stages-1] {
			sum += (v - y[i]) * (v - y[i]) / left
		}
		return sum
	}
	plain := err()
	c.SplitBySource(of, sources, 0)
	split := err()
	must.Hold(t, split < plain/2, "the mean squared error is %g, and %g without splits by source", split, plain)
	f := must.Get(Fit(ctx, c, y, make([]float64, n), 1, Numbers, upTo(n)[left:], stages))(t)
	for _, tree := range f.Trees {
		must.Hold(t, len(tree.Nodes) <= MaxNodes && !slices.ContainsFunc(tree.Nodes, func(n Node) bool { return n.Column < 0 }),
			"a tree that is saved has %d nodes, or splits by source", len(tree.Nodes))
	}
}

// A source without a row in a leaf has the leaf's mean step, and is on the side of a split where that lies.
func TestSplitBySourceWithoutRows(t *testing.T) {
	rows, step := []int{500, 100, 20}, []float64{-0.1, 0.5, 10} // of a mean of 0.32
	const own, n = 3, 620
	c := NewColumns(make([]float32, n), 1)
	var of []int32
	for m, k := range rows {
		of = append(of, slices.Repeat([]int32{int32(m)}, k)...)
	}
	c.SplitBySource(of, own+1, own)
	b := newBooster(c, make([]float64, n), make([]float64, n), 1, Numbers, upTo(n), nil)
	root := &leaf{rows: upTo(n)}
	for i, m := range of {
		b.gradient[i], b.curvature[i] = step[m], 1
		root.all = root.all.plus(sums{step[m], 1, 1})
	}
	b.choose(root)
	must.EqualSlices(t, root.low, []bool{true, true, false, true}, "sources on the low side")
}
