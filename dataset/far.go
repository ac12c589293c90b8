package dataset

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// A value is far from the others if its distance from the median exceeds farLabel, or among features farCell, times the interquartile
// range. Where that range is 0, the range from the 0.01 to the 0.99 quantile takes its place. Where that is 0 too, the distance must exceed
// farFromSame times the magnitude of the median, or times 1 if that is more. Of fewer than farLeast values none is far.
const (
	farLabel    = 1000
	farCell     = 100
	farFromSame = 1e6
	farLeast    = 20
	farLevels   = 3
)

// usual describes where values usually are.
type usual struct {
	q1, q3    float64 // the quartiles
	low, high float64 // the limits: values outside are far from the others
}

// usualOf sorts values and returns their quartiles and the limits beyond which a value is far from the others.
func usualOf(values []float64, away float64) usual {
	if len(values) < farLeast {
		return usual{low: math.Inf(-1), high: math.Inf(1)}
	}
	slices.Sort(values)
	at := func(share float64) float64 { return quantile(values, share) }
	median, far := at(0.5), away*(at(0.75)-at(0.25))
	if far == 0 {
		far = away * (at(0.99) - at(0.01))
	}
	if far == 0 {
		far = farFromSame * max(1, math.Abs(median))
	}
	return usual{at(0.25), at(0.75), median - far, median + far}
}

func (u usual) String() string { return fmt.Sprintf("half of all are from %.6g to %.6g", u.q1, u.q3) }

// kept says where half of the sorted values are where float32, which keeps their distance from a centre, has lost their differences, as if
// one far value has moved the centre away from all others. It returns an empty string where the quartiles say it.
func (u usual) kept(values []float64, centre float64) string {
	if len(values) < farLeast {
		return ""
	}
	median := quantile(values, 0.5)
	within := 0x1p-20 * math.Abs(median-centre)
	if u.q3-u.q1 >= within || within <= 8e-3*math.Max(1e-3, math.Abs(median)) {
		return ""
	}
	return fmt.Sprintf("half of all are within %.2g of %.6g", within, readable(median, 1e3*within)+0)
}

// labelColumns returns the columns of labels in their order.
func (s *Set) labelColumns() (columns []string) {
	for i := range s.Tasks {
		if name := s.Tasks[i].Output.Name; !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	return columns
}

// labelsNamed names the labels of a column in a message.
func labelsNamed(column string) string {
	if column == "" {
		return "labels"
	}
	return "labels of " + text.OneLine(column, 80)
}

// labelNumbers returns the numeric labels of each column over all tasks but those of sources in another unit.
func (s *Set) labelNumbers(units []labelUnit) map[string][]float64 {
	values := map[string][]float64{}
	for i := range s.Tasks {
		if t := &s.Tasks[i]; !isIn(units, t) {
			values[t.Output.Name] = append(values[t.Output.Name], t.numbers()...)
		}
	}
	return values
}

// farLabels lists, by column and pool, the numeric labels that are far from the others of their column or are probably slips (see [Slips]).
// A column with a code for a missing label is listed with that alone. farLabels sorts values. It removes the slips from them, unless the
// labels have a heavy tail without the slips too: then nothing is taken for a slip. Sources in another unit are passed over.
func (s *Set) farLabels(columns []string, values map[string][]float64, units []labelUnit, place placeOf) []Oddity {
	const advice = "see whether they are right, since a few such labels decide what is learned: correct them, or name them under missing " +
		"where they stand for no label"
	var out []Oddity
	for _, column := range columns {
		of, plain := labelsNamed(column), func(y float64) float64 { return y }
		if log := s.logOf(column); log != nil { // write the label as the data have it
			of, plain = labelsNamed(log.LogOf), log.Log.Inverse
		}
		u := usualOf(values[column], farLabel)
		code, coded, from, to := table.CodeOf(values[column])
		if all := values[column]; coded == 0 && len(all) >= farLeast && s.logOf(column) == nil && negativeIsCode(all) {
			coded = above(all, all[0])
			code, from, to = all[0], all[coded], all[len(all)-1]
		}
		if coded > 0 {
			out = append(out, Oddity{"", fmt.Sprintf("%.6g in %s of %s %s, all others are from %.6g to %.6g", code, text.Count(coded),
				text.Count(len(values[column])), of, from, to), "name it under missing of the label where it stands for none"})
			continue
		}
		slips := s.slipsOf(column)
		var wrong []float64
		for i, rows := range slips {
			wrong = append(wrong, s.Tasks[i].labelsOf(rows)...)
		}
		if rest := without(values[column], wrong); tailed(rest) { // then what lies far out belongs to the tail
			slips = nil
		} else {
			values[column] = rest
		}
		for i := range s.Tasks {
			t := &s.Tasks[i]
			if t.Output.Name != column || isIn(units, t) {
				continue
			}
			far, around, from, to := t.outside(u), "all", u.q1, u.q3
			if len(slips[i]) > len(far) {
				own := without(slices.Sorted(slices.Values(t.numbers())), t.labelsOf(slips[i]))
				far, around, from, to = slips[i], "the others of the source", own[len(own)/4], own[len(own)-1-len(own)/4]
			}
			if len(far) > 0 {
				p, first, n := s.Pools[t.Pool], far[0], len(t.Train)+len(t.Test)
				out = append(out, Oddity{p.Name, fmt.Sprintf(
					"%s of %s %s far from the others, the first %.6g in %s: half of %s are from %.6g to %.6g",
					text.Count(len(far)), text.Count(n), of, plain(float64(t.Labels[first])), place(p, int(first)), around, plain(from),
					plain(to)), advice})
			}
		}
	}
	return out
}

// logOf returns the description of a column whose labels are logarithms, and nil for other columns.
func (s *Set) logOf(column string) *LabelColumn {
	if s.Columns != nil {
		for i := range s.Columns.Labels {
			if l := &s.Columns.Labels[i]; l.Name == column && l.LogOf != "" {
				return l
			}
		}
	}
	return nil
}

// without returns the sorted values without some of them, each taken out once. It sorts some.
func without(values, some []float64) []float64 {
	slices.Sort(some)
	out := make([]float64, 0, len(values))
	for _, v := range values {
		if len(some) > 0 && v == some[0] {
			some = some[1:]
			continue
		}
		out = append(out, v)
	}
	return out
}

// slipsOf returns, by task of a column, the rows whose labels are probably slips.
func (s *Set) slipsOf(column string) map[int][]int32 {
	tasks, numbers := s.numbersOf(column)
	var log *table.Log
	if of := s.logOf(column); of != nil {
		log = &of.Log
	}
	out := map[int][]int32{}
	for at, places := range Slips(numbers, log) {
		rows := slices.Collect(s.Tasks[tasks[at]].labelledRows)
		for _, place := range places {
			out[tasks[at]] = append(out[tasks[at]], rows[place])
		}
	}
	return out
}

// numbersOf returns the tasks of a column of numbers, and the labels of each.
func (s *Set) numbersOf(column string) (tasks []int, numbers [][]float64) {
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Output.Name == column {
			tasks, numbers = append(tasks, i), append(numbers, t.numbers())
		}
	}
	return tasks, numbers
}

// labelledRows yields the rows that have a label.
func (t *Task) labelledRows(yield func(int32) bool) {
	if t.Labels == nil {
		return
	}
	for _, list := range [][]int32{t.Train, t.Test} {
		for _, r := range list {
			if !yield(r) {
				return
			}
		}
	}
}

// evenly returns at most that many of the labelled rows of the tasks of a column whose labels fit, evenly chosen from all, each with its
// task.
func (s *Set) evenly(column string, most int, fits func(y float64) bool) iter.Seq2[*Task, int32] {
	all := func(yield func(*Task, int32) bool) {
		for i := range s.Tasks {
			t := &s.Tasks[i]
			if t.Output.Name != column {
				continue
			}
			for r := range t.labelledRows {
				if fits(float64(t.Labels[r])) && !yield(t, r) {
					return
				}
			}
		}
	}
	return func(yield func(*Task, int32) bool) {
		n := 0
		for range all {
			n++
		}
		every, at := (n+most-1)/most, 0
		for t, r := range all {
			if at++; at%every == 0 && !yield(t, r) {
				return
			}
		}
	}
}

// numbers returns the labels of the rows that labelledRows yields, in the same order.
func (t *Task) numbers() (out []float64) {
	for r := range t.labelledRows {
		out = append(out, float64(t.Labels[r]))
	}
	return out
}

// labelsOf returns the labels of the given rows.
func (t *Task) labelsOf(rows []int32) (out []float64) {
	for _, r := range rows {
		out = append(out, float64(t.Labels[r]))
	}
	return out
}

// outside returns the labelled rows whose labels lie outside the limits of u.
func (t *Task) outside(u usual) (rows []int32) {
	for r := range t.labelledRows {
		if y := float64(t.Labels[r]); y < u.low || y > u.high {
			rows = append(rows, r)
		}
	}
	return rows
}

// rowName names row i of a pool by its row number in the data, and by its id if it has one.
func (p *Pool) rowName(i int) string {
	if p.Origin == nil {
		return fmt.Sprintf("row %d", i)
	}
	id, row, err := p.Origin.Find(i)
	switch {
	case err != nil:
		return fmt.Sprintf("row %d of the source", i)
	case id == "":
		return fmt.Sprintf("row %d", row)
	}
	return fmt.Sprintf("row %d (id %s)", row, text.OneLine(id, 80))
}

// place names row i of a pool by its file and line where these are known, and otherwise as rowName does.
func (p *Pool) place(i int) string {
	o, is := p.Origin.(Placer)
	if !is {
		return p.rowName(i)
	}
	at := o.Place(i)
	if at == "" {
		return p.rowName(i)
	}
	if id, _, err := p.Origin.Find(i); err == nil && id != "" {
		at += fmt.Sprintf(" (id %s)", text.OneLine(id, 80))
	}
	return text.OneLine(at, 300)
}

// farFeatures finds cells of a table that are far from the others of their column: the lowest and the highest cell of each column are
// compared with a sample of the rows.
type farFeatures struct {
	step      int         // every step-th row is in the sample
	sample    [][]float64 // by column
	rows      int
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
	if f.rows == 0 || x < f.low[j].value {
		f.low[j] = cell{x, pool, row}
	}
	if f.rows == 0 || x > f.high[j].value {
		f.high[j] = cell{x, pool, row}
	}
	if f.rows%f.step == 0 {
		f.sample[j] = append(f.sample[j], x)
	}
	if j == len(f.sample)-1 {
		f.rows++
	}
}

// cellsOutside returns how many cells of a feature are below low or above high.
func (s *Set) cellsOutside(feature int, low, high float64) (n int) {
	for _, p := range s.Pools {
		for r := range p.Rows {
			v := float64(p.feature(r*p.Cols + feature))
			n += bit(v < low || v > high)
		}
	}
	return n
}

// levels reports whether a cell that is below low or above high is no odd one because the column has other values in other sources, as the
// speed of machines of several kinds: in farLevels sources or more most cells are that far from those of the others, as where one source
// has most of the rows, and the cell is in one of them and not far from the others of its source.
func (s *Set) levels(feature int, c cell, low, high float64) bool {
	sources, own := 0, false
	for i, p := range s.Pools {
		far := 0
		for r := range p.Rows {
			v := float64(p.feature(r*p.Cols + feature))
			far += bit(v < low || v > high)
		}
		if p.Rows >= farLeast && 2*far > p.Rows {
			sources, own = sources+1, own || i == c.pool
		}
	}
	if sources < farLevels || !own {
		return false
	}
	values := make([]float64, s.Pools[c.pool].Rows)
	for r := range values {
		values[r] = float64(s.Pools[c.pool].feature(r*s.Pools[c.pool].Cols + feature))
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
			} else if n := s.cellsOutside(j, (u.low-centre)/spread, (u.high-centre)/spread); n > 1 {
				others = fmt.Sprintf(", the furthest of %s such cells", text.Count(n))
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
