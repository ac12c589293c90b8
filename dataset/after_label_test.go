package dataset

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A feature that is known only where the label is known is named, by the check and by a run, even if a few rows have one without the other.
// A rare feature is not named, nor is a feature that is missing in a source with few labels, nor any feature where all rows have labels.
func TestComesWithLabel(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 40 {
		const filled = 0.25
		rows, labelled := 60+rng.IntN(300), []float64{0.1, 0.5, 0.9, 1}[turn%4]
		rate := []float64{0, 0.02}[turn/4%2] // share of the rows that have the value but no label, or the label but no value
		if labelled > 0.5 {
			rate = 0 // too few rows have no label
		}
		set := &Set{Name: "s", Columns: &Columns{Features: []string{"plain", "rare", "dead", "late"}}}
		without := 0
		for pool := range 3 {
			dead, rows := pool == 0, rows
			if dead {
				rows *= 10
			}
			p := &Pool{Name: string(rune('a' + pool)), Rows: rows, Cols: 4, Scale: 1}
			task := Task{Name: p.Name, Pool: pool, Labels: make([]float32, rows), Output: Output{Name: "y"}}
			for r := range rows {
				// Each source has four labelled rows or more, and one without a label unless all rows have one. All other rows of the dead
				// source have none.
				has := labelled == 1 || r < 4 || r > 4 && !dead && rng.Float64() < labelled
				y, x := rng.NormFloat64(), [4]float64{rng.NormFloat64(), 0, rng.NormFloat64(), filled}
				if rng.Float64() < 0.03 {
					x[1] = 1
				}
				if dead {
					x[2] = filled
				}
				if has != (rng.Float64() < rate) {
					x[3] = y + rng.NormFloat64()
				}
				for _, v := range x {
					p.F32 = append(p.F32, float32(v))
				}
				if has {
					task.Labels[r], task.Train = float32(y), append(task.Train, int32(r))
				} else {
					without++
				}
			}
			set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
		}
		must.Do(t, set.Validate())
		for name, all := range map[string][]Oddity{"check": set.Oddities(), "run": set.Warnings().Oddities(true)} {
			var found []string
			for _, o := range all {
				if strings.Contains(o.Found, "without the label") {
					found = append(found, o.Found[strings.LastIndex(o.Found, ": ")+2:])
				}
			}
			want := []string{"late"}
			if without == 0 {
				want = nil
			}
			must.EqualSlices(t, found, want, "%s: %d rows, %g labelled, %g otherwise", name, rows, labelled, rate)
		}
	}
}

// What follows from one of two classes is named, although most rows with a label do not have it either: new rows have it in no class. A
// feature that is rare in all rows is not named.
func TestFollowsFromOneClass(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 20 {
		follows := turn%2 == 0
		set := &Set{Name: "s", Binary: true, Columns: &Columns{Features: []string{"plain", "rare", "calls"}}}
		for pool := range 4 {
			rows, labelled := 200, 150+50*(turn/2%2) // unlabelled rows of sources have been decided too
			if pool == 3 {
				rows, labelled = 350+rng.IntN(200), 50+rng.IntN(20)
			}
			p := &Pool{Name: string(rune('a' + pool)), Rows: rows, Cols: 3, Scale: 1, Target: pool == 3}
			task := Task{Name: p.Name, Pool: pool, Labels: make([]float32, rows), Output: Output{Name: "y", Class: "yes"}}
			for r := range rows {
				yes, calls := r%3 == 0, 0.
				switch {
				case r >= labelled && follows && pool == 3: // not yet
				case yes || rng.Float64() < 0.03:
					calls = 1 + rng.ExpFloat64()
				}
				p.F32 = append(p.F32, float32(rng.NormFloat64()), float32(b2i(rng.Float64() < 0.06)), float32(calls))
				if r < labelled {
					task.Labels[r], task.Train = float32(b2i(yes)), append(task.Train, int32(r))
				}
			}
			set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
		}
		must.Do(t, set.Validate())
		for name, all := range map[string][]Oddity{"check": set.Oddities(), "run": set.Warnings().Oddities(true)} {
			found := ""
			for _, o := range all {
				if strings.Contains(o.Found, "without the label") {
					found += o.String()
				}
			}
			must.Hold(t, strings.HasPrefix(found, "d: ") == (found != "" && turn/2%2 == 0), "%s: %q", name, found)
			must.Hold(t, (found != "") == follows && (!follows || strings.Contains(found, "1 feature is the same in nearly all ") &&
				strings.Contains(found, "rows without the label y, and in fewer with it: calls (")), "%s: %v, %q", name, follows, found)
		}
	}
}
