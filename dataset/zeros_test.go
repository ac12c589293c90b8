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

// vectors returns a set of three sources and a target with 40 rows each, whose features cell gives. Features have names if named is true.
func vectors(cols int, named bool, rng *rand.Rand, cell func() float64) *Set {
	const rows = 40
	set := &Set{Columns: &Columns{Features: []string{"embedding"}}}
	for j := range cols {
		if named {
			set.Columns.Features = append(set.Columns.Features[:j], "x"+strings.Repeat("i", j))
		}
	}
	for i, name := range []string{"a", "b", "c", "target"} {
		p := &Pool{Name: name, Rows: rows, Cols: cols, F32: make([]float32, rows*cols), Scale: 1, Target: name == "target"}
		for j := range p.F32 {
			p.F32[j] = float32(cell())
		}
		y := make([]float32, rows)
		for r := range y {
			y[r] = float32(rng.NormFloat64())
		}
		set.Pools = append(set.Pools, p)
		set.Tasks = append(set.Tasks, Task{Name: name, Pool: i, Output: Output{Name: "yield"}, Labels: y, Train: upTo[int32](rows)})
	}
	return set
}

// Vectors that are all 0 are named once, with one of them, and are no copies; rows without anything in tables of counts, and those
// of which there are many, are what they were.
func TestZeroVectors(t *testing.T) {
	rng := testrand.New(t)
	normal := func() float64 { return rng.NormFloat64() }
	amounts := func() float64 { return math.Exp(rng.NormFloat64()) }
	counts := func() float64 { return float64(rng.IntN(20)) }
	sparse := func() float64 { return float64(max(0, rng.IntN(8)-6)) * rng.NormFloat64() }
	for name, c := range must.Ordered(map[string]struct {
		cols  int
		named bool
		cell  func() float64
		zeros int // of source b, one more in the target
		want  string
	}{
		"an embedding":                 {24, false, normal, 3, "4 rows of 2 sources have features that are all 0, such as row 0"},
		"an embedding in columns":      {24, true, normal, 3, "4 rows of 2 sources have features that are all 0, such as row 0"},
		"one":                          {24, false, normal, 0, "1 row of 1 source has features that are all 0, such as row 0"},
		"an embedding that is above 0": {24, false, func() float64 { return max(0, 0.3+rng.NormFloat64()) }, 3, "4 rows of 2 sources have"},
		"whole numbers of both signs":  {24, false, func() float64 { return float64(rng.IntN(255) - 127) }, 3, "4 rows of 2 sources have"},
		"few features":                 {8, false, normal, 3, ""},
		"amounts in columns":           {24, true, amounts, 3, ""},
		"counts":                       {24, false, counts, 3, ""},
		"counts in columns":            {24, true, counts, 3, ""},
		"sparse vectors":               {24, false, sparse, 3, ""},
		"many zeros":                   {24, false, normal, 12, ""},
	}) {
		set := vectors(c.cols, c.named, rng, c.cell)
		clear(set.Pools[1].F32[:c.zeros*c.cols])
		clear(set.Pools[3].F32[:c.cols])
		for what, found := range map[string][]Oddity{"check": set.Oddities(), "run": set.Warnings().Oddities(false)} {
			var zero, same []string
			for _, o := range found {
				if strings.Contains(o.Found, "all 0") {
					zero = append(zero, o.Found)
				} else if strings.Contains(o.Found, " the features of a ") {
					same = append(same, o.Pool)
				}
			}
			if c.want == "" {
				must.Equal(t, len(zero), 0, "%s, %s: %v", name, what, zero)
				must.Hold(t, slices.Contains(same, "b") || slices.Contains(same, ""), "%s, %s: copies in %v", name, what, same)
			} else {
				must.Hold(t, len(zero) == 1 && strings.HasPrefix(zero[0], c.want), "%s, %s: %v, expected %s", name, what, zero, c.want)
				must.Equal(t, len(same), 0, "%s, %s: copies in %v", name, what, same)
			}
		}
	}
}

// Black photographs are named as vectors of zeros are. In images with an empty background, and in columns of bytes, a row without anything
// is none.
func TestBlackPhotographs(t *testing.T) {
	rng := testrand.New(t)
	for _, c := range []struct {
		named bool
		cell  func() int
		want  int
	}{
		{false, func() int { return min(1+rng.IntN(400), 255) }, 2},
		{false, func() int { return rng.IntN(4) / 3 * rng.IntN(256) }, 0},
		{true, func() int { return 1 + rng.IntN(255) }, 0},
	} {
		set := vectors(24, c.named, rng, func() float64 { return 0 })
		for _, p := range set.Pools {
			p.F32, p.U8 = nil, make([]uint8, p.Rows*p.Cols)
			for j := range p.U8 {
				p.U8[j] = uint8(c.cell())
			}
		}
		clear(set.Pools[1].U8[:2*24])
		n := 0
		for _, rows := range set.zeroVectors() {
			n += len(rows)
		}
		must.Equal(t, n, c.want, "black photographs")
	}
}

// Labelled rows of the target whose vectors are all 0 are no copies of each other in what is said, beside others that are.
func TestZeroVectorsOfTarget(t *testing.T) {
	rng := testrand.New(t)
	set := vectors(24, false, rng, func() float64 { return rng.NormFloat64() })
	target := set.Pools[3]
	clear(target.F32[:3*24])
	said := func() (out []string) {
		for _, o := range set.Warnings().Oddities(false) {
			if o.Pool == "target" {
				out = append(out, o.Found)
			}
		}
		return out
	}
	must.EqualSlices(t, said(), nil, "of zeros alone")
	copy(target.F32[10*24:], target.F32[9*24:10*24])
	want := "1 labelled row has the features of a labelled row before, the first is row 10, like row 9"
	must.EqualSlices(t, said(), []string{want}, "of a copy")
}
