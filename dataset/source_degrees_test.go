package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Temperatures of some sources on another scale are named, with these sources. Without them nothing is, whether sources have values of
// their own in a column, as the altitude of sites, or come in two groups, as large and small machines.
func TestDegrees(t *testing.T) {
	rng := testrand.New(t)
	wrong, missed, others := 0, 0, 0
	const repeats = 200
	for range repeats {
		set := &Set{Columns: &Columns{Features: []string{"temp", "altitude", "size", "share"}}}
		sources := 3 + rng.IntN(12)
		for i := range sources {
			p := &Pool{Name: fmt.Sprint("s", i), Rows: 40 + rng.IntN(100), Cols: 4, Scale: 1}
			climate, site, size := 12+4*rng.NormFloat64(), 300*math.Exp(rng.NormFloat64()), []float64{20, 90}[rng.IntN(2)]
			for range p.Rows {
				p.F32 = append(p.F32, float32(climate+8*rng.NormFloat64()), float32(site+5*rng.NormFloat64()),
					float32(size*math.Exp(0.1*rng.NormFloat64())), rng.Float32())
			}
			set.Pools = append(set.Pools, p)
		}
		wrong += len(set.sourceColumns(4).degrees())
		some, name, size, zero := rng.Perm(sources)[:1+rng.IntN(sources/2)], "degrees Fahrenheit", 1.8, 32.
		if rng.IntN(3) == 0 {
			name, size, zero = "kelvins", 1, 273.15
		}
		slices.Sort(some)
		for _, i := range some {
			p := set.Pools[i]
			for r := range p.Rows {
				p.F32[4*r] = float32(size*float64(p.F32[4*r]) + zero)
			}
		}
		odd := set.sourceColumns(4).degrees()
		i := slices.IndexFunc(odd, func(o Oddity) bool { return strings.HasPrefix(o.Found, "column temp ") })
		if i < 0 {
			missed++
			continue
		}
		o, want, celsius := odd[i], []string{}, "degrees Celsius"
		for _, i := range some {
			want = append(want, set.Pools[i].Name)
		}
		is := strings.HasPrefix(o.Found, fmt.Sprintf("column temp may be in %s, where other sources have %s: half are", name, celsius))
		if _, list, more := strings.Cut(o.Found, "so may be "); len(want) <= mostNames {
			is = is && o.Pool == want[0] && more == (len(want) > 1) && (!more || list == strings.Join(want[1:], ", "))
		}
		others += bit(!is)
	}
	must.Hold(t, wrong <= 5 && missed <= repeats/4 && others <= 5, "of %d sets %d have columns on other scales that are not, "+
		"%d have none that are, and %d have other sources", repeats, wrong, missed, others)
	t.Logf("of %d sets %d with false names, %d missed", repeats, wrong, missed)
}

// Where most sources are in degrees Fahrenheit, the others are named.
func TestDegreesOfFewInCelsius(t *testing.T) {
	rng := testrand.New(t)
	set := &Set{Columns: &Columns{Features: []string{"temp", "other"}}}
	for i := range 7 {
		p := &Pool{Name: fmt.Sprint("s", i), Rows: 200, Cols: 2, Scale: 1}
		for range p.Rows {
			x := 50 + 15*rng.NormFloat64()
			if i == 2 || i == 5 {
				x = (x - 32) / 1.8
			}
			p.F32 = append(p.F32, float32(x), rng.Float32())
		}
		set.Pools = append(set.Pools, p)
	}
	odd := set.sourceColumns(2).degrees()
	must.Hold(t, len(odd) == 1 && odd[0].Pool == "s2" && strings.HasSuffix(odd[0].Found, "; so may be s5") &&
		strings.HasPrefix(odd[0].Found, "column temp may be in degrees Celsius, where other sources have degrees Fahrenheit"), "found %+v", odd)
	must.Hold(t, slices.Contains(set.shifted(), odd[0]), "not listed among %+v", set.shifted())
}
