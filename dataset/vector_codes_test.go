package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Elements of vectors that stand for a missing value are named once, with a row; numbers of any tail are none, nor are those cut at -999.
func TestVectorCodes(t *testing.T) {
	rng := testrand.New(t)
	coded := 0
	band := func() float64 {
		if rng.IntN(9) == 0 {
			return -9999
		}
		return math.Round(8000*rng.Float64()) - 300
	}
	set := vectors(12, false, rng, band)
	for _, p := range set.Pools {
		for _, x := range p.F32 {
			coded += bit(x == -9999)
		}
	}
	odd := set.vectorCodes((*Pool).rowName)
	must.Hold(t, len(odd) == 1 && strings.Contains(odd[0].Found, "of the elements of vectors are -9999, in ") &&
		strings.Contains(odd[0].Found, " of 160 rows, such as row "), "%d codes: %v", coded, odd)
	found := false
	for _, o := range set.Warnings().Oddities(false) {
		found = found || o == odd[0]
	}
	must.Hold(t, found, "a run does not say so")
	for trial := range 1000 {
		scale, tail, middle := math.Exp(rng.NormFloat64()*3), 0.3+rng.Float64()*3, 100*rng.NormFloat64()
		cell := func() float64 {
			x := middle + scale*rng.NormFloat64()/math.Pow(rng.Float64(), 1/tail)
			if trial%2 == 0 {
				return math.Round(max(x, -999))
			}
			return x
		}
		odd := vectors(3+rng.IntN(40), false, rng, cell).vectorCodes((*Pool).rowName)
		must.Hold(t, len(odd) == 0, "scale %g, tail %g: %v", scale, tail, odd)
	}
}
