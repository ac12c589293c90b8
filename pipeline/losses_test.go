package pipeline

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Where all rows have the same loss, as many rows count as groups of these sizes are worth (Kish 1965), also where there are more groups
// than sums.
func TestIndependentRowsWithoutErrors(t *testing.T) {
	rng := testrand.New(t)
	for _, groups := range []int{2, maxGroups - 1, maxGroups, maxGroups + 1, 5 * maxGroups} {
		var numbers []int32
		for g := range groups {
			for range 1 + rng.IntN(4) + b2i(g == 0) { // of single rows there would be no groups
				numbers = append(numbers, int32(g))
			}
		}
		rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		of := regress.GroupsOf(numbers)
		l := newLosses(len(numbers), of)
		for i := range numbers {
			l.add(i, 0)
		}
		student := 1.96 / students(float64(len(l.Sums)))
		must.Hold(t, near(l.Independent(false), of.Effective()*student*student, 1e-9), "%d groups count as %g rows, expected %g", groups,
			l.Independent(false), of.Effective()*student*student)
	}
}

// Rows without a loss, wherever they are, are as if they were not there.
func TestRowsWithoutLosses(t *testing.T) {
	rng := testrand.New(t)
	for _, grouped := range []bool{false, true} {
		rows := 20 + rng.IntN(150)
		numbers, has := make([]int32, rows), make([]bool, rows)
		for i := range numbers {
			numbers[i], has[i] = int32(rng.IntN(12)), i < 5 || rng.IntN(4) > 0
		}
		of := func(keep func(row int) bool) *Losses {
			var some []int32
			for i, g := range numbers {
				if keep(i) {
					some = append(some, g)
				}
			}
			if !grouped {
				return newLosses(len(some), regress.Groups{})
			}
			return newLosses(len(some), regress.GroupsOf(some))
		}
		all, some, at := of(func(int) bool { return true }), of(func(i int) bool { return has[i] }), 0
		for i := range numbers {
			if !has[i] {
				continue
			}
			for range 1 + rng.IntN(2) { // labels of one column or two
				loss := rng.ExpFloat64()
				all.add(i, loss)
				some.add(at, loss)
			}
			at++
		}
		got, want := all.done(), some.done()
		must.Equal(t, len(got.Sums), len(want.Sums), "sums")
		for k, end := range want.MeanInterval(true) { // sums of groups may be in another order
			isNear(t, got.MeanInterval(true)[k], end, 1e-9, fmt.Sprintf("an end of the interval, groups %v", grouped))
		}
		isNear(t, got.Independent(true), want.Independent(true), 1e-9, fmt.Sprintf("independent rows, groups %v", grouped))
	}
}

// The ends of an interval of a mean squared error are positive and move with the losses: as these grow apart, no end jumps.
func TestMeanIntervalIsContinuous(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		apart := make([]float64, 3+rng.IntN(10))
		for i := range apart {
			apart[i] = math.Pow(rng.ExpFloat64(), 2)
		}
		floats.Scale(float64(len(apart))/floats.Sum(apart), apart)
		const steps = 1000
		var before [2]float64
		for step := range steps {
			by, l := 0.5+0.5*float64(step)/steps, newLosses(len(apart), regress.Ungrouped(len(apart)))
			for i, v := range apart {
				l.add(i, 1+by*(v-1))
			}
			ends := *l.MeanInterval(false)
			must.Hold(t, 0 < ends[0] && ends[0] < 1 && 1 < ends[1], "%g of %v: %v", by, apart, ends)
			if step > 0 && (math.Abs(ends[0]-before[0]) > 0.01 || math.Abs(ends[1]-before[1]) > 0.01*ends[1]) {
				t.Fatalf("%g of %v: %v after %v", by, apart, ends, before)
			}
			before = ends
		}
	}
}
