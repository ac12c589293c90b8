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

// Each pair of factors adds their product, behind what knots add. A factor counts from its mean in its own unit, does not leave its
// range, and makes the product missing where it is missing.
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
				low, width := rng.NormFloat64(), rng.ExpFloat64()
				d.Factors = append(d.Factors, Factor{j, low, low + width, low + width*rng.Float64(), width * (0.1 + rng.Float64()/2)})
			}
		}
		v, wide := Vectors{Width: width}, Vectors{}
		for range width * rows {
			v.push([]float64{math.NaN(), 2 * rng.NormFloat64(), 2 * rng.NormFloat64(), 2 * rng.NormFloat64()}[rng.IntN(4)])
		}
		all := append(slices.Clone(names), d.Names(names)...)
		must.Do(t, d.Check(all, width))
		d.Expand(&wide, &v)
		must.Equal(t, wide.Width, len(all), "width")
		for i := range rows {
			at := width + d.Knots.Count()
			for k, f := range d.Factors {
				for _, g := range d.Factors[k+1:] {
					x, y := v.Element(i*width+f.Feature), v.Element(i*width+g.Feature)
					want := (math.Max(f.Low, math.Min(f.High, x)) - f.Mean) / f.Spread * (math.Max(g.Low, math.Min(g.High, y)) - g.Mean) / g.Spread
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

// The range of a factor leaves out a hundredth of the values at each end, or none where these would be all but one. Values that are cut to
// it have its mean and spread. It changes sign with the values, and does not depend on their unit. A constant is no factor.
func TestFactorOf(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		most := 1 + rng.IntN([]int{3, 400}[rng.IntN(2)])
		values, other := make([]float64, 1+rng.IntN(500)), []float64(nil)
		unit := []float64{1, -1, 1e-160, 1e160}[rng.IntN(4)]
		for i := range values {
			values[i] = float64(rng.IntN(most)) * float64(rng.IntN(2)) // half are 0
			other = append(other, unit*values[i])
		}
		f, varies := FactorOf(3, values)
		g, is := FactorOf(3, other)
		least, largest := slices.Min(values), slices.Max(values)
		must.Equal(t, varies, least < largest, "whether values from least to largest vary")
		must.Equal(t, is, varies, "whether they do in another unit")
		if !varies {
			continue
		}
		low, high := g.Low/unit, g.High/unit
		if unit < 0 {
			low, high = high, low
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*largest }
		must.Hold(t, near(low, f.Low) && near(high, f.High) && near(g.Mean/unit, f.Mean) && near(g.Spread/math.Abs(unit), f.Spread),
			"factor %v, in units of %g %v", f, unit, g)
		below, above, sum, squares := 0, 0, 0.0, 0.0
		for _, v := range values {
			below, above = below+b2i(v < f.Low), above+b2i(v > f.High)
			v = max(f.Low, min(f.High, v))
			sum, squares = sum+v, squares+(v-f.Mean)*(v-f.Mean)
		}
		n := float64(len(values))
		must.Hold(t, math.Abs(sum/n-f.Mean) <= 1e-9*largest, "the mean of %v", f)
		must.Hold(t, math.Abs(math.Sqrt(squares/n)-f.Spread) <= 1e-9*largest, "the spread of %v", f)
		must.Hold(t, f.Feature == 3 && max(below, above) <= len(values)/100, "of %d values %d are below and %d above %v", len(values), below,
			above, f)
		all := f.Low == least && f.High == largest
		at := slices.Clone(values)
		slices.Sort(at)
		must.Hold(t, all || at[len(at)/100] == f.Low && at[len(at)-1-len(at)/100] == f.High, "the range of %v", f)
		must.Do(t, (&Derived{Factors: []Factor{f, {4, 0, 1, 0.5, 0.5}}}).Check([]string{"a", "b", "c", "d", "e", "d × e"}, 5))
	}
	f, varies := FactorOf(0, []float64{1, 0, 1, 0})
	must.Hold(t, varies && f == Factor{0, 0, 1, 0.5, 0.5}, "two values: %v", f)
	_, varies = FactorOf(0, nil)
	must.Hold(t, !varies, "nothing varies")
}

// Knots and factors that do not fit the names of the features are refused, whatever was changed.
func TestCheckDerived(t *testing.T) {
	features := []string{"a", "b", "w=x", "|a - 1|", "|a - 2|", "|b + 3|", "a × b"}
	ab, bad := []Factor{{0, 0, 1, 0, 1}, {1, -1, 1, 1, 2}}, func(f Factor) []Factor { return []Factor{{0, 0, 1, 0, 1}, f} }
	must.Do(t, (&Derived{Knots{{1, 2}, {-3}}, ab}).Check(features, 2))
	must.Do(t, (&Derived{}).Check(features, len(features)))
	for name, c := range map[string]struct {
		derived Derived
		want    string
	}{
		"another":     {Derived{Knots{{1, 2}, {3}}, ab}, "expected a feature for each knot and product, |b - 3|, found |b + 3|"},
		"moved":       {Derived{Knots{{1}, {2, -3}}, ab}, "knots of b: expected finite numbers that ascend, found [2 -3]"},
		"of a word":   {Derived{Knots{{1, 2}, {}, {-3}}, ab}, "expected knots of the first 2 of 7 features, found 3 lists of 3 knots in all"},
		"fewer":       {Derived{Knots{{1, 2}}, ab}, "expected a feature for each knot and product, |a - 1|, found |a - 2|"},
		"more":        {Derived{Knots{{1, 2, 3, 4, 5, 6, 7}}, ab}, "the first 2 of 7 features, found 1 lists of 7 knots in all, and 1 products"},
		"descending":  {Derived{Knots{{2, 1}, {-3}}, ab}, "knots of a: expected finite numbers that ascend"},
		"twice":       {Derived{Knots{{1, 1}, {-3}}, ab}, "that ascend"},
		"NaN":         {Derived{Knots{{math.NaN(), 1}, {-3}}, ab}, "knots of a: expected finite numbers"},
		"no factors":  {Derived{Knots{{1, 2}, {-3}}, nil}, "expected a feature for each knot and product, |a - 1|, found |a - 2|"},
		"one twice":   {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[1], ab[1]}}, "factors: expected different ones of the first 2 features"},
		"reversed":    {Derived{Knots{{1, 2}, {-3}}, []Factor{ab[1], ab[0]}}, "in their order, found 0"},
		"negative":    {Derived{Knots{{1, 2}, {-3}}, []Factor{{-1, 0, 1, 0, 1}, ab[1]}}, "found -1"},
		"word":        {Derived{Knots{{1, 2}, {-3}}, bad(Factor{2, 0, 1, 0, 1})}, "factors: expected different ones of the first 2 features"},
		"one value":   {Derived{Knots{{1, 2}, {-3}}, bad(Factor{1, 1, 1, 1, 1})}, "factor b: expected a finite range with a mean and a spread"},
		"no limit":    {Derived{Knots{{1, 2}, {-3}}, bad(Factor{1, math.NaN(), 1, 1, 1})}, "factor b: expected a finite range"},
		"without end": {Derived{Knots{{1, 2}, {-3}}, bad(Factor{1, 0, math.Inf(1), 1, 1})}, "factor b: expected a finite range"},
		"mean":        {Derived{Knots{{1, 2}, {-3}}, bad(Factor{1, 0, 1, 2, 1})}, "found 0 to 1 with 2 and 1"},
		"no mean":     {Derived{Knots{{1, 2}, {-3}}, bad(Factor{1, 0, 1, math.NaN(), 1})}, "factor b: expected a finite range"},
		"no spread":   {Derived{Knots{{1, 2}, {-3}}, bad(Factor{1, 0, 1, 1, 0})}, "found 0 to 1 with 1 and 0"},
		"wide":        {Derived{Knots{{1, 2}, {-3}}, bad(Factor{1, 0, 1, 1, 2})}, "factor b: expected a finite range"},
	} {
		must.Fail(t, name, c.derived.Check(features, 2), c.want)
	}
}
