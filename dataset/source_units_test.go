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
