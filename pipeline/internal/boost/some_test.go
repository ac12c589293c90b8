package boost

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Trees of a narrow table try all columns. Those of a wide one try some, each column at some time, and keep those that
// gained most.
func TestColumnsTried(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		outputs, rows := 1+rng.IntN(3), 500+rng.IntN(2000)
		narrow := Cells / (rows * outputs)
		must.Equal(t, len(newSome(narrow, rows, outputs, 0).next()), narrow, "columns tried of a narrow table")
		d := narrow + 1 + rng.IntN(1000)
		s, seen, kept := newSome(d, rows, outputs, 0), make([]bool, d), rng.Perm(d)[:10]
		cells := func(n int) float64 { return float64(n*rows) * math.Sqrt(float64(outputs)) }
		must.Hold(t, s.n <= d && cells(s.n) <= Cells/2 && (s.n == d || cells(s.n+1) > Cells/2), "%d of %d columns of %d rows and %d outputs", s.n,
			d, rows, outputs)
		tree := grown{splits: make([]split, 10)}
		for k, j := range kept {
			tree.splits[k] = split{column: j, gain: float64(1 + k)}
		}
		for range 40 * d / s.n {
			tried := s.next()
			if len(tried) != s.n || !slices.IsSorted(tried) || len(slices.Compact(slices.Clone(tried))) != s.n {
				t.Fatalf("tried %v", tried)
			}
			for _, j := range tried {
				seen[j] = true
			}
			if s.gain[kept[0]] > 0 {
				for _, j := range kept[10-min(10, s.n/2):] {
					if !slices.Contains(tried, j) {
						t.Fatalf("column %d, one of those that gained most, is not among %d tried", j, s.n)
					}
				}
			}
			s.add(tree)
		}
		must.Hold(t, !slices.Contains(seen, false), "a column of %d was never tried", d)
	}
}

// In a table of 600 columns, of which a tree tries 200, trees find the three that matter.
func TestTreesOfWideTables(t *testing.T) {
	rng := testrand.New(t)
	const n, d = 1000, 600
	x, y := make([]float32, n*d), make([]float64, n)
	for i := range x {
		x[i] = float32(rng.IntN(2))
	}
	columns := rng.Perm(d)[:3]
	for i := range y {
		row := x[i*d:][:d]
		y[i] = 2*float64(row[columns[0]]) + 3*float64(row[columns[1]])*float64(row[columns[2]]) + 0.1*rng.NormFloat64()
	}
	fit := func() *Forest {
		return must.Get(Fit(context.Background(), NewColumns(x, d), y, make([]float64, n), 1, Numbers, upTo(n), stages))(t)
	}
	f := fit()
	most, sum := 0.0, 0.0
	for j, v := range f.Gain {
		if sum += v; slices.Contains(columns, j) {
			most += v
		}
	}
	must.Hold(t, most > 0.6*sum, "columns that matter have %g of the gain", most/sum)
	must.Hold(t, reflect.DeepEqual(fit(), f), "the same fit has other trees the second time")
}
