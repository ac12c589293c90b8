package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// farFeatures finds cells of a table that are far from the others of their column: the lowest and the highest cell of each column are
// compared with a sample of the rows.
type farFeatures struct {
	step      int         // every step-th row is in the sample
	sample    [][]float64 // by column
	first     int         // the number of the first row of a part of the rows
	rows      int         // the number of the next row
	low, high []cell
}

// cell is a feature of a row.
type cell struct {
	value     float64
	pool, row int
}

// newFarFeatures returns nil where features are not several columns of a table. Features that are computed from columns are not looked at.
func (s *Set) newFarFeatures() *farFeatures {
	if !s.tabular() {
		return nil
	}
	rows := 0
	for _, p := range s.Pools {
		rows += p.Rows
	}
	read := s.Columns.read()
	most := max(200, min(10_000, (1<<22)/read))
	return &farFeatures{step: (rows + most - 1) / most, sample: make([][]float64, read), low: make([]cell, read), high: make([]cell, read)}
}

// add counts feature j of a row. The features of a row must come in order, from feature 0 on.
func (f *farFeatures) add(j, pool, row int, x float64) {
	if j >= len(f.sample) { // a feature that is computed from columns
		return
	}
	if f.rows == f.first || x < f.low[j].value {
		f.low[j] = cell{x, pool, row}
	}
	if f.rows == f.first || x > f.high[j].value {
		f.high[j] = cell{x, pool, row}
	}
	if f.rows%f.step == 0 {
		f.sample[j] = append(f.sample[j], x)
	}
	if j == len(f.sample)-1 {
		f.rows++
	}
}

// part returns a farFeatures for the rows from this one on, or nil where f is.
func (f *farFeatures) part(row int) *farFeatures {
	if f == nil {
		return nil
	}
	n := len(f.sample)
	return &farFeatures{step: f.step, sample: make([][]float64, n), first: row, rows: row, low: make([]cell, n), high: make([]cell, n)}
}

// merge returns what was found in the rows of f, if it is not nil, and in those behind them, which are in next.
func (f *farFeatures) merge(next *farFeatures) *farFeatures {
	if f == nil || f.rows == f.first {
		return next
	}
	for j := range f.sample {
		f.sample[j] = append(f.sample[j], next.sample[j]...)
		if next.low[j].value < f.low[j].value {
			f.low[j] = next.low[j]
		}
		if next.high[j].value > f.high[j].value {
			f.high[j] = next.high[j]
		}
	}
	f.rows = next.rows
	return f
}

// cellsOutside returns how many cells of a feature are below low or above high.
func (p *Pool) cellsOutside(feature int, low, high float64) (n int) {
	for r := range p.Rows {
		v := float64(p.feature(r*p.Cols + feature))
		n += bit(v < low || v > high)
	}
	return n
}

// farLevels is the least number of sources with values of their own in which cells are no odd ones.
const farLevels = 3

// levels reports whether a cell that is below low or above high is no odd one because the column has other values in other sources, as the
// speed of machines of several kinds: in farLevels sources or more most cells are that far from those of the others, as where one source
// has most of the rows, and the cell is in one of them and not far from the others of its source.
func (s *Set) levels(feature int, c cell, low, high float64) bool {
	sources, own := 0, false
	for i, p := range s.Pools {
		if p.Rows >= farLeast && 2*p.cellsOutside(feature, low, high) > p.Rows {
			sources, own = sources+1, own || i == c.pool
		}
	}
	if sources < farLevels || !own {
		return false
	}
	p := s.Pools[c.pool]
	values := make([]float64, p.Rows)
	for r := range values {
		values[r] = float64(p.feature(r*p.Cols + feature))
	}
	x := values[c.row]
	u := usualOf(values, farCell) // which sorts them
	return x >= u.low && x <= u.high
}

// oddities lists the first few columns that have a code for a missing value or a cell far from the others, of which it names the furthest.
// It counts the other such columns.
func (f *farFeatures) oddities(s *Set, place placeOf) []Oddity {
	const most = 5
	var out []Oddity
	more := 0
	for j, sample := range f.sample {
		centre, spread := 0., 1.
		if len(s.Columns.Centre) > 0 {
			centre, spread = s.Columns.Centre[j], s.Columns.Spread[j]
		}
		for i, x := range sample {
			sample[i] = x*spread + centre
		}
		if filled := s.Columns.Filled; j < len(filled) && filled[j] > 0 { // the mean that filled cells is no value of the column
			sample = slices.DeleteFunc(sample, func(x float64) bool { return math.Abs(x-s.Columns.Means[j]) <= 1e-6*spread })
		}
		u := usualOf(sample, farCell)
		says := u.kept(sample, centre)
		low, high := f.low[j], f.high[j]
		low.value, high.value = low.value*spread+centre, high.value*spread+centre
		c := low
		if high.value-u.high > u.low-low.value {
			c = high
		}
		code, coded, from, to := table.CodeOf(sample)
		far, cut := c.value < u.low || c.value > u.high, ""
		for _, at := range s.Columns.Cuts { // the data do not hold what is beyond
			below, above := low.value <= at.Low+1e-5*spread, high.value >= at.High-1e-5*spread
			if at.Feature != j || !below && !above {
				continue
			}
			if far, coded, c, cut = true, 0, high, "above"; !above {
				c, cut = low, "below"
			}
		}
		if far && cut == "" && s.levels(j, c, (u.low-centre)/spread, (u.high-centre)/spread) {
			far = false
		}
		u.q1, u.q3, c.value = readable(u.q1, u.q3-u.q1), readable(u.q3, u.q3-u.q1), readable(c.value, u.q3-u.q1)
		code, from, to = readable(code, to-from), readable(from, to-from), readable(to, to-from)
		switch {
		case coded == 0 && (!far || table.HasLog(s.Columns.Logs, s.Columns.Features[j])): // which is known to have a long tail
		case len(out) == most:
			more++
		case coded > 0:
			out = append(out, Oddity{"", fmt.Sprintf("%.6g in column %s in %s of %s rows looked at, all others are from %.6g to %.6g", code,
				s.Columns.Features[j], text.Count(coded), text.Count(len(sample)), from, to), fmt.Sprintf(
				"where it stands for none: missing: {%q: %.6g}, as the file has it, beside fill: mean+indicator under columns", s.Columns.Features[j],
				code)})
		default:
			p, found, others := s.Pools[c.pool], fmt.Sprintf("%.6g in column %s", c.value, s.Columns.Features[j]), ""
			if cut != "" {
				found = fmt.Sprintf("a cell %s %s, counted as that", cut, found)
			} else {
				n := 0
				for _, p := range s.Pools {
					n += p.cellsOutside(j, (u.low-centre)/spread, (u.high-centre)/spread)
				}
				if n > 1 {
					others = fmt.Sprintf(", the furthest of %s such cells", text.Count(n))
				}
			}
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s, far from the others, in %s%s: %s", found, place(p, c.row), others,
				cmp.Or(says, u.String())), farAdvice})
		}
	}
	if more > 0 {
		found := fmt.Sprintf("%d more columns have values far from the others", more)
		out = append(out, Oddity{"", found, "see whether they stand for missing values"})
	}
	return out
}

// farAdvice is what to do about a cell far from the others.
const farAdvice = "correct it if it is wrong, or take such rows out where it stands for a missing value; where the column is right and " +
	"has a long tail, add its logarithm to columns: features, as \"log NAME\""

// farCells lists the columns of a table that have a cell far from the others, or a code for a missing value.
func (s *Set) farCells(place placeOf) []Oddity {
	f := s.newFarFeatures()
	if f == nil {
		return nil
	}
	for i, p := range s.Pools {
		for r := range p.Rows {
			for j := range p.Cols {
				f.add(j, i, r, float64(p.feature(r*p.Cols+j)))
			}
		}
	}
	return f.oddities(s, place)
}

// readable rounds x to a multiple of a power of ten, about 1e-4 times differ, the range of the values beside it: float32 may not have kept
// smaller digits. It returns x itself where differ is not above 0.
func readable(x, differ float64) float64 {
	if !(differ > 0) {
		return x
	}
	step := math.Pow(10, math.Floor(math.Log10(differ))-4)
	return math.Round(x/step) * step
}
