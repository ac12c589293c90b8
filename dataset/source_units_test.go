package dataset

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A column that one source has in another unit is named. Sources that honestly differ have no such columns: by shifts of a spread or two,
// in skewed columns, or in counts.
func TestColumnUnits(t *testing.T) {
	rng := testrand.New(t)
	wrong, missed := 0, 0
	for range 60 {
		set := &Set{Columns: &Columns{Features: []string{"ph", "rain", "count", "both signs"}}}
		for i := range 5 + rng.IntN(15) {
			p := &Pool{Name: fmt.Sprint(i), Rows: 40, Cols: 4, Scale: 1}
			shift := 4*rng.Float64() - 2
			for range p.Rows {
				x := shift + rng.NormFloat64()
				p.F32 = append(p.F32, float32(6.5+0.4*x), float32(600*math.Exp(0.5*x)), float32(math.Floor(1+3*math.Exp(0.7*x))), float32(x))
			}
			set.Pools = append(set.Pools, p)
		}
		wrong += len(set.sourceColumns(4).columnUnits())
		p := set.Pools[2]
		for r := range p.Rows {
			p.F32[4*r] *= 10
		}
		odd, found := set.sourceColumns(4).columnUnits(), false
		for _, o := range odd {
			found = found || o.Pool == "2" && strings.HasPrefix(o.Found, "column ph is about 10 times as large as in other sources: half are")
		}
		missed += bit(!found)
	}
	must.Hold(t, wrong <= 3 && missed <= 20, "of 60 sets %d columns are taken for other units, and %d in other units are not", wrong, missed)
}

// Several columns that a source has in another unit by the same factor, as reflectances in place of ten thousands of them, have one line.
func TestColumnUnitsOfSource(t *testing.T) {
	rng := testrand.New(t)
	set := &Set{Columns: &Columns{Features: []string{"ph", "B02", "B03", "B04", "B08", "B11"}}}
	for i := range 8 {
		p := &Pool{Name: fmt.Sprint(i), Rows: 40, Cols: 6, Scale: 1}
		for range p.Rows {
			p.F32 = append(p.F32, float32(6.5+0.4*rng.NormFloat64()))
			for j := range 5 {
				p.F32 = append(p.F32, float32(500*float64(j+1)+100*rng.NormFloat64()))
			}
		}
		set.Pools = append(set.Pools, p)
	}
	for r := range set.Pools[3].Rows {
		set.Pools[5].F32[6*r] *= 10
		for j := 1; j < 6; j++ {
			set.Pools[3].F32[6*r+j] /= 10_000
		}
	}
	odd := set.sourceColumns(6).columnUnits()
	must.Hold(t, len(odd) == 2 && odd[0].Pool == "3" && strings.HasPrefix(odd[0].Found, "5 columns, such as B") &&
		strings.Contains(odd[0].Found, ", are about 0.0001 times as large as in other sources: half are from ") && odd[1].Pool == "5" &&
		strings.HasPrefix(odd[1].Found, "column ph is about 10 times as large"), "%v", odd)
}
