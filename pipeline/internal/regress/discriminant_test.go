package regress

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The cut makes hardly more errors than the best cut, where 0.5 makes at least twice as many. Where the predictions say nothing about the
// classes, the slope is 0 and the cut 0.5.
func TestCut(t *testing.T) {
	rng := testrand.New(t)
	var f, y []float64
	for i := range 4000 {
		c := 0.0
		if i%10 == 0 {
			c = 1
		}
		f, y = append(f, 0.1+0.25*c+0.08*rng.NormFloat64()), append(y, c)
	}
	errors := func(at float64) (n int) {
		for i := range f {
			if (f[i] > at) != (y[i] > 0.5) {
				n++
			}
		}
		return n
	}
	best := len(f)
	for at := 0.0; at < 0.6; at += 0.005 {
		best = min(best, errors(at))
	}
	// The best cut is chosen after the fact: it gains what the noise of a count allows.
	margin := 1.1*float64(best) + 4*math.Sqrt(float64(best))
	slope, cut := Discriminant(f, y, Groups{})
	if got := errors(cut); float64(got) > margin || errors(0.5) < 2*best {
		t.Errorf("the cut at %g makes %d errors, the best %d, 0.5 %d", cut, got, best, errors(0.5))
	}
	if want := 0.25 / (0.08 * 0.08); !near(slope/want, 1, 0.15) { // some five standard errors
		t.Errorf("the slope is %g, want %g", slope, want)
	}
	for what, c := range map[string][2][]float64{
		"one class":      {{0, 1, 2}, {1, 1, 1}},
		"one positive":   {{0, 1, 2}, {0, 0, 1}},
		"wrong way":      {{1, 1.5, 0, 0.5}, {0, 0, 1, 1}},
		"nothing at all": {nil, nil},
	} {
		if slope, cut := Discriminant(c[0], c[1], Groups{}); slope != 0 || cut != 0.5 {
			t.Errorf("%s: slope %g and cut %g, want 0 and 0.5", what, slope, cut)
		}
	}
}

// TestDiscriminantOfSureRows has predictions that separate the classes, in small and large units and with spreads down to rounding. The
// slope is that of normal classes with 1/2n of the rows on the wrong side, and the cut is halfway between the classes.
func TestDiscriminantOfSureRows(t *testing.T) {
	rng := testrand.New(t)
	for _, spread := range []float64{0, 1e-17, 1e-12, 1e-6, 1e-3} {
		for _, unit := range []float64{1e-9, 1, 1e9} {
			n := 4 + rng.IntN(500)
			f, y := make([]float64, n), make([]float64, n)
			for i := range f {
				y[i] = float64(i % 2)
				f[i] = unit * (0.3 + 0.4*y[i] + spread*rng.NormFloat64())
			}
			slope, cut := Discriminant(f, y, Groups{})
			// Of normal predictions with that slope, 1/2n are beyond the midpoint of the means.
			s := math.Sqrt(0.4 * unit / slope)
			if wrong := distuv.UnitNormal.CDF(-0.2 * unit / s); !near(wrong*2*float64(n), 1, 0.05) {
				t.Errorf("n = %d, spread %g, unit %g: with slope %g %g are on the wrong side", n, spread, unit, slope, wrong)
			}
			if !near(cut/unit, 0.5, 0.01) {
				t.Errorf("n = %d, spread %g, unit %g: cut %g, expected %g", n, spread, unit, cut, 0.5*unit)
			}
		}
	}
}

// Predictions that differ only by rounding give slope 0 and cut 0.5.
func TestDiscriminantOfRounding(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		y, f, level := []float64{0, 1, 0, 1, 1, 0}, make([]float64, 6), math.Pow(10, 6*rng.NormFloat64())
		for i := range f {
			f[i] = level * (1 + 1e-15*rng.NormFloat64())
		}
		if slope, cut := Discriminant(f, y, Groups{}); slope != 0 || cut != 0.5 {
			t.Fatalf("predictions %v: slope %g, cut %g", f, slope, cut)
		}
	}
}

// The leave-one-out log-odds of each row are those of the discriminant of the other rows. They are finite too where a class has two rows,
// and where the other rows do not tell the classes apart.
func TestDiscriminantLeft(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		n, apart, unit := 5+rng.IntN(40), 2*rng.Float64(), math.Pow(10, 3*rng.NormFloat64())
		f, y := make([]float64, n), make([]float64, n)
		for i := range f {
			if y[i] = float64(rng.IntN(2)); i < 5 {
				y[i] = float64(i % 2) // two of each, or more
			}
			f[i] = unit * (rng.NormFloat64() + apart*y[i] + 10)
		}
		for i, got := range DiscriminantLeft(f, y, Groups{}) {
			others, labels := slices.Delete(slices.Clone(f), i, i+1), slices.Delete(slices.Clone(y), i, i+1)
			want := 0.0
			if slope, cut := Discriminant(others, labels, Groups{}); slope > 0 {
				want = slope * (f[i] - cut)
			} else {
				for _, v := range labels {
					want += v
				}
				want = math.Log(want / (float64(n-1) - want))
			}
			must.Hold(t, near(got, want, 1e-9) || math.Abs(got-want) < 1e-9, "row %d of %d: %g, expected %g", i, n, got, want)
		}
	}
	for _, f := range [][]float64{{0, 1, 2, 3}, {0, 0, 1, 1}, {0, 0, 0, 0}, {3, 2, 1, 0}} {
		left := DiscriminantLeft(f, []float64{0, 0, 1, 1}, Groups{})
		must.Hold(t, !slices.ContainsFunc(left, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }), "%v: %v", f, left)
	}
}
