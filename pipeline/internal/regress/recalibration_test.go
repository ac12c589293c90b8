package regress

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// someRecalibration returns priors of the intercepts of c classes, and in three of four cases one of the slope.
func someRecalibration(rng *rand.Rand, c int) Recalibration {
	var by Recalibration
	for range c {
		by.B = append(by.B, 0.1+rng.Float64())
	}
	if rng.IntN(4) > 0 {
		by.Eta = 0.1 + 3*rng.Float64()
	}
	if rng.IntN(2) > 0 {
		by.Lever = rng.Float64()
	}
	return by
}

// Intercepts and a slope of at least 1 minimise the objective. The logits of a sample that is left out are recalibrated by the samples of
// the other folds, which contain no sample of its group.
func TestRecalibration(t *testing.T) {
	rng := testrand.New(t)
	steeper := 0
	for turn := range 30 {
		n, c := 12+rng.IntN(40), 1+turn%4
		l := Logits{Rest: float64(b2i(c == 1 || turn%2 == 0))}
		z, class, by, groups := dense(rng, n, c), make([]int, n), someRecalibration(rng, c), someGroups(rng, n)
		steep := math.Exp(rng.NormFloat64())
		mean := make([]float64, c)
		for i := range class {
			truth := slices.Clone(z.RawRowView(i))
			floats.AddScaled(mean, 1/float64(n), truth)
			floats.Scale(steep, truth)
			if class[i] = drawClass(rng, l, truth); rng.IntN(6) == 0 {
				class[i] = NoLabel
			}
		}
		logits := func(p []float64, i int) []float64 { // p holds b and the slope
			out := make([]float64, c)
			for k := range out {
				out[k] = mean[k] + p[c]*(z.At(i, k)-mean[k]) + p[k]
			}
			return out
		}
		// plain returns the least of the objective without some samples, with a slope or without.
		plain := func(slope bool, without func(i int) bool) []float64 {
			objective := func(p []float64) (sum float64) {
				if p = slices.Clone(p); !slope {
					p[c] = 1
				} else {
					sum = (p[c] - 1) * (p[c] - 1) / 2 / by.Eta
				}
				for k, v := range p[:c] {
					sum += v * v / 2 / (by.B[k] + by.Lever) // the weight is 1
				}
				for i, of := range class {
					if !without(i) {
						sum += l.Loss(logits(p, i), of)
					}
				}
				return sum
			}
			found, _ := optimize.Minimize(optimize.Problem{
				Func: objective,
				Grad: func(grad, at []float64) { fd.Gradient(grad, objective, at, &fd.Settings{Formula: fd.Central}) },
			}, append(make([]float64, c), 1), &optimize.Settings{GradientThreshold: 1e-5}, &optimize.BFGS{})
			return found.X
		}
		m := NewMultinomial(l, z, class, groups, NoRoot(n), by)
		found := must.Get(m.Fit(t.Context(), m.Origin(), 1))(t)
		slope := by.Eta > 0
		want := plain(slope, func(int) bool { return false })
		if slope && want[c] < 1 {
			slope = false
			want = plain(slope, func(int) bool { return false })
		}
		steeper += b2i(slope)
		for k, v := range append(found.B, found.Eta) {
			isNear(t, v, want[k], 1e-3*math.Max(1, math.Abs(want[k])), fmt.Sprintf("number %d of %d classes", k, c))
		}
		fold := Stratified(class, groups)
		for f := range slices.Max(fold) + 1 {
			of := plain(slope, func(i int) bool { return fold[i] == f })
			for i := range fold {
				for k, want := range logits(of, i) {
					must.Hold(t, fold[i] != f || math.Abs(found.Left.At(i, k)-want) < 1e-2*math.Max(1, math.Abs(want)),
						"left out, the logit is %g, expected %g", found.Left.At(i, k), want)
				}
			}
		}
	}
	must.Hold(t, steeper > 3, "%d of 30 slopes are above 1", steeper)
}

// With many samples the slope is the one that the classes were drawn with, but at least 1.
func TestSlopeOfManySamples(t *testing.T) {
	rng := testrand.New(t)
	for _, steep := range []float64{0, 0.5, 1.5, 3} {
		const n, c = 4000, 3
		z, class := dense(rng, n, c), make([]int, n)
		for i := range class {
			truth := slices.Clone(z.RawRowView(i))
			floats.Scale(steep, truth)
			class[i] = drawClass(rng, Logits{}, truth)
		}
		m := NewMultinomial(Logits{}, z, class, Groups{}, NoRoot(n), Recalibration{B: []float64{1, 1, 1}, Eta: 1})
		found := must.Get(m.Fit(t.Context(), m.Origin(), 1))(t)
		isNear(t, found.Eta, math.Max(1, steep), 0.15*math.Max(1, steep), "the slope")
	}
}

// Logits of any size have a finite recalibration. Where one is NaN or infinite, the left-out logits show it.
func TestRecalibrationOfAnySize(t *testing.T) {
	fit := func(z []float64) *LeftOut {
		by := Recalibration{B: []float64{1, 1}, Eta: 1}
		m := NewMultinomial(Logits{}, mat.NewDense(4, 2, z), []int{0, 1, 0, 1}, Groups{}, NoRoot(4), by)
		return must.Get(m.Fit(t.Context(), m.Origin(), 1))(t)
	}
	for _, far := range []float64{-1e300, -1e154, -1e4, -800, 0, 800, 1e4, 1e154, 1e300} {
		for _, z := range [][]float64{{far, far, 1, 0, 0, 1, 0, 0}, {far, 0, 1, 0, 0, 1, 0, 0}} {
			found := fit(z)
			must.Hold(t, !floats.HasNaN(append(found.B, found.Eta)) && !floats.HasNaN(found.Left.RawMatrix().Data),
				"at %g intercepts are %v, the slope %g, logits %v", far, found.B, found.Eta, found.Left.RawMatrix().Data)
		}
	}
	for _, beyond := range []float64{math.NaN(), math.Inf(1)} {
		left := fit([]float64{beyond, 0, 1, 0, 0, 1, 0, 0}).Left.RawMatrix().Data
		must.Hold(t, floats.HasNaN(left) || slices.ContainsFunc(left, func(v float64) bool { return math.IsInf(v, 0) }),
			"with %g left-out logits are %v", beyond, left)
	}
}
