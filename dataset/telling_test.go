package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A feature that is the label in another unit, or that separates a class from the others, is named. A feature that nearly does so is not,
// nor is any feature of few rows.
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

// A feature that numeric labels nearly equal is named by the check and not by a run. A feature that merely predicts them well is not named.
func TestNearLeak(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 12 {
		const rows = 300
		noise := []float64{0.02, 0.08, 0.3}[turn%3]
		set := &Set{Name: "s", Columns: &Columns{Features: []string{"plain", "revenue"}}}
		for pool := range 3 {
			p := &Pool{Name: string(rune('a' + pool)), Rows: rows, Cols: 2, Scale: 1}
			task := Task{Name: p.Name, Pool: pool, Labels: make([]float32, rows), Output: Output{Name: "y"}, Train: upTo[int32](rows)}
			for r := range rows {
				y := rng.NormFloat64()
				task.Labels[r] = float32(1000 + y)
				p.F32 = append(p.F32, float32(y+rng.NormFloat64()), float32(50-3*(y+noise*rng.NormFloat64())))
			}
			set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
		}
		must.Do(t, set.Validate())
		var found []string
		for _, o := range set.Oddities() {
			if strings.Contains(o.Found, "correlation") {
				found = append(found, o.Found)
			}
		}
		must.Equal(t, len(found), b2i(noise < 0.1), "noise of %g: %v", noise, found)
		const want = "the feature in column revenue has a squared correlation of 0.99"
		must.Hold(t, len(found) == 0 || strings.HasPrefix(found[0], want), "%v", found)
		for i, p := range set.Pools { // one value per source, such as its size, that goes with its labels
			for r := range rows {
				p.F32[2*r+1], set.Tasks[i].Labels[r] = float32(10*i*i), float32(float64(10*i*i)+rng.NormFloat64())
			}
		}
		for _, o := range set.Oddities() {
			must.Hold(t, !strings.Contains(o.Found, "correlation"), "of sizes: %s", o.Found)
		}
		must.Hold(t, len(set.Warnings().Oddities(true)) == 0, "%v", set.Warnings().Oddities(true))
	}
}

// A two-valued feature such as somebody else's opinion on a class is named where it agrees in nearly all rows, whichever value stands for
// the class. It is not where more rows disagree, or where few rows are of the class.
func TestOpinions(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 20 {
		const rows = 500
		rate := []float64{0.002, 0.02, 0.15}[turn%3]
		class := []float64{0.5, 0.3, 0.01}[turn/3%3]
		set := &Set{Name: "s", Binary: true, Columns: &Columns{Features: []string{"plain", "opinion"}}}
		agree := 0
		for pool := range 3 {
			p := &Pool{Name: string(rune('a' + pool)), Rows: rows, Cols: 2, Scale: 1}
			task := Task{Name: p.Name, Pool: pool, Labels: make([]float32, rows), Output: Output{Name: "y", Class: "c"}}
			for r := range rows {
				says := rng.Float64() < class
				is := says != (rng.Float64() < rate || r < 2) // at least two rows disagree, or the feature would tell the class alone
				if agree += 1; is != says {
					agree--
				}
				if is {
					task.Labels[r] = 1
				}
				v := float32(-3)
				if says != (turn%2 == 0) {
					v = 8
				}
				p.F32 = append(p.F32, float32(rng.NormFloat64()), v)
				task.Train = append(task.Train, int32(r))
			}
			set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
		}
		must.Do(t, set.Validate())
		found, want := "", ""
		for _, o := range set.Oddities() {
			if strings.Contains(o.Found, "tells the label") {
				found += o.Found
			}
		}
		if rate < 0.1 && class > 0.1 {
			want = fmt.Sprintf("the feature in column opinion tells the label y in %.3g %% of the rows", min(99.9, 100*float64(agree)/3/rows))
		}
		must.Equal(t, found, want, "%g of the rows are of the class, %g disagree", class, rate)
		must.Hold(t, len(set.Warnings().Oddities(true)) == 0, "%v", set.Warnings().Oddities(true))
	}
}

// Of several classes, the one that a feature nearly tells is named. Where all but a few of very many rows agree, the message does not claim
// that all do.
func TestOpinionOfOneClass(t *testing.T) {
	rng := testrand.New(t)
	const rows = 8000
	set := &Set{Name: "s", Binary: true, Columns: &Columns{Features: []string{"plain", "flag"}}}
	p, classes := &Pool{Name: "a", Rows: rows, Cols: 2, Scale: 1}, []string{"red", "green", "blue"}
	for _, class := range classes {
		set.Tasks = append(set.Tasks, Task{Name: "a_" + class, Labels: make([]float32, rows), Output: Output{Name: "colour", Class: class}})
	}
	for r := range rows {
		is := rng.IntN(3)
		says := float32(b2i(is == 1))
		if r < 2 {
			says = 1 - says
		}
		p.F32 = append(p.F32, float32(rng.NormFloat64()), says)
		for c := range set.Tasks {
			set.Tasks[c].Labels[r], set.Tasks[c].Train = float32(b2i(is == c)), append(set.Tasks[c].Train, int32(r))
		}
	}
	set.Pools = []*Pool{p}
	must.Do(t, set.Validate())
	found := ""
	for _, o := range set.Oddities() {
		if strings.Contains(o.Found, "tells the label") {
			found += o.Found
		}
	}
	must.Equal(t, found, "the feature in column flag tells the label colour, whether it is green, in 99.9 % of the rows", "what is odd")
}
