package dataset

import (
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
		code, coded, from, to := labelCode(values[column], s.logOf(column) != nil)
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
