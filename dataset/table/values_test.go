package table

import (
	"math"
	"strconv"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A whole number has the same name in a column of float64 as in one of integers, wherever float64 holds all integers; any other number has
// one that reads back the same.
func TestNamesOfWholeNumbers(t *testing.T) {
	rng := testrand.New(t)
	for range 1000 {
		n := rng.Int64N(1<<53+1) >> rng.IntN(54)
		if rng.IntN(2) == 0 {
			n = -n
		}
		ints, floats := Values{Ints: []int64{n}}, Values{Numbers: []float64{float64(n)}}
		must.Equal(t, floats.Name(0), ints.Name(0), "the name of %d", n)
		x := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(80)-40))
		floats.Numbers[0] = x
		must.Equal(t, must.Get(strconv.ParseFloat(floats.Name(0), 64))(t), x, "the number of its name")
	}
	minus := Values{Numbers: []float64{math.Copysign(0, -1)}}
	must.Equal(t, minus.Word(0), "0", "a zero")
	for _, x := range []float64{math.Inf(1), math.Inf(-1), 1e300} {
		must.Equal(t, (&Values{Numbers: []float64{x}}).Name(0), strconv.FormatFloat(x, 'g', -1, 64), "the name of a large number")
	}
}
