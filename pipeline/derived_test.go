package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// someKnots are the knots of each column in tests.
var someKnots = []float64{-0.7, 0, 0.7}

// derivedColumns describes that number of columns with someKnots each and their products.
func derivedColumns(columns int) *dataset.Columns {
	of := table.Derived{Knots: slices.Repeat(table.Knots{someKnots}, columns)}
	for j := range columns {
		of.Factors = append(of.Factors, table.Factor{Feature: j, Low: -9, High: 9, Spread: 1})
	}
	var names []string
	for j := range columns {
		names = append(names, fmt.Sprint("x", j))
	}
	d := columns + of.Count()
	return &dataset.Columns{Derived: of, Features: append(names, of.Names(names)...), Centre: make([]float64, d), Spread: ones(d)}
}

// derivedOf returns the features of a row of normal columns that [derivedColumns] adds.
func derivedOf(x []float64) (out []float32) {
	for _, v := range x {
		for _, t := range someKnots {
			out = append(out, float32((math.Abs(v-t)-0.9)/(2*math.Sqrt(3)*0.6)))
		}
	}
	for j, v := range x {
		for _, w := range x[j+1:] {
			out = append(out, float32(v*w/math.Sqrt(2*float64(len(x)-1))))
		}
	}
	return out
}

// derivedSet returns a set of pools of 60 rows of the given number of columns with three knots each, and of their products, whose labels
// are of.
func derivedSet(rng *rand.Rand, pools, columns int, label func(x []float64) float64) (*dataset.Set, []Source, []Labelled) {
	const rows = 60
	d := columns + len(derivedOf(make([]float64, columns)))
	set := &dataset.Set{Columns: derivedColumns(columns)}
	var sources []Source
	var in []Labelled
	for m := range pools {
		p := &dataset.Pool{Rows: rows, Cols: d, Scale: 1}
		l := Labelled{}
		for i := range rows {
			x := make([]float64, columns)
			for j := range x {
				x[j] = rng.NormFloat64()
				p.F32 = append(p.F32, float32(x[j]))
			}
			p.F32 = append(p.F32, derivedOf(x)...)
			l.Rows, l.Y = append(l.Rows, int32(i)), append(l.Y, float32(label(x)))
		}
		set.Pools = append(set.Pools, p)
		set.Tasks = append(set.Tasks, dataset.Task{Pool: m})
		sources, in = append(sources, Source{Pool: m, Tasks: []int{m}}), append(in, l)
	}
	return set, sources, in
}

// Effects that are lines and add up make bends and products unlikely, effects that bend, or that depend on each other, make one of them
// likely. The unit of the labels does not matter.
func TestDerivedScale(t *testing.T) {
	rng := testrand.New(t)
	slopes := make([]float64, 6)
	for trial := range 8 {
		for j := range slopes {
			slopes[j] = rng.NormFloat64()
		}
		noise := func() float64 { return 0.5 * rng.NormFloat64() }
		line := func(x []float64) float64 { return floats.Dot(slopes, x) + noise() }
		bend := func(x []float64) (y float64) {
			for j, v := range x {
				y += slopes[j] * math.Abs(v)
			}
			return y + noise()
		}
		product := func(x []float64) float64 { return slopes[0]*x[0] + 3*x[1]*x[2] - 2*x[3]*x[4] + noise() }
		pools := 4 + rng.IntN(30)
		set, sources, in := derivedSet(rng, pools, len(slopes), line)
		knots, products := set.Columns.Derived.Knots.Count(), set.Columns.Derived.Products()
		f, g := derivedScale(shifted{set: set}, sources, in, knots, products)
		must.Hold(t, f >= 4 && g >= 4, "trial %d: lines of %d sources have bends of scale %g and products of %g", trial, pools, f, g)
		for _, l := range in {
			for i, y := range l.Y {
				l.Y[i] = 8*y - 64
			}
		}
		sameF, sameG := derivedScale(shifted{set: set}, sources, in, knots, products)
		must.Hold(t, sameF == f && sameG == g, "scales %g and %g, in other units %g and %g", f, g, sameF, sameG)

		set, sources, in = derivedSet(rng, pools, len(slopes), product)
		f, g = derivedScale(shifted{set: set}, sources, in, knots, products)
		must.Hold(t, f > 1 && g == 1, "trial %d: products in %d sources have bends of scale %g and products of %g", trial, pools, f, g)

		set, sources, in = derivedSet(rng, pools, len(slopes), bend)
		f, g = derivedScale(shifted{set: set}, sources, in, knots, products)
		must.Hold(t, f == 1 && g > 1, "trial %d: bent effects of %d sources have bends of scale %g and products of %g", trial, pools, f, g)
		u := newUnits(shifted{set: set}, sources, make([]int, pools), in, ScalingGlobal)
		d := set.Pools[0].Cols
		must.Hold(t, u.each[0] == 1 && float64(u.each[d-products-1]) == f && float64(u.each[d-1]) == g, "units %v at scales %g and %g", u.each,
			f, g)
		mean := 0.0
		for row := range rowsOf(shifted{set: set}, sources, in) {
			for j, v := range row {
				mean += math.Pow(float64(v-u.centre[j])/u.ofFeature(j), 2) / float64(d*60*pools)
			}
		}
		must.Hold(t, math.Abs(mean-1) < 1e-3, "the mean variance of a feature is %g", mean)
		derived := func(scaling string) int { knots, products := derivedFeatures(set, scaling); return knots + products }
		set.Pools[0].Height = 1
		must.Equal(t, derived(ScalingGlobal), 0, "features of images that are computed from others")
		set.Pools[0].Height = 0
		for _, p := range set.Pools { // features of any mean
			for i := range p.F32 {
				p.F32[i] += 1 << 14
			}
		}
		moved := newUnits(shifted{set: set}, sources, make([]int, pools), in, ScalingGlobal)
		must.Hold(t, math.Abs(moved.scale/u.scale-1) < 0.02, "a unit of %g, before the shift %g", moved.scale, u.scale)
		must.Equal(t, derived(ScalingGlobal), knots+products, "features that are computed from others")
		for _, fixed := range []string{ScalingFeature, ScalingNone} {
			must.Equal(t, derived(fixed), 0, "such features with scaling %s", fixed)
		}
	}
}

// Without labels that differ, as for one class, no factor is likelier than another, and what there is none of has the factor 1.
func TestDerivedScaleOfNoLabels(t *testing.T) {
	set, sources, in := derivedSet(testrand.New(t), 3, 2, func([]float64) float64 { return 1 })
	knots, products := set.Columns.Derived.Knots.Count(), set.Columns.Derived.Products()
	for range 2 {
		f, g := derivedScale(shifted{set: set}, sources, in, knots, products)
		must.Hold(t, f == 2 && g == 16, "scales %g and %g, expected those that g/f gives", f, g)
		f, g = derivedScale(shifted{set: set}, sources, in, knots, 0)
		must.Hold(t, f == 2 && g == 1, "without products %g and %g", f, g)
		f, g = derivedScale(shifted{set: set}, sources, in, 0, products)
		must.Hold(t, f == 1 && g == 16, "without knots %g and %g", f, g)
		for i := range in {
			in[i] = Labelled{}
		}
	}
}

// Of rows that belong together only one is looked at: what they have in common, whatever their features, is not taken for an effect of the
// features that tell groups apart.
func TestDerivedScaleOfGroups(t *testing.T) {
	rng := testrand.New(t)
	set, sources, in := derivedSet(rng, 6, 6, func(x []float64) float64 { return x[0] + 0.5*rng.NormFloat64() })
	knots, products := set.Columns.Derived.Knots.Count(), set.Columns.Derived.Products()
	f, g := derivedScale(shifted{set: set}, sources, in, knots, products)
	// Copies of the rows before them, behind these: as rows of their own they would be samples without noise.
	for m, p := range set.Pools {
		for i := range p.Rows {
			p.F32 = append(p.F32, p.F32[i*p.Cols:(i+1)*p.Cols]...)
			p.Groups = append(p.Groups, int32(i))
			in[m].Rows, in[m].Y = append(in[m].Rows, int32(p.Rows+i)), append(in[m].Y, in[m].Y[i])
		}
		p.Rows, p.Groups = 2*p.Rows, slices.Concat(p.Groups, p.Groups)
	}
	sameF, sameG := derivedScale(shifted{set: set}, sources, in, knots, products)
	must.Hold(t, sameF == f && sameG == g, "scales %g and %g, with a copy of each row %g and %g", f, g, sameF, sameG)
	for m, p := range set.Pools {
		in[m].Rows[0], p.Groups[0], p.Groups[p.Rows/2] = int32(p.Rows/2), -1, -1 // rows on their own are not of one group
		must.Equal(t, len(oneOfEach(p, in[m], 1).Rows), p.Rows/2+1, "rows of pool %d", m)
	}
}
