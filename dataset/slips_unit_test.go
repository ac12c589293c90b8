package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// yields returns the numbers of sources that differ by more than slipWithin: a few of each are small.
func yields(rng *rand.Rand, least, most int) (numbers [][]float64) {
	for range 5 + rng.IntN(10) {
		of, size := make([]float64, least+rng.IntN(most-least)), math.Exp(0.3*rng.NormFloat64())
		for i := range of {
			of[i] = 6 * size * math.Exp(0.2*min(2.5, rng.NormFloat64()))
			if rng.IntN(25) == 0 {
				of[i] *= 0.1 + 0.8*rng.Float64()
			}
		}
		numbers = append(numbers, of)
	}
	return numbers
}

// Numbers in a unit that is a power of ten larger or smaller are found however many there are, spread over sources or together.
func TestNumbersInTwoUnits(t *testing.T) {
	rng := testrand.New(t)
	for what, c := range must.Ordered(map[string]struct {
		n           int // of each source, the first numbers are wrong
		by          float64
		least, most int
		one         bool
	}{
		"one of each":        {1, 10, 15, 60, false},
		"many":               {15, 10, 100, 300, false},
		"many smaller":       {30, 0.01, 100, 300, false},
		"a third of one":     {100, 10, 300, 400, true},
		"a few, by thousand": {2, 1000, 20, 100, false},
	}) {
		wrong, named, misnamed := 0, 0, 0
		for range 50 {
			numbers := yields(rng, c.least, c.most)
			for i, of := range numbers {
				for at := range c.n * bit(i == 0 || !c.one) {
					of[at] *= c.by
				}
			}
			for i, places := range Slips(numbers, nil) {
				for at := range numbers[i] {
					is, says := at < c.n && (i == 0 || !c.one), slices.Contains(places, at)
					wrong, named, misnamed = wrong+bit(is), named+bit(is && says), misnamed+bit(says && !is)
				}
			}
		}
		must.Hold(t, 10*named >= 7*wrong && 20*misnamed <= wrong, "%s: of %d wrong numbers %d are found, and %d others", what, wrong, named,
			misnamed)
	}
}

// Right numbers have no second unit: tails of any weight, rounded numbers, powers of ten, and modes that are no power of ten away.
func TestNumbersInOneUnit(t *testing.T) {
	rng := testrand.New(t)
	skewed := func(spread float64) float64 { return math.Exp(spread * rng.NormFloat64()) }
	student := func(of int) float64 {
		sum := 0.0
		for range of {
			sum += math.Pow(rng.NormFloat64(), 2)
		}
		return rng.NormFloat64() / math.Sqrt(sum/float64(of))
	}
	for what, draw := range must.Ordered(map[string]func() float64{
		"log-normal, narrow": func() float64 { return skewed(0.3) },
		"log-normal":         func() float64 { return skewed(1) },
		"log-normal, wide":   func() float64 { return skewed(2) },
		"exponential":        rng.ExpFloat64,
		"one by exponential": func() float64 { return 1 / rng.ExpFloat64() },
		"a Pareto tail":      func() float64 { return math.Pow(rng.Float64(), -0.4) },
		"a heavier one":      func() float64 { return 1 / rng.Float64() },
		"Student's t of 3":   func() float64 { return student(3) },
		"t of 3 about 10":    func() float64 { return 10 + student(3) },
		"uniform":            rng.Float64,
		"powers of ten":      func() float64 { return math.Pow10(rng.IntN(4)) },
		"counts":             func() float64 { return math.Floor(4 * rng.ExpFloat64()) },
		"below a limit":      func() float64 { return max(0.1, 10*skewed(0.5)*float64(bit(rng.Float64() > 0.03))) },
		"a mode 6 times off": func() float64 { return skewed(0.3) * float64(1+5*bit(rng.IntN(10) == 0)) },
	}) {
		found := 0
		for range 60 {
			var numbers [][]float64
			least := []int{5, 10, 30, 150}[rng.IntN(4)]
			for range 3 + rng.IntN(15) {
				of, size := make([]float64, least+rng.IntN(2*least)), skewed(0.5)
				for i := range of {
					of[i] = size * draw()
				}
				numbers = append(numbers, of)
			}
			if slices.ContainsFunc(unitSlips(numbers, nil), func(of []int) bool { return of != nil }) {
				found++
			}
		}
		must.Hold(t, found <= 6, "%s: %d of 60 sets have numbers in two units", what, found)
	}
}
