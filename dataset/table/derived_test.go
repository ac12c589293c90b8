package table

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Each knot adds the distance from it, for any type of features. The distance keeps the digits that float32 loses, and is missing where the
// feature is missing.
func TestExpandKnots(t *testing.T) {
	d := Derived{Knots: Knots{{-1.5, 4}, {}, {1_700_000_000.5}}}
	must.Equal(t, d.Count(), 3, "knots")
	must.EqualSlices(t, d.Names([]string{"a", "b", "c"}), []string{"|a + 1.5|", "|a - 4|", "|c - 1.7000000005e+09|"}, "names")
	whole := Derived{Knots: Knots{{1 << 30, 1073741800}}}
	must.EqualSlices(t, whole.Names([]string{"t"}), []string{"|t - 1073741824|", "|t - 1073741800|"}, "whole numbers")
	var v, wide Vectors
	for range 2 { // the second call overwrites wide: nothing of the first may remain
		v = Vectors{Width: 4}
		for _, x := range []float64{1, math.NaN(), 1_700_000_001, 7, math.NaN(), 2, 3, 8} {
			v.push(x)
		}
		d.Expand(&wide, &v)
	}
	must.Equal(t, wide.Width, 7, "width")
	for i, want := range []float64{
		1, math.NaN(), 1_700_000_001, 7, 2.5, 3, 0.5, math.NaN(), 2, 3, 8, math.NaN(), math.NaN(), 1_699_999_997.5,
	} {
		got := wide.Wide(i)
		must.Hold(t, got == want || got != got && want != want, "element %d is %g, want %g", i, got, want)
	}
	two := Derived{Knots: Knots{{2}}}
	two.Expand(&wide, &Vectors{Width: 1, U8: []uint8{1, 255}})
	must.EqualSlices(t, wide.F32, []float32{1, 1, 255, 253}, "bytes")
}

// Each pair of factors adds their product, behind what knots add. A factor counts from the middle of its range, does not leave it, and
// makes the product missing where it is missing.
func TestExpandProducts(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		width, rows := 1+rng.IntN(6), 1+rng.IntN(4)
		d, names := Derived{}, make([]string, width)
		for j := range width {
			names[j] = string(rune('a' + j))
			var of []float64
			for range rng.IntN(3) {
				of = append(of, 10*rng.Float64()+float64(len(of))*10)
			}
			d.Knots = append(d.Knots, of)
			if rng.IntN(3) > 0 {
				low := rng.NormFloat64()
				d.Factors = append(d.Factors, Factor{j, low, low + rng.ExpFloat64()})
			}
		}
		v, wide := Vectors{Width: width}, Vectors{}
		for range width * rows {
			v.push([]float64{math.NaN(), 2 * rng.NormFloat64(), 2 * rng.NormFloat64(), 2 * rng.NormFloat64()}[rng.IntN(4)])
		}
		all := append(slices.Clone(names), d.Names(names)...)
		must.Do(t, d.Check(all))
		d.Expand(&wide, &v)
		must.Equal(t, wide.Width, len(all), "width")
		for i := range rows {
			at := width + d.Knots.Count()
			for k, f := range d.Factors {
				for _, g := range d.Factors[k+1:] {
					x, y := v.Element(i*width+f.Feature), v.Element(i*width+g.Feature)
					want := (math.Max(f.Low, math.Min(f.High, x)) - (f.Low+f.High)/2) * (math.Max(g.Low, math.Min(g.High, y)) - (g.Low+g.High)/2)
					got := wide.Element(i*wide.Width + at)
					must.Hold(t, math.Abs(got-want) <= 1e-6*math.Abs(want) || got != got && want != want, "%s of %g and %g is %g, want %g", all[at], x,
						y, got, want)
					must.Equal(t, all[at], names[f.Feature]+" × "+names[g.Feature], "name")
					at++
				}
			}
			must.Equal(t, at, wide.Width, "features of a row")
		}
	}
}

// The limits of a factor leave out a hundredth of the values at each end, lie among the values, and change sign with them. Few values,
// or few that differ, have the least and the largest, and a constant is no factor.
func TestFactorOf(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		most := 1 + rng.IntN([]int{3, 400}[rng.IntN(2)])
		values := make([]float64, 1+rng.IntN(500))
		for i := range values {
			values[i] = float64(rng.IntN(most)) - 0.25*float64(most)
		}
		reversed := make([]float64, len(values))
		for i, v := range values {
			reversed[i] = -v
		}
		f, varies := FactorOf(3, values)
		g, other := FactorOf(3, reversed)
		least, largest := slices.Min(values), slices.Max(values)
		must.Equal(t, varies, least < largest, "whether values from least to largest vary")
		must.Hold(t, other == varies && g.Low == -f.High && g.High == -f.Low, "limits %v, the other way round %v", f, g)
		if !varies {
			continue
		}
		must.Hold(t, f.Feature == 3 && f.Low < f.High && f.Low >= least && f.High <= largest, "limits %v of %g to %g", f, least, largest)
		below, above := 0, 0 // without the least and the largest, however often they occur
		for _, v := range values {
			below, above = below+b2i(v > least && v < f.Low), above+b2i(v < largest && v > f.High)
		}
		must.Hold(t, max(below, above) <= len(values)/100, "of %d values %d are below and %d above %v", len(values), below, above, f)
	}
	for _, c := range []struct {
		values []float64
		want   Factor
	}{{[]float64{1, 0, 1, 0}, Factor{0, 0, 1}}, {[]float64{3, 1, 2}, Factor{0, 1, 3}}} {
		f, varies := FactorOf(0, c.values)
		must.Hold(t, varies && f == c.want, "limits of %v: %v", c.values, f)
	}
	_, varies := FactorOf(0, nil)
	must.Hold(t, !varies, "nothing varies")
}

// Knots and factors that do not fit the names of the features are refused, whatever was changed.
func TestCheckDerived(t *testing.T) {
	features := []string{"a", "b", "w=x", "|a - 1|", "|a - 2|", "|b + 3|", "a × b"}
	ab := []Factor{{0, 0, 1}, {1, -1, 1}}
	must.Do(t, (&Derived{Knots{{1, 2}, {-3}}, ab}).Check(features))
	must.Do(t, (&Derived{}).Check(features))
	for name, c := range map[string]struct {
		derived Derived
		want    string
	}{
		"another":     {Derived{Knots{{1, 2}, {3}}, ab}, "expected a feature for each knot and product, |b - 3|, found |b + 3|"},
		"moved":       {Derived{Knots{{1}, {2, -3}}, ab}, "knots of b: expected finite numbers that ascend, found [2 -3]"},
		"elsewhere":   {Derived{Knots{{1, 2}, {}, {-3}}, ab}, "expected a feature for each knot and product, |w=x + 3|, found |b + 3|"},
		"fewer":       {Derived{Knots{{1, 2}}, ab}, "expected a feature for each knot and product, |a - 1|, found |a - 2|"},
		"more":        {Derived{Knots{{1, 2, 3, 4, 5, 6, 7}}, ab}, "first of 7 features, found 1 lists of 7 knots in all, and 2 factors"},
		"lists":       {Derived{Knots{{}, {}, {}, {1}}, ab}, "expected a feature for each knot"},
		"many lists":  {Derived{Knots{{1}, {}, {}, {}, {}, {}}, ab}, "found 6 lists of 1 knots"},
		"descending":  {Derived{Knots{{2, 1}, {-3}}, ab}, "knots of a: expected finite numbers that ascend"},
		"twice":       {Derived{Knots{{1, 1}, {-3}}, ab}, "that ascend"},
		"NaN":         {Derived{Knots{{math.NaN(), 1}, {-3}}, ab}, "knots of a: expected finite numbers"},
		"no factors":  {Derived{Knots{{1, 2}, {-3}}, nil}, "expected a feature for each knot and product, |a - 1|, found |a - 2|"},
		"one twice":   {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[1], ab[1]}}, "factors: expected different ones of the first 3 features"},
		"reversed":    {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[1], ab[0]}}, "in their order, found 0"},
		"no feature":  {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[0], {3, 0, 1}}}, "factors: expected different ones of the first 3 features"},
		"negative":    {Derived{Knots{{1, 2}, {-3}}, []Factor{{-1, 0, 1}, ab[1]}}, "found -1"},
		"word":        {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[0], {2, 0, 1}}}, "a × w=x, found a × b"},
		"one value":   {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[0], {1, 1, 1}}}, "factor b: expected two finite limits that ascend, found 1"},
		"no limit":    {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[0], {1, math.NaN(), 1}}}, "factor b: expected two finite limits"},
		"without end": {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[0], {1, 0, math.Inf(1)}}}, "factor b: expected two finite limits"},
	} {
		must.Fail(t, name, c.derived.Check(features), c.want)
	}
}
