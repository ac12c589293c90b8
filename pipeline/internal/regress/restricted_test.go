package regress

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// With a free intercept (a kappa above 0) the restricted likelihood is that of the n - 1 contrasts of the labels; with a prior of the
// intercept (kappa 0) it is the likelihood of the labels. Either agrees up to a constant that all its kappas and lambdas share.
func TestRestrictedLikelihood(t *testing.T) {
	rng := testrand.New(t)
	for _, shape := range [][3]int{{12, 30, 3}, {40, 7, 3}, {9, 9, 12}, {25, 4, 30}} {
		n, d := shape[0], shape[1]
		x, a, y := dense(rng, n, d), dense(rng, n, shape[2]), dense(rng, n, 2)
		if shape[2] == 3 { // far from 0, which a free intercept takes up
			for i := range n {
				y.Set(i, 0, y.At(i, 0)+100)
			}
		}
		rho := 3 * rng.Float64()
		k := must.Get(NewKernelRidge(rowsApart(mat.DenseCopyOf(x)), a, y, rho, LeastPower))(t)
		k.normal = true
		contrasts := mat.NewDense(n, n, nil) // a constant column, and n - 1 orthonormal columns orthogonal to it
		for i := range n {
			contrasts.Set(i, i, 1)
			contrasts.Set(i, 0, 1)
		}
		must.Do(t, linalg.Orthonormalize(contrasts))
		first := map[bool]float64{}
		for _, kappa := range []float64{0, 0.1, 1, 10} {
			for _, mu := range []float64{0.05, 0.3, 20} {
				lambda, prior := mu, rho
				var onto mat.Matrix = mat.NewDiagDense(n, slices.Repeat([]float64{1}, n))
				if kappa > 0 {
					lambda *= kappa / (1 + kappa)
					prior, onto = 0, contrasts.Slice(0, n, 1, n).T()
				}
				system := kernelOf(x, a, kappa, lambda, prior)
				for i := range n {
					system.Set(i, i, system.At(i, i)+lambda)
				}
				var of, labels, solved mat.Dense
				of.Product(onto, system, onto.T())
				labels.Mul(onto, y)
				must.Do(t, solved.Solve(&of, &labels))
				det, _ := mat.LogDet(&of)
				square, size := 0.0, float64(of.RawMatrix().Rows)
				for o := range 2 {
					square += mat.Dot(labels.ColView(o), solved.ColView(o))
				}
				want := -size*math.Log(square) - det
				fit := k.atShift(kappa, mu)
				got := -(fit.Criterion - float64(n)*math.Log(fit.Loo)) * float64(n) / restrictedSamples
				if is, known := first[kappa > 0]; !known {
					first[kappa > 0] = got - want
				} else if !near(got-want, is, 1e-3) {
					t.Errorf("n=%d d=%d kappa %g mu %g: the likelihood is %g, want %g", n, d, kappa, mu, got, want+is)
				}
			}
		}
	}
}

// With few samples, a lambda that the restricted likelihood chooses too, rather than leave-one-out alone, predicts fresh rows better, also
// where the labels are not what the kernel takes them to be: they depend on few features, have outliers, or are not linear.
func TestLikelihoodChoosesBetter(t *testing.T) {
	rng := testrand.New(t)
	const turns, fresh = 500, 100
	sum := 0.0
	for _, of := range []struct {
		name  string
		n, d  int
		noise float64
		what  func(x []float64, w []float64) float64
	}{
		{"as many features as samples, noisy", 15, 16, 1.5, linalg.Dot},
		{"as many features as samples", 60, 64, 0.5, linalg.Dot},
		{"more features than samples", 20, 40, 0.5, linalg.Dot},
		{"three of forty features", 30, 40, 0.5, func(x, w []float64) float64 { return 3 * linalg.Dot(x[:3], w[:3]) }},
		{"a fifth of the labels far off", 30, 20, -1, linalg.Dot},
		{"bent", 30, 10, 0.3, func(x, w []float64) float64 { return math.Abs(x[0]) + x[1] + x[2]*x[3] }},
		{"many samples", 200, 20, 0.5, linalg.Dot},
	} {
		errs := map[bool]float64{}
		for range turns {
			x, other := dense(rng, of.n, of.d), dense(rng, fresh, of.d)
			w := make([]float64, of.d)
			for j := range w {
				w[j] = rng.NormFloat64() / math.Sqrt(float64(of.d))
			}
			y, mean := mat.NewDense(of.n, 1, nil), 0.0
			for i := range of.n {
				noise := of.noise * rng.NormFloat64()
				if of.noise < 0 {
					if noise = 0.3 * rng.NormFloat64(); rng.IntN(5) == 0 {
						noise *= 10
					}
				}
				y.Set(i, 0, of.what(x.RawRowView(i), w)+noise)
				mean += y.At(i, 0) / float64(of.n)
			}
			linalg.Centre(y)
			for _, normal := range []bool{false, true} {
				_, rows, head := chosen(t, x, y, normal)
				for i := range fresh {
					row := other.RawRowView(i)
					e := mean - of.what(row, w)
					for j, v := range row {
						e += (v - rows.Mean[j]) * head.At(j, 0)
					}
					errs[normal] += e * e / turns / fresh
				}
			}
		}
		t.Logf("%d samples of %d features, %s: excess error %.3f, by leave-one-out alone %.3f", of.n, of.d, of.name, errs[true], errs[false])
		sum += math.Log(errs[true] / errs[false])
		must.Hold(t, errs[true] < 1.1*errs[false], "%s: an error of %g, by leave-one-out alone %g", of.name, errs[true], errs[false])
	}
	must.Hold(t, sum < -0.15, "the errors are %g times those by leave-one-out alone", math.Exp(sum/7))
}

// chosen regresses y on x alone, as the baseline target does. It returns the fit, the rows, and the weights, d by C, of the features less
// their mean.
func chosen(t *testing.T, x, y *mat.Dense, normal bool) (KernelFit, *Rows, *mat.Dense) {
	r := Regression{Rows: rowsApart(mat.DenseCopyOf(x)), Y: y, Rho: math.Inf(1), Least: LeastPower, Kappas: []float64{1}, Lambda: Chosen,
		Normal: normal}
	fit := must.Get(r.Search())(t).Fit
	head := r.Rows.Across(fit.Alpha)
	head.Scale(0.5/r.Rows.Trace, head)
	return fit, r.Rows, head
}

// Labels that follow a direction in which features hardly vary are learned too. The large lambda that ignores them is a local minimum of
// the criterion, from which no small step leads on.
func TestLikelihoodOfSmallDirections(t *testing.T) {
	rng := testrand.New(t)
	sum := 0.0
	for range 30 {
		const n, d, spread = 20, 6, 0.15
		x, y := dense(rng, n, d), mat.NewDense(n, 1, nil)
		for i := range n {
			e := x.At(i, 1)
			x.Set(i, 1, x.At(i, 0)+spread*e)
			y.Set(i, 0, e+0.2*rng.NormFloat64())
		}
		linalg.Centre(y)
		_, _, head := chosen(t, x, y, true)
		for j := range d { // e has the weights -1/spread and 1/spread
			w := []float64{-1 / spread, 1 / spread, 0, 0, 0, 0}[j] - head.At(j, 0)
			if j < 2 {
				w *= spread
			}
			sum += w * w / 30
		}
	}
	must.Hold(t, sum < 0.5, "the weights of the direction are off by %g", sum)
}

// A constant column of labels does not change the lambda of the column beside it.
func TestLikelihoodBesideConstant(t *testing.T) {
	rng := testrand.New(t)
	for range 10 {
		x, y := dense(rng, 20, 8), mat.NewDense(20, 2, nil)
		for i, v := range dense(rng, 20, 1).RawMatrix().Data {
			y.Set(i, 0, v+x.At(i, 0))
		}
		linalg.Centre(y)
		both, _, _ := chosen(t, x, y, true)
		alone, _, _ := chosen(t, x, mat.DenseCopyOf(y.Slice(0, 20, 0, 1)), true)
		must.Equal(t, both.Lambda, alone.Lambda, "lambda beside a column of one number")
	}
}
