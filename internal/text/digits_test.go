package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestAmount(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -0.5: "-0.5", 999.5: "999.5", 6.299999999999998: "6.3", 999.9999999999999: "1,000",
		1277: "1,277", 10688.25: "10,688.25", -1234.5: "-1,234.5", 123456789012: "123,456,789,012", 1.5e12: "1.5e+12",
		math.Inf(-1): "-Inf", math.NaN(): "NaN"} {
		must.Equal(t, Amount(v), want, "an amount")
	}
}

// Digits and Signed write the value rounded to four digits, from 1,000 on in groups of three, and Signed also writes
// the sign.
func TestDigits(t *testing.T) {
	rng := testrand.New(t)
	for range 2000 {
		v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(24)-8))
		short := fmt.Sprintf("%.4g", v)
		for _, got := range []string{Digits(v), Signed(v)} {
			is, want := must.Get(strconv.ParseFloat(strings.ReplaceAll(got, ",", ""), 64))(t), must.Get(strconv.ParseFloat(short, 64))(t)
			must.Equal(t, is, want, "%g as %s", v, got)
		}
		must.Equal(t, Signed(v)[0] == '+', v > 0, "the sign of %g", v)
	}
	for v, want := range map[float64]string{9999.6: "10,000", 43806: "43,810", -840900: "-840,900", 9.99996e14: "1e+15", 999.96: "1,000",
		1234: "1,234", 0: "0", 0.00012345: "0.0001234", math.Inf(1): "+Inf", math.NaN(): "NaN"} {
		must.Equal(t, Digits(v), want, "digits")
	}
	must.Equal(t, Signed(0)+Signed(math.Inf(1))+Signed(math.Inf(-1)), "+0+Inf-Inf", "signs")
}
