package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// anglesIn returns sources and a target with an angle in degrees and other columns: shares, counts and amounts of sources of any size, of
// two sizes that differ by a factor of 60, and numbers with the same mean whose spread is each source's own, or of two kinds.
func anglesIn(rng *rand.Rand) *Set {
	set := &Set{Columns: &Columns{Features: []string{"angle", "share", "count", "amount", "sizes", "spread", "kinds"}}}
	middle, width := 20*rng.NormFloat64(), 5+40*rng.Float64()
	for i := range 4 + rng.IntN(12) {
		p := &Pool{Name: fmt.Sprint("s", i), Rows: 25 + rng.IntN(100), Cols: 7, Scale: 1, Target: i == 0}
		size, two, own := math.Exp(1.5*rng.NormFloat64()), []float64{1, 60}[rng.IntN(2)], math.Exp(rng.NormFloat64())
		from := middle + 0.2*width*rng.NormFloat64()
		for range p.Rows {
			x := math.Exp(0.5 * rng.NormFloat64())
			p.F32 = append(p.F32, float32(from+width*(rng.Float64()-0.5)), rng.Float32(), float32(math.Floor(1+3*two*x)), float32(size*x),
				float32(two*x), float32(own*rng.NormFloat64()), float32(0.1*two*rng.NormFloat64()))
		}
		set.Pools = append(set.Pools, p)
	}
	return set
}

// Angles that some sources, or the target, have in radians where the others have degrees are named, with these sources. Columns of any
// other kind are not, but for those which differ by this factor and are within a turn: no test can tell them apart.
func TestAngles(t *testing.T) {
	rng := testrand.New(t)
	wrong, missed, others := 0, 0, 0
	const repeats = 200
	find := func(set *Set) (angle *Oddity, other int) {
		for _, o := range set.sourceColumns(7).with(set.Pools).angles() {
			switch name := strings.Fields(o.Found)[1]; name {
			case "angle":
				angle = &o
			case "sizes", "kinds":
			default:
				other++
			}
		}
		return angle, other
	}
	for range repeats {
		set := anglesIn(rng)
		angle, other := find(set)
		wrong += bit(angle != nil) + other
		some := rng.Perm(len(set.Pools))[:1+rng.IntN(len(set.Pools)/2)]
		slices.Sort(some)
		var names []string
		for _, i := range some {
			p := set.Pools[i]
			for r := range p.Rows {
				p.F32[7*r] *= math.Pi / 180
			}
			names = append(names, p.Name)
		}
		if angle, _ = find(set); angle == nil {
			missed++
			continue
		}
		is := strings.HasPrefix(angle.Found, "column angle may be in radians, where other sources have degrees: half are from ")
		if 2*len(some) == len(set.Pools) {
			continue
		}
		first, rest := names[0], names[1:]
		if some[0] == 0 { // the target comes last
			first, rest = append(slices.Clone(rest), names[0])[0], append(slices.Clone(rest), names[0])[1:]
		}
		_, list, _ := strings.Cut(angle.Found, "so may be ")
		others += bit(!is || angle.Pool != first || len(rest) < mostNames && list != strings.Join(rest, ", "))
	}
	must.Hold(t, wrong <= 2 && missed <= repeats/4 && others <= 3, "of %d sets %d have columns in other units that are not, "+
		"%d have none that are, and %d have other sources", repeats, wrong, missed, others)
	t.Logf("of %d sets %d with false names, %d missed, %d with other sources", repeats, wrong, missed, others)
}

// Few sources in degrees are named where most are in radians, among all that is odd, and so is a target.
func TestAnglesOfFewInDegrees(t *testing.T) {
	rng := testrand.New(t)
	for odd := range 5 {
		set := &Set{Columns: &Columns{Features: []string{"angle", "other"}}}
		for i := range 5 {
			p := &Pool{Name: fmt.Sprint("s", i), Rows: 240, Cols: 2, Scale: 1, Target: i == 4}
			for range p.Rows {
				x := 18*rng.Float64() - 4
				if i != odd {
					x *= math.Pi / 180
				}
				p.F32 = append(p.F32, float32(x), rng.Float32())
			}
			set.Pools = append(set.Pools, p)
		}
		i := slices.IndexFunc(set.shifted(), func(o Oddity) bool {
			return o.Pool == fmt.Sprint("s", odd) && strings.HasPrefix(o.Found, "column angle may be in degrees, where other sources have radians")
		})
		must.Hold(t, i >= 0, "source %d: found %+v", odd, set.shifted())
	}
}
