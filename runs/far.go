package runs

import (
	"math"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/pipeline"
)

// FarColumn is a column of features in which rows lie further outside of the target's samples than farRanges times their range, or more
// of the rows than chance explains further than outsideRanges: how an effect goes on there no sample of the target has told.
type FarColumn struct {
	Name string
	// Rows is how many rows lie far outside, First the value of the first of them, and Low to High is the range of the samples. Outside is
	// how many do at all, where these are outsideRows of all or more, and more than chance explains.
	Rows, Outside    int64
	First, Low, High float64
}

const (
	farRanges     = 3
	outsideRanges = 0.1
	outsideRows   = 0.2
	// outsideLeast is the fewest rows that tell a part.
	outsideLeast = 10
	// outsideChance is how often rows like the samples are said to lie outside, in any column.
	outsideChance = 0.01
)

// far are the ranges of the columns of a table over the target's samples, in the units of the columns, and what lies far outside of them.
type far struct {
	low, high []float64
	samples   int
	rows      []int64
	outside   []int64
	first     []float64
}

// ranges are empty where the set is no table whose columns were brought to one unit.
func ranges(p *pipeline.Problem) (low, high []float64) {
	c, pool := p.Set.Columns, p.Set.Pools[p.Target.Pool]
	if len(c.Spread) == 0 || len(pool.F32) == 0 || len(c.Features) != pool.Cols {
		return nil, nil
	}
	columns, samples := len(c.Features)-c.Knots.Count()-table.CountWords(c.Words), p.TargetSamples().Rows
	for j := range columns {
		for i, r := range samples {
			step := 1e-6 * c.Spread[j] // the digits that float32 keeps
			x := math.Round((float64(pool.F32[int(r)*pool.Cols+j])*c.Spread[j]+c.Centre[j])/step) * step
			if i == 0 {
				low, high = append(low, x), append(high, x)
			}
			low[j], high[j] = min(low[j], x), max(high[j], x)
		}
	}
	return low, high
}

// add counts the rows of v, which has the columns first.
func (f *far) add(v *table.Vectors) {
	if f.rows == nil {
		f.rows, f.outside, f.first = make([]int64, len(f.low)), make([]int64, len(f.low)), make([]float64, len(f.low))
	}
	for i := 0; i < v.Len(); i += v.Width {
		for j, low := range f.low {
			x, high := v.Element(i+j), f.high[j]
			beyond := max(low-x, x-high) / (high - low) // NaN of a missing cell, and infinite of samples that are all alike
			if beyond > outsideRanges && !math.IsInf(beyond, 1) {
				f.outside[j]++
			}
			if beyond > farRanges && !math.IsInf(beyond, 1) {
				if f.rows[j]++; f.rows[j] == 1 {
					f.first[j] = x
				}
			}
		}
	}
}

// tell says which columns have such rows, if any of so many was read.
func (f *far) tell(columns []string, rows int64, say func(FarColumn)) {
	least := f.leastOutside() * float64(rows)
	for j, n := range f.rows {
		outside := f.outside[j]
		if outside < outsideLeast || float64(outside) < least {
			outside = 0
		}
		if max(n, outside) > 0 && say != nil {
			say(FarColumn{columns[j], n, outside, f.first[j], f.low[j], f.high[j]})
		}
	}
}

// leastOutside is the part of rows above which they are said to lie outside. Above the largest of n samples lies more than a part x of rows
// like them with the probability (1 - x)^n.
func (f *far) leastOutside() float64 {
	if f.samples == 0 { // unknown
		return math.Inf(1)
	}
	ends := 2 * float64(len(f.low))
	return math.Max(outsideRows, 1-math.Pow(outsideChance/ends, 1/float64(f.samples)))
}
