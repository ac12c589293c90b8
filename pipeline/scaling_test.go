package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// inOddUnits returns the set with each feature x_j replaced by a_j x_j + c_j.
func inOddUnits(set *dataset.Set) *dataset.Set {
	a := []float64{1e-3, 70, -1, 2e4, 0.2, 1e3, -0.04, 8}
	c := []float64{0, 40, 3, 6e4, 0, -500, 0.1, 0}
	out := *set
	out.Pools = nil
	for i, p := range set.Pools {
		q := *p
		q.U8, q.F16, q.F32, q.Scale = nil, nil, nil, 1
		for r := range p.Rows {
			for j, v := range features(set, i, r) {
				q.F32 = append(q.F32, float32(a[j%len(a)]*v+c[j%len(c)]))
			}
		}
		out.Pools = append(out.Pools, &q)
	}
	return &out
}

// With a scale for each feature results do not depend on the units of any: the same
// draws, the same relevance and intervals to rounding, the same predictions.
func TestUnitsOfEachFeature(t *testing.T) {
	numbers := defaultConfig(t)
	numbers.Methods = []string{Active, Uniform, Target}
	for _, c := range []struct {
		name string
		set  *dataset.Set
		cfg  Config
	}{
		{"numbers", smallSet(4, 5, 300, 6, false), numbers},
		{"pools", shops(rand.New(rand.NewPCG(3, 1)), 5, 150, 6, 3, true), defaultConfig(t)},
	} {
		c.cfg.Scaling = ScalingFeature
		other := inOddUnits(c.set)
		u, one := runUnit(t, openDevice(t, 1, c.set), c.cfg, 2)
		v, two := runUnit(t, openDevice(t, 1, other), c.cfg, 2)
		if len(one.Epochs) != 3+len(u.problem.Config.Methods)-1 {
			t.Fatalf("%d rounds", len(one.Epochs))
		}
		for i := range one.Epochs {
			x, y := &one.Epochs[i], &two.Epochs[i]
			what := fmt.Sprintf("%s: %s, epoch %d", c.name, x.Method, x.Epoch)
			if !slices.Equal(x.Counts, y.Counts) {
				t.Errorf("%s: drew %v, in other units %v", what, x.Counts, y.Counts)
			}
			closeVectors(t, what+": nu", y.Nu, x.Nu, 1e-3, 0)
			if x.Score != y.Score && !near(y.Score.Value/x.Score.Value, 1, 1e-3) || !near(y.LeaveOneOut/x.LeaveOneOut, 1, 1e-3) {
				t.Errorf("%s: %g and %g left out, in other units %g and %g", what, x.Score.Value, x.LeaveOneOut, y.Score.Value, y.LeaveOneOut)
			}
			if (x.Uncertainty == nil) != (i != 2) {
				t.Fatalf("%s: uncertainty %v", what, x.Uncertainty)
			}
			if x.Uncertainty != nil {
				closeVectors(t, what+": bounds", y.Uncertainty.NuHigh, x.Uncertainty.NuHigh, 5e-2, 0) // the basis of phi differs
			}
		}
		pool := u.problem.Target.Pool
		rows := u.problem.draws.test
		left := must.Get(u.predictions(rows, must.Get(u.model.units())(t)))(t)
		right := must.Get(v.predictions(rows, must.Get(v.model.units())(t)))(t)
		for i := range left {
			closeVectors(t, fmt.Sprintf("%s: predictions of pool %d", c.name, pool), wide(right[i]), wide(left[i]), 1e-3, 0)
		}
	}
}

// A feature that is the same in all rows, up to rounding, has s = 1, and each other feature its
// standard deviation over all rows together.
func TestConstantFeatures(t *testing.T) {
	rng := testrand.New(t)
	set := smallSet(5, 3, 200, 5, true)
	set = inOddUnits(set)
	for _, p := range set.Pools {
		for i := range p.Rows {
			p.F32[i*5], p.F32[i*5+1] = 0, 1000
			if i%2 == 0 {
				p.F32[i*5+1] = math.Nextafter32(1000, 2000)
			}
		}
	}
	var in []Labelled
	sources, n := (&Config{}).SourcesIn(set), 0.0
	sum, square := make([]float64, 5), make([]float64, 5)
	for _, s := range sources {
		l := Labelled{}
		for range 2 + rng.IntN(40) {
			r := rng.IntN(200)
			l.Rows, l.Y = append(l.Rows, int32(r)), append(l.Y, 1)
			n++
			for j, v := range features(set, s.Pool, r) {
				sum[j] += v
				square[j] += v * v
			}
		}
		in = append(in, l)
	}
	u := newUnits(shifted{set: set}, sources, []int{0, 0, 0}, in, ScalingFeature)
	for j, s := range u.each {
		want := math.Sqrt(max(0, square[j]/n-sum[j]*sum[j]/n/n))
		if j < 2 {
			want = 1
		}
		if !near(float64(s)/want, 1, 1e-3) || !(math.Abs(float64(u.centre[j])-sum[j]/n) < 1e-3*want) {
			t.Errorf("feature %d: centre %g and scale %g, expected %g and %g", j, u.centre[j], s, sum[j]/n, want)
		}
	}
	centres := make([][]float32, len(set.Pools)) // rows less these still differ by rounding alone
	for i := range centres {
		centres[i] = []float32{0, 1000, 0, 0, 0}
	}
	must.Equal(t, newUnits(shifted{set, centres}, sources, []int{0, 0, 0}, in, ScalingFeature).each[1], 1, "the scale of a constant")
	var at []poolRow
	for m, s := range sources {
		for _, r := range in[m].Rows {
			at = append(at, poolRow{s.Pool, int(r)})
		}
	}
	must.Equal(t, (&Problem{Set: set}).kernelScale(at, centres)[1], 1, "the scale of a constant, of a kernel")
	cfg := defaultConfig(t)
	cfg.Scaling = ScalingFeature
	_, st := runUnit(t, openDevice(t, 1, set), cfg, 2)
	for _, e := range st.Epochs {
		if !(e.Score.Value >= 0 && e.Score.Value < 0.5) {
			t.Errorf("%s: the error is %g", e.Method, e.Score.Value)
		}
	}
}

// Where features are only centred, the penalty follows their size: lambda is s times the lambda
// for features in units of s.
func TestPenaltyOfCentredFeatures(t *testing.T) {
	set := smallSet(4, 5, 300, 6, false)
	for _, p := range set.Pools {
		p.Scale *= 30
	}
	lambda, scale := map[string]float64{}, 0.0
	for _, scaling := range []string{ScalingGlobal, ScalingNone} {
		cfg := defaultConfig(t)
		cfg.Methods, cfg.Scaling = []string{Uniform}, scaling
		u, st := runUnit(t, openDevice(t, 1, set), cfg, 2)
		lambda[scaling] = st.Epochs[0].Fit.Lambda
		if scaling == ScalingGlobal {
			scale = must.Get(u.model.units())(t).scale
		}
	}
	if got := lambda[ScalingNone] / lambda[ScalingGlobal]; !near(got/scale, 1, 0.1) {
		t.Errorf("lambda is %g times that of scaled features, expected %g", got, scale)
	}
}

// Features of one unit get one scale, however much each varies; features of several units get a
// scale each.
func TestScalingAuto(t *testing.T) {
	rng := testrand.New(t)
	const n = 600
	rowsOf := func(d int, row func(x []float64)) *dataset.Set {
		p := &dataset.Pool{Rows: n, Cols: d, Scale: 1}
		x := make([]float64, d)
		for range n {
			clear(x)
			row(x)
			p.F32 = append(p.F32, narrow(x)...)
		}
		return &dataset.Set{Pools: []*dataset.Pool{p}}
	}
	bytes := smallSet(1, 4, 300, 12, true)
	sparse := must.Get(dataset.SparseNu(12, 2, 4, 1, 50, rng.Uint64()))(t)
	const width = 96
	mixing := normals(rng, width*width)
	embedding := func(x []float64) {
		for i := range width {
			v := rng.NormFloat64() / math.Sqrt(float64(i+1))
			for j := range x {
				x[j] += v * mixing[i*width+j]
			}
		}
		for j, s := 0, norm(x); j < len(x); j++ {
			x[j] /= s
		}
	}
	components := func(x []float64) {
		for j := range x {
			x[j] = rng.NormFloat64() * math.Pow(float64(j+1), -0.5)
		}
	}
	words := func(x []float64) {
		for j := range x {
			for rng.Float64() < 0.5/float64(1+j) {
				x[j]++
			}
		}
	}
	person := func(x []float64) { // of 5 kinds
		x[rng.IntN(5)] = 1
		x[5], x[6] = 40+13*rng.NormFloat64(), math.Exp(10+rng.NormFloat64())
	}
	for _, c := range []struct {
		name string
		set  *dataset.Set
		want string
	}{
		{"bytes and floats", bytes, ScalingGlobal},
		{"digits", must.Get(dataset.Digits(1, 40, 1))(t), ScalingGlobal},
		{"normal", sparse, ScalingGlobal},
		{"embeddings", rowsOf(width, embedding), ScalingGlobal},
		{"principal components", rowsOf(300, components), ScalingGlobal},
		{"words", rowsOf(300, words), ScalingGlobal},
		{"categories", rowsOf(40, func(x []float64) { x[rng.IntN(20)], x[20+rng.IntN(20)] = 1, 1 }), ScalingGlobal},
		{"constant", rowsOf(3, func([]float64) {}), ScalingGlobal},
		{"one feature", rowsOf(1, func(x []float64) { x[0] = 1e6 * rng.Float64() }), ScalingGlobal},
		{"odd units", inOddUnits(sparse), ScalingFeature},
		{"categories and numbers", rowsOf(7, person), ScalingFeature},
		{"embeddings and a length", rowsOf(width+1, func(x []float64) {
			embedding(x[:width])
			x[width] = math.Floor(1000 * rng.Float64())
		}), ScalingFeature},
		{"constants and odd units", rowsOf(9, func(x []float64) { x[3], x[8] = rng.Float64(), 50*rng.Float64() }), ScalingFeature},
	} {
		got, why := (&Config{}).scalingFor(c.set)
		if got != c.want {
			t.Errorf("%s: %s: %s", c.name, got, why)
		}
	}
	images := smallImages(1, 2, 20, 4, 4)
	for _, c := range []struct {
		set  *dataset.Set
		conv bool
	}{{images, false}, {images, true}, {inOddUnits(sparse), true}} {
		cfg := must.Get(NewConfig(PresetDefault))(t)
		if c.conv {
			cfg.Representation = ClassConv
		}
		if got := cfg.Complete(c.set).Scaling; got != ScalingGlobal {
			t.Errorf("images %v, conv %v: %s", c.set == images, c.conv, got)
		}
		if cfg.Scaling = ScalingFeature; c.conv {
			cfg.ERM, cfg.Conv, cfg.K, cfg.Schedule.Epochs = ERM{}, DefaultConv(PresetDefault), 3, 4
			must.Fail(t, "a network", cfg.Validate(), "scaling feature is of representation linear")
		}
	}
}

// Features differ in their units from where the root mean square of their ranges is 5 times the lower quartile.
func TestScalingByRatioOfRanges(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		d, unit := 4+rng.IntN(40), math.Exp(5*rng.NormFloat64())
		for _, ratio := range []float64{4.9, 5.1} {
			// of a last feature, such that (d - 1) features of the range 1 and it have the ratio as root mean square
			last := math.Sqrt(float64(d)*ratio*ratio - float64(d-1))
			p := &dataset.Pool{Rows: 4, Cols: d, Scale: 1}
			for i := range p.Rows {
				for j := range d {
					at := []float64{0, 1, rng.Float64(), rng.Float64()}[i] * unit
					if j == d-1 {
						at *= last
					}
					p.F32 = append(p.F32, float32(at))
				}
			}
			got, why := (&Config{}).scalingFor(&dataset.Set{Pools: []*dataset.Pool{p}})
			must.Equal(t, got == ScalingFeature, ratio > 5, "%d features of the ratio %g: %s: %s", d, ratio, got, why)
		}
	}
}
