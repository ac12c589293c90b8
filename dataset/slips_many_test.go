package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// alike returns the numbers of ten sources.
func alike(n int, draw func() float64) (numbers [][]float64) {
	for range 10 {
		of := make([]float64, n)
		for i := range of {
			of[i] = draw()
		}
		numbers = append(numbers, of)
	}
	return numbers
}

// Many wrong numbers are found as a few are: of several powers of ten, most or all of a source, and zeros in place of no number.
func TestManySlips(t *testing.T) {
	rng := testrand.New(t)
	near := func() float64 { return 20 + 2.5*min(2.5, max(-2.5, rng.NormFloat64())) }
	for what, spoil := range map[string]func(of []float64, source int){
		"three of each source": func(of []float64, _ int) {
			for i := range 3 {
				of[i] *= 1000
			}
		},
		"two of each source": func(of []float64, _ int) { of[0], of[1] = of[0]*1000, of[1]*100 },
		"lost decimal points in each": func(of []float64, _ int) {
			for i := range 2 {
				of[i] *= 10
			}
		},
		"four of one": func(of []float64, source int) { spoilFirst(of, source, 4, 1000) },
		"half of one": func(of []float64, source int) { spoilFirst(of, source, 5, 100) },
		"most of one": func(of []float64, source int) { spoilFirst(of, source, 7, 1000) },
		"all of one":  func(of []float64, source int) { spoilFirst(of, source, 10, 1000) },
		"a zero in each": func(of []float64, _ int) {
			of[0] = 0
		},
		"five times -999 in two": func(of []float64, source int) {
			for i := range 5 * bit(source < 2) {
				of[i] = -999
			}
		},
	} {
		wrong, named, misnamed := 0, 0, 0
		for range 50 {
			numbers := alike(10, near)
			right := make([][]float64, 10)
			for i, of := range numbers {
				right[i] = slices.Clone(of)
				spoil(of, i)
			}
			of := Slips(numbers, nil)
			for i := range numbers {
				for at, v := range numbers[i] {
					is, says := v != right[i][at], slices.Contains(of[i], at)
					wrong, named, misnamed = wrong+bit(is), named+bit(is && says), misnamed+bit(says && !is)
				}
			}
		}
		must.Hold(t, 5*named >= 4*wrong && 50*misnamed <= wrong, "%s: of %d wrong numbers %d are found, and %d others", what, wrong,
			named, misnamed)
	}
}

// spoilFirst multiplies the first n numbers of source 0.
func spoilFirst(of []float64, source, n int, by float64) {
	for i := range n * bit(source == 0) {
		of[i] *= by
	}
}

// Right numbers are no slips, however many of them are large, small or 0.
func TestManyRightNumbersAreNoSlips(t *testing.T) {
	rng := testrand.New(t)
	day := 0
	skewed := func(spread float64) float64 { return 20 * math.Exp(spread*rng.NormFloat64()) }
	groups := func(share, by float64) func() [][]float64 {
		return func() [][]float64 {
			return alike(30, func() float64 {
				if rng.Float64() < share {
					return by * skewed(0.2)
				}
				return skewed(0.2)
			})
		}
	}
	for what, draw := range must.Ordered(map[string]func() [][]float64{
		"sources of all sizes": func() [][]float64 {
			return sized(rng, 30, func(int) float64 { return math.Exp(1.5 * rng.NormFloat64()) })
		},
		"a source 30 times as large": func() [][]float64 {
			return sized(rng, 11, func(source int) float64 { return 1 + 29*float64(bit(source == 0)) })
		},
		"a source 10 times as large": func() [][]float64 {
			return sized(rng, 11, func(source int) float64 { return 1 + 9*float64(bit(source == 0)) })
		},
		"log-normal":        func() [][]float64 { return alike(30, func() float64 { return skewed(1) }) },
		"exponential":       func() [][]float64 { return alike(20, rng.ExpFloat64) },
		"a Pareto tail":     func() [][]float64 { return alike(30, func() float64 { return 20 / math.Pow(rng.Float64(), 0.4) }) },
		"large customers":   groups(0.15, 7),
		"larger customers":  groups(0.2, 25),
		"largest customers": groups(0.15, 130),
		"counts from 0 on": func() [][]float64 {
			return alike(30, func() float64 { return math.Floor(3 * rng.ExpFloat64()) })
		},
		"no sales on some days": func() [][]float64 {
			return alike(30, func() float64 { return skewed(0.4) * float64(bit(rng.Float64() > 0.08)) })
		},
		"closed on a day of the week": func() [][]float64 {
			return alike(35, func() float64 {
				day++
				return skewed(0.15) * float64(bit(day%7 > 0))
			})
		},
		"mostly 0": func() [][]float64 {
			return alike(30, func() float64 { return skewed(0.1) * float64(bit(rng.Float64() > 0.7)) })
		},
		"four levels": func() [][]float64 {
			return alike(30, func() float64 { return float64(18+2*rng.IntN(3)) * float64(bit(rng.IntN(20) > 0)) })
		},
		"yes and no": func() [][]float64 { return alike(30, func() float64 { return float64(bit(rng.Float64() > 0.1)) }) },
	}) {
		found := 0
		for range 50 {
			if slices.ContainsFunc(Slips(draw(), nil), func(of []int) bool { return of != nil }) {
				found++
			}
		}
		must.Hold(t, found <= 8, "%s: %d of 50 sets have slips", what, found)
	}
}

// sized returns the numbers of ten sources, each of its size.
func sized(rng *rand.Rand, n int, size func(source int) float64) [][]float64 {
	numbers := alike(n, func() float64 { return 20 + 2.5*rng.NormFloat64() })
	for i, of := range numbers {
		by := size(i)
		for at := range of {
			of[at] *= by
		}
	}
	return numbers
}

// A negative number that is there several times among positive ones, which are hardly ever equal, is a code, however near it lies: -1 for
// hours that nobody knows. It is none where other negative numbers are there, where others are as often equal, or as a single one.
func TestNegativeCode(t *testing.T) {
	rng := testrand.New(t)
	numbers := func(change func(of []float64)) [][]float64 {
		out := alike(10, func() float64 { return math.Exp(rng.NormFloat64()) * 300 })
		for _, of := range out[:4] {
			change(of)
		}
		return out
	}
	count := func(numbers [][]float64) (n int) {
		for _, of := range codeSlips(numbers, nil) {
			n += len(of)
		}
		return n
	}
	must.Equal(t, count(numbers(func(of []float64) { of[2] = -1 })), 4, "-1 in four sources")
	must.Equal(t, count(numbers(func(of []float64) { of[2], of[3] = -1, -rng.Float64() })), 0, "other negative numbers")
	must.Equal(t, count(numbers(func(of []float64) { of[2], of[3] = -1, 7 })), 0, "another number as often")
	one := numbers(func([]float64) {})
	one[0][0] = -1
	must.Equal(t, count(one), 0, "a single negative number")
	must.Equal(t, count(numbers(func([]float64) {})), 0, "no negative number")
}
