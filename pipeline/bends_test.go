package pipeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// bendSet returns a set of pools of 60 rows of the given number of columns with three knots each, whose labels are of.
func bendSet(rng *rand.Rand, pools, columns int, of func(x []float64) float64) (*dataset.Set, []Source, []Labelled) {
	const rows = 60
	knots := make(table.Knots, columns)
	for j := range knots {
		knots[j] = []float64{-0.7, 0, 0.7}
	}
	d := columns + knots.Count()
	set := &dataset.Set{Columns: &dataset.Columns{Knots: knots, Features: make([]string, d), Spread: make([]float64, d)}}
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
			for j := range x {
				for _, t := range knots[j] {
					p.F32 = append(p.F32, float32((math.Abs(x[j]-t)-0.9)/(2*math.Sqrt(3)*0.6)))
				}
			}
			l.Rows, l.Y = append(l.Rows, int32(i)), append(l.Y, float32(of(x)))
		}
		set.Pools = append(set.Pools, p)
		set.Tasks = append(set.Tasks, dataset.Task{Pool: m})
		sources, in = append(sources, Source{Pool: m, Tasks: []int{m}}), append(in, l)
	}
	return set, sources, in
}

// Effects that are lines make bends unlikely, and effects that bend do not. The unit of the labels does not matter.
func TestBendScale(t *testing.T) {
	rng := testrand.New(t)
	slopes := make([]float64, 6)
	for trial := range 8 {
		for j := range slopes {
			slopes[j] = rng.NormFloat64()
		}
		line := func(x []float64) float64 { return floats.Dot(slopes, x) + 0.5*rng.NormFloat64() }
		bend := func(x []float64) (y float64) {
			for j, v := range x {
				y += slopes[j] * math.Abs(v)
			}
			return y + 0.5*rng.NormFloat64()
		}
		pools := 1 + rng.IntN(30)
		set, sources, in := bendSet(rng, pools, len(slopes), line)
		knots := set.Columns.Knots.Count()
		f := bendScale(shifted{set: set}, sources, in, knots)
		must.Hold(t, f == 4 || f == 8, "trial %d: lines of %d sources have bends of scale %g", trial, pools, f)
		for _, l := range in {
			for i, y := range l.Y {
				l.Y[i] = 8*y - 64
			}
		}
		same := bendScale(shifted{set: set}, sources, in, knots)
		must.Equal(t, same, f, "the scale of labels in other units")

		set, sources, in = bendSet(rng, pools, len(slopes), bend)
		f = bendScale(shifted{set: set}, sources, in, knots)
		must.Hold(t, f == 1, "trial %d: bent effects of %d sources have bends of scale %g", trial, pools, f)
		u := newUnits(shifted{set: set}, sources, make([]int, pools), in, ScalingGlobal)
		d := set.Pools[0].Cols
		must.Hold(t, u.each[0] == 1 && float64(u.each[d-1]) == f, "units %v at scale %g", u.each, f)
		mean := 0.0
		for row := range rowsOf(shifted{set: set}, sources, in) {
			for j, v := range row {
				mean += math.Pow(float64(v-u.centre[j])/u.ofFeature(j), 2) / float64(d*60*pools)
			}
		}
		must.Hold(t, math.Abs(mean-1) < 1e-3, "the mean variance of a feature is %g", mean)
		set.Pools[0].Height = 1
		must.Equal(t, bendable(set, ScalingGlobal), 0, "features of knots of images")
		set.Pools[0].Height = 0
		for _, p := range set.Pools { // features of any mean
			for i := range p.F32 {
				p.F32[i] += 1 << 14
			}
		}
		moved := newUnits(shifted{set: set}, sources, make([]int, pools), in, ScalingGlobal)
		must.Hold(t, math.Abs(moved.scale/u.scale-1) < 0.02, "a unit of %g, before the shift %g", moved.scale, u.scale)
		for _, fixed := range []string{ScalingFeature, ScalingNone} {
			must.Equal(t, bendable(set, fixed), 0, "features of knots with scaling %s", fixed)
		}
	}
}

// Without labels that differ, as for one class, no factor is likelier than another.
func TestBendScaleOfNoLabels(t *testing.T) {
	set, sources, in := bendSet(testrand.New(t), 3, 2, func([]float64) float64 { return 1 })
	prior := bendScale(shifted{set: set}, sources, in, set.Columns.Knots.Count())
	for i := range in {
		in[i] = Labelled{}
	}
	must.Equal(t, bendScale(shifted{set: set}, sources, in, set.Columns.Knots.Count()), prior, "without a row")
	must.Equal(t, prior, 2, "the scale that 1/f gives")
}
