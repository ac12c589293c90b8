package runs

import (
	"math"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/pipeline"
)

// FarColumn describes a column of features in which some rows lie further outside the range of the target's samples
// than farRanges times its width, or in which more rows than chance explains lie further outside than outsideRanges
// times its width. No sample of the target shows how an effect goes on there.
type FarColumn struct {
	Name string
	// Rows is the number of rows that lie far outside, First is the value of the first of them, and Low to High is the
	// range of the samples. Outside is the number of rows that lie outside by more than outsideRanges, or 0 where it is
	// below the fraction outsideRows of all rows or no more than chance explains.
	Rows, Outside    int64
	First, Low, High float64
}

const (
	farRanges     = 3
	outsideRanges = 0.1
	outsideRows   = 0.2
	// outsideLeast is the smallest number of rows outside that is reported.
	outsideLeast = 10
	// outsideChance is the probability that rows like the samples are reported as lying outside, in any column.
	outsideChance = 0.01
)

// far holds the ranges of the columns of a table over the target's samples, in the units of the columns, and counts the
// rows that lie outside of them.
type far struct {
	low, high []float64
	samples   int
	rows      []int64
	outside   []int64
	first     []float64
}

// ranges returns the least and the largest value of each column over the target's samples. Both are nil where the set
// is not a table whose columns were scaled to one unit.
func ranges(p *pipeline.Problem) (low, high []float64) {
	c, pool := p.Set.Columns, p.Set.Pools[p.Target.Pool]
	if len(c.Spread) == 0 || len(pool.F32) == 0 || len(c.Features) != pool.Cols {
		return nil, nil
	}
	columns, samples := len(c.Features)-c.Derived.Count()-table.CountWords(c.Words), p.TargetSamples().Rows
	for j := range columns {
		for i, r := range samples {
			step := 1e-6 * c.Spread[j] // the digits that float32 keeps
			x := math.Round((float64(pool.F32[int(r)*pool.Cols+j])*c.Spread[j]+c.Centre[j])/step) * step
			x += 0 // -0 is 0
			if i == 0 {
				low, high = append(low, x), append(high, x)
			}
			low[j], high[j] = min(low[j], x), max(high[j], x)
		}
	}
	return low, high
}

// add counts the rows of v that lie outside. The first features of v are the columns.
func (f *far) add(v *table.Vectors) {
	if f.rows == nil {
		f.rows, f.outside, f.first = make([]int64, len(f.low)), make([]int64, len(f.low)), make([]float64, len(f.low))
	}
	for i := 0; i < v.Len(); i += v.Width {
		for j, low := range f.low {
			x, high := v.Element(i+j), f.high[j]
			beyond := max(low-x, x-high) / (high - low) // NaN for a missing cell, infinite where all samples are alike
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

// tell passes each column with rows outside to say, if it is not nil. rows is the number of rows that were read.
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

// leastOutside returns the fraction of rows from which on rows are reported as lying outside. More than a fraction x of
// rows that are like the n samples lies above the largest of these with the probability (1 - x)^n.
func (f *far) leastOutside() float64 {
	if f.samples == 0 { // unknown
		return math.Inf(1)
	}
	ends := 2 * float64(len(f.low))
	return math.Max(outsideRows, 1-math.Pow(outsideChance/ends, 1/float64(f.samples)))
}
