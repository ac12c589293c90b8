package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// points are rows of features with their sources; the last of the rows are of the target.
type points struct {
	x      [][]float64
	source []int
	target int
}

func somePoints(rng *rand.Rand, n, target, sources, d int) points {
	p := points{target: n - target}
	for i := range n {
		x := make([]float64, d)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		source := sources
		if i < p.target {
			source = i * sources / p.target
		}
		p.x, p.source = append(p.x, x), append(p.source, source)
	}
	return p
}

func (p points) square(i, j int) (sum float64) {
	for f := range p.x[i] {
		sum += (p.x[i][f] - p.x[j][f]) * (p.x[i][f] - p.x[j][f])
	}
	return sum
}

// rows returns labelled rows with these places among the points.
func (p points) rows(places []int, y *mat.Dense) *Rows {
	_, c := y.Dims()
	out := &Rows{Squares: mat.NewSymDense(len(places), nil), Y: mat.NewDense(len(places), c, nil)}
	for a, i := range places {
		out.Source = append(out.Source, p.source[i])
		out.Y.SetRow(a, y.RawRowView(i))
		for b, j := range places[:a+1] {
			out.Squares.SetSym(a, b, p.square(i, j))
		}
		if i < p.target {
			out.Target++
		}
	}
	out.Groups = regress.Ungrouped(len(places) - out.Target)
	return out
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// covariances are those of the labels of points, by their definition.
func (p points) covariances(s Settings, places []int) *mat.SymDense {
	k := mat.NewSymDense(len(places), nil)
	for a, i := range places {
		for b, j := range places[:a+1] {
			v, near := 1.0, math.Exp(-p.square(i, j)/s.Width)
			if v += s.Shared * near; p.source[i] == p.source[j] {
				v += (1-s.Shared)*near + s.Level
			}
			if i == j {
				v += s.Noise
			}
			k.SetSym(a, b, v)
		}
	}
	return k
}

// The fit predicts new rows of the target as the conditional mean of the process does, and each row of the target as the fit without its
// group would, with the mean label of all; NegLogLik is -log of the normal likelihood up to a constant.
func TestFit(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 30 {
		own, c := 1+rng.IntN(12), 1+rng.IntN(3)
		n := own + rng.IntN(30)
		p := somePoints(rng, n, own, 1+rng.IntN(4), 1+rng.IntN(3))
		y := mat.NewDense(n, c, nil)
		for i := range n {
			for k := range c {
				y.Set(i, k, 10+rng.NormFloat64())
			}
		}
		s := Settings{math.Exp(rng.NormFloat64()), []float64{1, 0.6, 0}[turn%3], rng.Float64(), 0.01 + rng.Float64()}
		r := p.rows(upTo(n), y)
		var numbers []int32
		for range own {
			numbers = append(numbers, int32(rng.IntN(own)))
		}
		if r.Groups = regress.GroupsOf(numbers); turn%2 == 0 {
			r.Groups = regress.Ungrouped(own)
		}
		f := must.Get(r.Fit(s))(t)

		mean := make([]float64, c)
		for k := range mean {
			mean[k] = mat.Sum(y.ColView(k)) / float64(n)
		}
		// conditional returns the mean of the process at place, given the labels at places.
		conditional := func(places []int, place int) []float64 {
			out := slices.Clone(mean)
			if len(places) == 0 {
				return out
			}
			all := p.covariances(s, append(slices.Clone(places), place))
			m := len(places)
			var solved mat.Dense
			less := mat.NewDense(m, c, nil)
			for a, i := range places {
				for k := range c {
					less.Set(a, k, y.At(i, k)-mean[k])
				}
			}
			must.Do(t, solved.Solve(all.SliceSym(0, m), less))
			for a := range places {
				for k := range c {
					out[k] += all.At(m, a) * solved.At(a, k)
				}
			}
			return out
		}
		for i := range own {
			var others []int
			for j := range n {
				of, group := j-p.target, r.Groups.Group
				if together := of == i || of >= 0 && group != nil && group[of] == group[i]; !together {
					others = append(others, j)
				}
			}
			for k, want := range conditional(others, p.target+i) {
				must.Hold(t, math.Abs(f.Left.At(i, k)-want) < 1e-8, "row %d, left out, is %g, expected %g", i, f.Left.At(i, k), want)
			}
		}
		p.x, p.source = append(p.x, p.x[0]), append(p.source, p.source[n-1]) // a new row of the target
		for k, want := range conditional(upTo(n), n) {
			got := f.Bias[k]
			for j := range n {
				got += f.Weight.At(j, k) * math.Exp(-p.square(n, j)/s.Width)
			}
			must.Hold(t, math.Abs(got-want) < 1e-8, "a new row is %g, expected %g", got, want)
		}
	}
}

// Between settings, NegLogLik differs by what -log of the normal likelihood differs by, each at its most likely common factor.
func TestUnlikely(t *testing.T) {
	rng := testrand.New(t)
	const n, c = 20, 2
	p := somePoints(rng, n, 5, 3, 2)
	y := mat.NewDense(n, c, nil)
	for i := range n {
		for k := range c {
			y.Set(i, k, rng.NormFloat64())
		}
	}
	for k := range c { // Fit subtracts the mean
		mean := mat.Sum(y.ColView(k)) / n
		for i := range n {
			y.Set(i, k, y.At(i, k)-mean)
		}
	}
	negLogLik := func(s Settings) (fit, direct float64) {
		k := p.covariances(s, upTo(n))
		var solved mat.Dense
		must.Do(t, solved.Solve(k, y))
		square := 0.0
		for i := range n {
			for c := range c {
				square += y.At(i, c) * solved.At(i, c)
			}
		}
		logDet, _ := mat.LogDet(k)
		factor := square / (n * c) // the most likely one
		direct = 0.5 * (n*c*math.Log(2*math.Pi*factor) + c*logDet + square/factor)
		return must.Get(p.rows(upTo(n), y).Fit(s))(t).NegLogLik, direct
	}
	first, want := negLogLik(Settings{1, 0.5, 0.1, 0.3})
	for range 10 {
		fit, direct := negLogLik(Settings{math.Exp(rng.NormFloat64()), rng.Float64(), rng.Float64(), 0.01 + rng.Float64()})
		must.Hold(t, math.Abs(fit-first-direct+want) < 1e-8, "the difference is %g, expected %g", fit-first, direct-want)
	}
}

// Features that are not finite are refused.
func TestFitNotFinite(t *testing.T) {
	p := somePoints(testrand.New(t), 5, 2, 2, 1)
	p.x[1][0] = math.NaN()
	_, err := p.rows(upTo(5), mat.NewDense(5, 1, nil)).Fit(Settings{1, 1, 0.1, 0.1})
	must.Fail(t, "NaN", err, "finite")
}
