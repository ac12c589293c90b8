package dataset

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The isolated sets are the largest balls of rows, around any row and of any radius, that meet the definition.
func TestIsolated(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		n, cols := 5+rng.IntN(30), 1+rng.IntN(3)
		of := make([]int, n)
		for i := range of {
			of[i] = rng.IntN(n)
		}
		cells := nearCells(rng, of, cols, 0.1*rng.Float64())
		set := labelledRows(n, cols, func(i, j int) float32 { return cells[i*cols+j] })
		d := newDistances(set.Pools[0], upTo[int32](n), upTo[int](cols), false)
		for a := range n {
			for b := range n {
				square := 0.
				for j := range cols {
					square += math.Pow(float64(cells[a*cols+j])-float64(cells[b*cols+j]), 2)
				}
				must.Hold(t, math.Abs(d.between(a, b)-math.Sqrt(square)) < 1e-6, "rows %d and %d: %v, expected %v", a, b, d.between(a, b),
					math.Sqrt(square))
			}
		}
		var want [][]int
		for i := range n {
			for k := range n {
				var ball []int
				across, apart := 0., math.Inf(1)
				for j := range n {
					if d.between(i, j) <= d.between(i, k) {
						ball = append(ball, j)
					}
				}
				for _, a := range ball {
					for b := range n {
						if slices.Contains(ball, b) {
							across = max(across, d.between(a, b))
						} else {
							apart = min(apart, d.between(a, b))
						}
					}
				}
				if len(ball) > 1 && len(ball) <= max(2, int(nearPartOfAll*float64(n))) && apart >= nearTimes*across {
					want = append(want, ball)
				}
			}
		}
		within := func(a, b []int) bool {
			return !slices.ContainsFunc(a, func(i int) bool { return !slices.Contains(b, i) })
		}
		all := slices.Clone(want)
		want = slices.DeleteFunc(want, func(a []int) bool {
			return slices.ContainsFunc(all, func(b []int) bool { return len(b) > len(a) && within(a, b) })
		})
		slices.SortFunc(want, slices.Compare)
		want = slices.CompactFunc(want, slices.Equal)
		var got [][]int
		for _, s := range d.isolated() {
			got = append(got, slices.Sorted(slices.Values(s.rows)))
		}
		slices.SortFunc(got, slices.Compare)
		must.Hold(t, slices.EqualFunc(got, want, slices.Equal), "found %v, expected %v", got, want)
	}
}

// The rate of an exponential distribution follows from the mean of what is seen of it.
func TestTruncatedRate(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		rate, most := math.Exp(3*rng.Float64()-1), 0.5+2*rng.Float64()
		sum, weight := 0., 0.
		for k := range 100_000 {
			x := most * (float64(k) + 0.5) / 100_000
			sum, weight = sum+x*math.Exp(-rate*x), weight+math.Exp(-rate*x)
		}
		got := truncatedRate(sum/weight, most)
		must.Hold(t, math.Abs(got/rate-1) < 1e-4, "rate %v below %v: found %v", rate, most, got)
	}
	must.Equal(t, truncatedRate(0.6, 1), 0, "the rate of values of which more are large")
}

// The dimension is hardly ever above that of the space which rows lie in, and above a tenth of it for many rows in four dimensions or more.
func TestDimension(t *testing.T) {
	rng := testrand.New(t)
	above, turns := 0, 40
	for range turns {
		n, dim, cols := 150+rng.IntN(100), 2+rng.IntN(8), 20
		turn := make([]float64, dim*cols)
		for i := range turn {
			turn[i] = rng.NormFloat64()
		}
		at := make([]float64, n*dim)
		for i := range at {
			at[i] = rng.Float64()
		}
		set := labelledRows(n, cols, func(i, j int) (v float32) {
			for k := range dim {
				v += float32(at[i*dim+k] * turn[k*cols+j])
			}
			return v
		})
		got := newDistances(set.Pools[0], upTo[int32](n), upTo[int](cols), false).dimension(upTo[int](n))
		must.Hold(t, (dim < 4 || got > 0.1*float64(dim)) && got < 1.3*float64(dim), "dimension %d of %d rows: %v", dim, n, got)
		if got > float64(dim) {
			above++
		}
	}
	must.Hold(t, above <= turns/10, "the dimension is too large in %d of %d cases", above, turns)
}
