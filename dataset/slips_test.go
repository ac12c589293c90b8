package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// somewhere returns the numbers of sources of various sizes: draw returns their differences from a centre that each source has of its own.
func somewhere(rng *rand.Rand, draw func() float64) (numbers [][]float64) {
	for range 3 + rng.IntN(8) {
		of, centre := make([]float64, 10+rng.IntN(300)), 50*rng.NormFloat64()
		for i := range of {
			of[i] = centre + draw()
		}
		numbers = append(numbers, of)
	}
	return numbers
}

// A number that is far off, as where a decimal point was lost, is found with its place in any unit. Normal numbers have no slips.
func TestSlips(t *testing.T) {
	rng := testrand.New(t)
	missed := 0
	for range 100 {
		unit := math.Exp(20 * rng.NormFloat64())
		numbers := somewhere(rng, func() float64 { return rng.NormFloat64() })
		want, left := make([][]int, len(numbers)), 1
		for i := range numbers {
			for at := range numbers[i] {
				numbers[i][at] *= unit
			}
		}
		for i, of := range Slips(numbers, nil) {
			must.Hold(t, of == nil, "of normal numbers %v of source %d are slips", of, i)
		}
		for i := range numbers {
			if left > 0 && rng.IntN(2) == 0 {
				left--
				at := rng.IntN(len(numbers[i]))
				numbers[i][at] += unit * (20 + 1000*rng.Float64()) * []float64{1, -1}[rng.IntN(2)]
				want[i] = []int{at}
			}
		}
		for i, of := range Slips(numbers, nil) {
			if of == nil && want[i] != nil { // a normal number may be far out too, by chance
				missed++
				continue
			}
			must.Hold(t, slices.Equal(of, want[i]), "slips of source %d are at %v, expected %v", i, of, want[i])
		}
	}
	must.Hold(t, missed <= 6, "%d slips of 100 sets are not found", missed)
}

// A heavy tail has no slips: the further out, the fewer numbers there are. In some sets one number is so far from the next by chance that
// it looks like a slip.
func TestTailsAreNoSlips(t *testing.T) {
	rng := testrand.New(t)
	for name, c := range must.Ordered(map[string]struct {
		most int
		draw func() float64
	}{
		"log-normal": {10, func() float64 { return math.Exp(rng.NormFloat64()) }},
		"t of 1":     {50, func() float64 { return math.Tan(math.Pi * (rng.Float64() - 0.5)) }},
		"t of 3": {30, func() float64 {
			normal := rng.NormFloat64()
			return rng.NormFloat64() / math.Sqrt((2*rng.ExpFloat64()+normal*normal)/3)
		}},
	}) {
		found := 0
		for range 100 {
			if slices.ContainsFunc(Slips(somewhere(rng, c.draw), nil), func(of []int) bool { return of != nil }) {
				found++
			}
		}
		must.Hold(t, found <= c.most, "%s: %d of 100 sets have slips", name, found)
	}
	must.Hold(t, Slips([][]float64{make([]float64, 30), nil}, nil)[0] == nil, "numbers that are the same")
	few := make([]float64, farLeast-1)
	few[3] = 1e9
	must.Hold(t, Slips([][]float64{few}, nil)[0] == nil, "numbers that are too few to tell")
}

// Properties of a single source are no slips: its level where it has few numbers, its spread, its two modes, or events.
func TestOtherSourcesAreNoSlips(t *testing.T) {
	rng := testrand.New(t)
	normals := func(n int, centre, spread float64) []float64 {
		of := make([]float64, n)
		for i := range of {
			of[i] = centre + spread*rng.NormFloat64()
		}
		return of
	}
	for what, other := range must.Ordered(map[string]func() []float64{
		"few":         func() []float64 { return normals(1+rng.IntN(slipLeast-1), 100, 1) },
		"wide":        func() []float64 { return normals(15, 100, 30) },
		"a bit wider": func() []float64 { return normals(15, 100, 10) },
		"two levels":  func() []float64 { return append(normals(6, 0, 1), normals(6, 50, 1)...) },
		"events":      func() []float64 { return append(normals(1000, 0, 1), normals(12, 20, 1)...) },
	}) {
		found := 0
		for range 50 {
			numbers := [][]float64{other()}
			for range 6 {
				numbers = append(numbers, normals(50+rng.IntN(200), 60*rng.NormFloat64(), 1))
			}
			if slices.ContainsFunc(Slips(numbers, nil), func(of []int) bool { return of != nil }) {
				found++
			}
		}
		must.Hold(t, found <= 3, "%s: %d of 50 sets have slips", what, found)
	}
}

// All labels of a source whose decimal points are misplaced are found, however many there are and however close together they lie. Sources
// without misplaced points have no slips.
func TestDecimalSlips(t *testing.T) {
	rng := testrand.New(t)
	missed := 0
	for turn := range 100 {
		unit, by := math.Exp(10*rng.NormFloat64()), []float64{10, 100, 1000, 0.1, 0.001}[turn%5]
		var numbers [][]float64
		for range 5 + rng.IntN(6) {
			of, centre := make([]float64, 12+rng.IntN(200)), 40+20*rng.Float64()
			for i := range of {
				of[i] = unit * (centre + min(3, max(-3, rng.NormFloat64()))*4)
			}
			numbers = append(numbers, of)
		}
		sloppy := rng.IntN(len(numbers))
		all := 0
		for _, of := range numbers {
			all += len(of)
		}
		for _, of := range Slips(numbers, nil) {
			must.Hold(t, of == nil, "of numbers as they are, %v are slips", of)
		}
		n := len(numbers[sloppy])
		want := rng.Perm(n)[:1+rng.IntN(min(n/3, all/10))]
		slices.Sort(want)
		for _, i := range want {
			numbers[sloppy][i] *= by
		}
		for i, of := range Slips(numbers, nil) {
			if i == sloppy && of == nil {
				missed++ // by chance their spread is unlike that of the others
			} else if i == sloppy {
				must.Hold(t, slices.Equal(of, want), "times %g, of %d numbers %v are slips, expected %v", by, n, of, want)
			} else {
				must.Hold(t, of == nil, "%v are slips of a source that has none", of)
			}
		}
	}
	must.Hold(t, missed <= 10, "%d of 100 sets have slips that are not found", missed)
}

// One number of another sign does not hide several decimal slips.
func TestDecimalSlipsBesideAWildNumber(t *testing.T) {
	rng := testrand.New(t)
	found := 0
	for range 50 {
		var numbers [][]float64
		for range 4 {
			of := make([]float64, 60)
			for i := range of {
				of[i] = 45 + 4*min(3, max(-3, rng.NormFloat64()))
			}
			numbers = append(numbers, of)
		}
		numbers[2][7] = -20 - 5*rng.Float64()
		want := []int{11, 12, 13, 14, 15, 16, 17, 18}
		for _, i := range want {
			numbers[2][i] *= 100
		}
		if of := Slips(numbers, nil); slices.Equal(of[2], want) || slices.Equal(of[2], append([]int{7}, want...)) {
			found++
		}
	}
	must.Hold(t, found >= 45, "found in %d of 50 sets", found)
}

// Numbers at about a tenth or a hundredth of the others are no slips where they have a level or a spread of their own.
func TestModesAreNoDecimalSlips(t *testing.T) {
	rng := testrand.New(t)
	for what, draw := range must.Ordered(map[string]func(odd bool) float64{
		"a vented vessel": func(odd bool) float64 {
			if odd {
				return 100 + 5*rng.NormFloat64()
			}
			return 1013 + 3*rng.NormFloat64()
		},
		"standby": func(odd bool) float64 {
			if odd {
				return 2 + 0.01*rng.NormFloat64()
			}
			return 230 + 20*rng.NormFloat64()
		},
		"plans of a month and a year": func(odd bool) float64 {
			if odd {
				return 99
			}
			return []float64{9.99, 9.99, 9.99, 12.99, 14.99}[rng.IntN(5)]
		},
		"days of promotion": func(odd bool) float64 {
			y := 20 * math.Exp(0.3*rng.NormFloat64())
			if odd {
				y *= 3 + 17*rng.Float64()
			}
			return y
		},
	}) {
		found := 0
		for range 50 {
			var numbers [][]float64
			for i := range 10 {
				of := make([]float64, 60)
				for j := range of {
					of[j] = draw(i < 3 && j%10 == 0)
				}
				numbers = append(numbers, of)
			}
			if slices.ContainsFunc(Slips(numbers, nil), func(of []int) bool { return len(of) > 2 }) {
				found++
			}
		}
		must.Hold(t, found <= 9, "%s: %d of 50 sets have slips", what, found)
	}
}

// A label of the target with a lost decimal point is named by data check and by run, and does not count as a heavy tail.
func TestSlipOfTheTarget(t *testing.T) {
	set := measured(testrand.New(t))
	must.Hold(t, len(set.Warnings().Oddities(true)) == 0, "of labels as they are: %v", set.Warnings().Oddities(true))
	set.Tasks[2].Labels[17] *= 100
	for what, of := range map[string][]Oddity{"check": set.Oddities(), "run": set.Warnings().Oddities(true)} {
		must.Equal(t, len(of), 1, "%s says %v", what, of)
		must.Hold(t, of[0].Pool == "target" && strings.Contains(of[0].Found, "1 of 60 labels of yield far from the others") &&
			strings.Contains(of[0].Found, "in row 17: "), "%s says %v", what, of[0])
	}
}
