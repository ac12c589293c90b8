package regress

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// drawClass draws a class by the probabilities of the logits z, and returns NoClass with the rest of the probability.
func drawClass(rng *rand.Rand, l Logits, z []float64) int {
	p, at := slices.Clone(z), rng.Float64()
	l.probabilities(p)
	for c, v := range p {
		if at -= v; at < 0 {
			return c
		}
	}
	if l.Rest > 0 {
		return NoClass
	}
	return len(z) - 1
}

// Shifts minimise the penalised loss. The left-out logits of a row have the shifts of a fit without the row, up to the error of one step of
// Newton's method.
func TestShifts(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 20 {
		n, c := 20+rng.IntN(30), 1+turn%4
		l := Logits{Rest: float64(b2i(c == 1 || turn%2 == 0))}
		z, class, variance := mat.NewDense(n, c, nil), make([]int, n), make([]float64, c)
		for k := range variance {
			variance[k] = math.Exp(rng.NormFloat64())
		}
		for i := range class {
			truth := make([]float64, c)
			for k := range c {
				z.Set(i, k, 2*rng.NormFloat64())
				truth[k] = z.At(i, k) + float64(1-k)
			}
			if class[i] = drawClass(rng, l, truth); rng.IntN(6) == 0 {
				class[i] = NoLabel
			}
		}
		loss := func(b []float64) float64 {
			sum := 0.0
			for k, v := range b {
				sum += v * v / (2 * variance[k])
			}
			for i, of := range class {
				if row := slices.Clone(z.RawRowView(i)); of != NoLabel {
					floats.Add(row, b)
					sum += l.Loss(row, of)
				}
			}
			return sum
		}
		b, left := l.Shifts(z, class, variance, Groups{})
		for k := range b {
			for _, by := range []float64{-1e-3, 1e-3} {
				other := slices.Clone(b)
				other[k] += by
				must.Hold(t, loss(b) <= loss(other), "shifts %v are not the best", b)
			}
		}
		for i := range class {
			others := slices.Clone(class)
			others[i] = NoLabel
			without, _ := l.Shifts(z, others, variance, Groups{})
			change := floats.Distance(without, b, 2) // the error of one step is a fraction of the square of this
			for k, v := range without {
				must.Hold(t, math.Abs(left.At(i, k)-z.At(i, k)-v) <= 0.5*change*change+1e-6, "class %d without row %d: %g, expected %g of %g",
					k, i, left.At(i, k)-z.At(i, k), v, b[k])
			}
		}
	}
}

// Odds returns the log-odds of the probabilities. With classes drawn by these probabilities, LevelOf tells log-odds, whose level is 0, from
// logits, whose level is so low that a sigmoid is nearly an exponential.
func TestLevels(t *testing.T) {
	rng := testrand.New(t)
	const n, c = 4000, 4
	asLogits, asOdds, class := make([][]float64, c), make([][]float64, c), make([]int, n)
	for i := range n {
		z := normals(rng, c)
		floats.Scale(3, z)
		p := slices.Clone(z)
		Logits{}.probabilities(p)
		for k, v := range (Logits{}).Odds(z) {
			isNear(t, Sigmoid(v), p[k], 1e-12, "the probability by log-odds")
			asLogits[k], asOdds[k] = append(asLogits[k], z[k]+1), append(asOdds[k], v)
		}
		class[i] = drawClass(rng, Logits{}, z)
	}
	must.Hold(t, LevelOf(asOdds, class) == 0, "log-odds are at level %g", LevelOf(asOdds, class))
	must.Hold(t, LevelOf(asLogits, class) <= -8, "logits are at level %g", LevelOf(asLogits, class))
}

// Logits of any size, also where all are far below 0, have a loss, its derivative and shifts. Where a logit is NaN or infinite, shifts are
// NaN.
func TestLogitsOfAnySize(t *testing.T) {
	l := Logits{}
	for _, far := range []float64{-1e300, -1e4, -800, 0, 800, 1e4, 1e300} {
		z := []float64{far, far}
		loss := l.Loss(z, 0)
		isNear(t, loss, math.Ln2, 1e-12*math.Abs(far)+1e-12, "the loss of one of two")
		must.Hold(t, z[0] == -0.5 && z[1] == 0.5, "its derivative at %g is %v", far, z)
		b, left := l.Shifts(mat.NewDense(2, 2, []float64{far, far, 1, 0}), []int{0, 1}, []float64{1, 1}, Groups{})
		must.Hold(t, !floats.HasNaN(b) && !floats.HasNaN(left.RawMatrix().Data), "at %g shifts are %v", far, b)
	}
	for _, beyond := range []float64{math.NaN(), math.Inf(1)} {
		for _, l := range []Logits{{}, {Rest: 1}} {
			b, _ := l.Shifts(mat.NewDense(2, 2, []float64{beyond, 0, 1, 0}), []int{0, 1}, []float64{1, 1}, Groups{})
			must.Hold(t, floats.HasNaN(b), "with %g shifts are %v", beyond, b)
		}
	}
}

// The level of logits about far is at most -far - 4, also where they are large, and where a sample lacks some of the heads (NaN).
func TestLevelOfLargeLogits(t *testing.T) {
	rng := testrand.New(t)
	for _, far := range []float64{0, 40, 300} {
		const n, c = 4000, 4
		heads, class := make([][]float64, c), make([]int, n)
		for i := range n {
			z := normals(rng, c)
			floats.Scale(3, z)
			floats.AddConst(far, z)
			class[i] = drawClass(rng, Logits{}, z)
			for k, v := range z {
				if i == 0 && k != class[i] {
					v = math.NaN()
				}
				heads[k] = append(heads[k], v)
			}
		}
		level := LevelOf(heads, class)
		must.Hold(t, level <= -far-4 && level >= -4*far-32, "logits about %g are at level %g", far, level)
	}
}
