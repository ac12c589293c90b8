package dataset

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A feature that is the label in another unit, or lies on one side for a class, is named; one that nearly does is not, nor are features
// that tell few rows apart.
func TestTellingFeatures(t *testing.T) {
	rng := testrand.New(t)
	for _, classes := range []bool{true, false} {
		for _, rows := range []int{10, 400} {
			set := &Set{Name: "s", Binary: classes, Columns: &Columns{Features: []string{"plain", "telling", "nearly"}}}
			for pool := range 3 {
				p := &Pool{Name: string(rune('a' + pool)), Rows: rows, Cols: 3, Scale: 1}
				task := Task{Name: p.Name, Pool: pool, Labels: make([]float32, rows)}
				task.Output.Name = "y"
				for r := range rows {
					y, own := rng.NormFloat64(), rng.NormFloat64()
					if task.Labels[r] = float32(y); classes {
						task.Output.Class = "c"
						task.Labels[r] = float32(r % 2)
						y = float64(r%2) + 0.9*rng.Float64()
					}
					nearly := y + 0.05*own
					if classes && r == 4 {
						nearly = 1.5
					}
					p.F32 = append(p.F32, float32(own), float32(300-7*y), float32(nearly))
					task.Train = append(task.Train, int32(r))
				}
				set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
			}
			must.Do(t, set.Validate())
			var found []string
			for _, o := range set.Oddities() {
				if strings.Contains(o.Found, " alone") && strings.Contains(o.Found, "the feature") {
					found = append(found, o.Found)
				}
			}
			want := []string{"the feature in column telling tells the label y alone"}
			if 3*rows < 2*tellingRows {
				want = nil
			}
			must.EqualSlices(t, found, want, "%d rows, classes %v", rows, classes)
		}
	}
}
