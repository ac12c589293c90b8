package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// bent returns a set of a source and a target with the columns x and other, a feature |x - k| for each knot k of x, and the product of both
// columns.
func bent(t *testing.T, knots []float64, rows int, cell func(row int) (x, other, y float64)) *Set {
	t.Helper()
	columns := []string{"x", "other"}
	factor := table.Factor{High: 1, Mean: 0.5, Spread: 1}
	of := table.Derived{Knots: table.Knots{knots}, Factors: []table.Factor{factor, factor}}
	of.Factors[1].Feature = 1
	set := &Set{Columns: &Columns{Features: append(columns, of.Names(columns)...), Derived: of}}
	for i, name := range []string{"a", "target"} {
		p := &Pool{Name: name, Rows: rows, Cols: 3 + len(knots), Scale: 1, Target: i == 1}
		task := Task{Name: name, Pool: i, Output: Output{Name: "y"}, Train: upTo[int32](rows)}
		for r := range rows {
			x, other, y := cell(r + i*rows)
			p.F32, task.Labels = append(p.F32, float32(x), float32(other)), append(task.Labels, float32(y))
			for _, k := range knots {
				p.F32 = append(p.F32, float32(math.Abs(x-k)))
			}
			p.F32 = append(p.F32, float32((max(0, min(1, x))-0.5)*(max(0, min(1, other))-0.5)))
		}
		set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
	}
	must.Do(t, set.Validate())
	return set
}

// Oddities name columns, not the features that are computed from them, however many there are.
func TestOdditiesOfKnots(t *testing.T) {
	rng := testrand.New(t)
	seen := map[float32]bool{}
	normal := func() float64 { // no two rows are equal by chance
		v := rng.NormFloat64()
		for ; seen[float32(v)]; v = rng.NormFloat64() {
		}
		seen[float32(v)] = true
		return v
	}
	many := make([]float64, tellingFeatures)
	for i := range many {
		many[i] = float64(i) / tellingFeatures
	}
	for name, c := range map[string]struct {
		knots []float64
		cell  func(row int) (x, other, y float64)
		want  string
	}{
		"telling": {many, func(int) (x, other, y float64) { x = normal(); return x, normal(), 3*x - 1 },
			"the feature in column x tells the label y alone"},
		"far": {[]float64{0, 1}, func(row int) (x, other, y float64) {
			return normal() + map[bool]float64{true: 1e8}[row == 7], normal(), normal()
		}, "e+08 in column x, far from the others"},
		"same": {[]float64{0, 1}, func(int) (x, other, y float64) { return 5, normal(), normal() },
			"1 of 2 features are the same in all rows, the first in column x"},
		"one way": {[]float64{-1}, func(row int) (x, other, y float64) { return float64(row), normal(), normal() },
			"the feature in column x goes one way"},
		"code": {[]float64{0}, func(row int) (x, other, y float64) {
			return map[bool]float64{true: -999, false: 0.05 * float64(row%20)}[row%20 == 3], normal(), normal()
		}, "-999 in column x in 20 of 400 rows looked at, all others are from 0 to 0.95"},
		"codes above": {[]float64{0}, func(row int) (x, other, y float64) {
			return map[bool]float64{true: 99, false: 1 + float64(row%7)}[row%30 == 3], normal(), normal()
		}, "99 in column x in 14 of 400 rows looked at, all others are from 1 to 7"},
		"two values": {[]float64{0.5}, func(row int) (x, other, y float64) {
			return float64(row / 7 % 2), normal(), normal()
		}, ""},
		"counts": {[]float64{1}, func(row int) (x, other, y float64) {
			return math.Max(0, float64(row%9-5)), normal(), normal()
		}, ""},
	} {
		var found []string
		for _, o := range bent(t, c.knots, 200, c.cell).Oddities() {
			found = append(found, o.Found)
		}
		all := strings.Join(found, "; ")
		must.Hold(t, !strings.ContainsAny(all, "|×"), "%s: %s", name, all)
		must.Hold(t, strings.Contains(all, c.want) && (c.want == "" || len(found) == 1 || name == "far" || name == "one way"), "%s: %s, want %s",
			name, all, c.want)
		must.Hold(t, c.want != "" || len(found) == 0, "%s: %s", name, all)
	}
}

// Knots and factors that do not fit the features are refused.
func TestValidateDerived(t *testing.T) {
	for want, change := range map[string]func(*Columns){
		"knots of x: expected finite numbers that ascend, found [NaN 1]": func(c *Columns) { c.Derived.Knots[0][0] = math.NaN() },
		"knots of x: expected finite numbers that ascend, found [3 1]":   func(c *Columns) { c.Derived.Knots[0][0] = 3 },
		"expected knots of the first 2 of 5 features, found 3 lists of 2 knots": func(c *Columns) {
			c.Derived.Knots = append(c.Derived.Knots, nil, nil)
		},
		"names of features: expected 5, found 4": func(c *Columns) { c.Features = c.Features[:4] },
		"names of features: expected 5, found 6": func(c *Columns) { c.Features = append(c.Features, "more") },
		"factor other: expected a finite range":  func(c *Columns) { c.Derived.Factors[1].High = math.NaN() },
	} {
		set := bent(t, []float64{0, 1}, 5, func(row int) (x, other, y float64) { return float64(row), 1, 2 })
		change(set.Columns)
		must.Fail(t, want, set.Validate(), want)
	}
}
