package table

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// -999 is found below numbers that have outliers and are hardly negative, and not among numbers of any tail, also where they are cut at it.
func TestCodeOf(t *testing.T) {
	rng := testrand.New(t)
	found := 0
	for trial := range 2000 {
		var values []float64
		scale, tail := math.Exp(rng.NormFloat64()*3), 0.3+rng.Float64()*3
		for range 30 + rng.IntN(1000) {
			x := scale * rng.NormFloat64() / math.Pow(rng.Float64(), 1/tail) // the smaller tail, the heavier the tails
			if trial%2 == 0 {
				x = math.Abs(x)
			}
			values = append(values, math.Round(min(max(x, -999), 20_000)))
		}
		slices.Sort(values)
		if code, count, from, to := CodeOf(values); count > 0 && 10*count < len(values) && code == -999 && from-code <= 2*(to-from) {
			t.Errorf("%v in %d of %d values, others from %v to %v", code, count, len(values), from, to)
		}
		if values[0] >= 0 && values[len(values)/2] != values[len(values)-1] && len(slices.Compact(slices.Clone(values))) > 5 {
			found++
			code, count, _, _ := CodeOf(append([]float64{-999, -999, -999}, values...))
			must.Hold(t, code == -999 && count == 3, "%v in %d of %d values, others from %v to %v", code, count, len(values)+3, values[0],
				values[len(values)-1])
		}
	}
	must.Hold(t, found > 500, "%d trials", found)
}

// A pattern gives its codes to the features that it matches and that no name is for, and stays where it matches none.
func TestMatchCodes(t *testing.T) {
	codes := []Codes{{"B*", []float64{-9999}}, {"B2", []float64{0}}, {"*t*", []float64{-99}}, {"slope", []float64{-1}}, {"z*", []float64{7}}}
	got := MatchCodes(codes, []string{"B1", "tilt", "B2", "slope", "x", "B*"})
	must.Equal(t, fmt.Sprint(got), "[{tilt [-99]} {B2 [0]} {slope [-1]} {B* [-9999]} {z* [7]}]", "beside a feature with the name of a pattern")
	got = MatchCodes(codes[:3], []string{"B1", "B2", "Bt", "x"})
	must.Equal(t, fmt.Sprint(got), "[{B1 [-9999]} {B2 [0]} {Bt [-9999]}]", "patterns")
	must.Hold(t, MatchCodes(nil, []string{"a"}) == nil, "no codes")
}
