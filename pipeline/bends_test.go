package pipeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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

// Effects that are lines make bends unlikely, and effects that bend do not. Neither the unit of the labels nor a label
// that is missing in an output matters.
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
		must.Hold(t, f > 2 && f <= 8, "trial %d: lines of %d sources have bends of scale %g", trial, pools, f)
		for _, l := range in {
			for i, y := range l.Y {
				l.Y[i] = 1000*y - 3e5
			}
		}
		same := bendScale(shifted{set: set}, sources, in, knots)
		must.Hold(t, math.Abs(same/f-1) < 1e-3, "other units: %g, before %g", same, f)

		set, sources, in = bendSet(rng, pools, len(slopes), bend)
		f = bendScale(shifted{set: set}, sources, in, knots)
		must.Hold(t, f >= 1 && f < 1.5, "trial %d: bent effects of %d sources have bends of scale %g", trial, pools, f)
		u := newUnits(shifted{set: set}, sources, make([]int, pools), in, ScalingGlobal)
		d := set.Pools[0].Cols
		must.Hold(t, math.Abs(float64(u.each[d-1]/u.each[0])/f-1) < 1e-6, "units %v at scale %g", u.each, f)
		mean := 0.0
		for row := range rowsOf(shifted{set: set}, sources, in) {
			for j, v := range row {
				mean += math.Pow(float64(v-u.centre[j])/float64(u.each[j]), 2) / float64(d*60*pools)
			}
		}
		must.Hold(t, math.Abs(mean-1) < 1e-3, "the mean variance of a feature is %g", mean)
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
	must.Hold(t, prior > 1 && prior < 2, "a scale of %g", prior)
}

// bendEvidence agrees with the density of n-1 contrasts of the labels that the mean is no part of.
func TestBendEvidence(t *testing.T) {
	rng := testrand.New(t)
	n, outputs := 4+rng.IntN(12), 1+rng.IntN(3)
	set, sources, in := bendSet(rng, 1, 3, func([]float64) float64 { return 0 })
	places := rng.Perm(60)[:n]
	lines, bends := shifted{set: set}.kernels(sources[0].Pool, in[0].Rows, places, set.Columns.Knots.Count())
	labels, want := make([][]float64, outputs), 0.0
	var contrasts mat.Dense // orthonormal, each with sum 0
	var qr mat.QR
	ones := mat.NewDense(n, 1, nil)
	for i := range n {
		ones.Set(i, 0, 1)
	}
	qr.Factorize(ones)
	qr.QTo(&contrasts)
	q := contrasts.Slice(0, n, 1, n)
	weight := rng.Float64()
	var k mat.Dense
	k.Scale(weight, bends)
	k.Add(&k, lines)
	trace := mat.Trace(&k)
	for c := range labels {
		labels[c] = make([]float64, n)
		for i := range labels[c] {
			labels[c][i] = rng.NormFloat64()
		}
		floats.AddConst(-floats.Sum(labels[c])/float64(n), labels[c])
		sum := 0.0
		for _, h := range signals {
			var a, y mat.Dense
			a.Product(q.T(), &k, q)
			a.Scale(h*float64(n)/trace, &a)
			for i := range n - 1 {
				a.Set(i, i, a.At(i, i)+1)
			}
			y.Mul(q.T(), mat.NewDense(n, 1, labels[c]))
			var solved, square mat.Dense
			must.Do(t, solved.Solve(&a, &y))
			square.Mul(y.T(), &solved)
			sum += math.Pow(square.At(0, 0), -float64(n-1)/2) / math.Sqrt(mat.Det(&a))
		}
		want += math.Log(sum)
	}
	got := bendEvidence(lines, bends, weight, labels)
	must.Hold(t, near(got, want, 1e-6*(1+math.Abs(want))), "%g, want %g", got, want)
}
