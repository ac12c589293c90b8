package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// A label is outside of the labels that are compared with where it is beyond the quartiles by more than outsideFar times the interquartile
// range: of labels, or for labels above 0, where none is below, of their logarithms. So skewed labels are not outside. Where half of all
// are the same, the range from the 0.01 to the 0.99 quantile takes the place of the interquartile one. Fewer than outsideLeast labels say
// nothing.
//
// Answers that came together are compared with the earlier ones of their source if these say something, or else with all earlier ones, or
// else with each other. Labels are in doubt where they are outside and outsideMany or more, and at least one in outsidePart of those that
// came together; or outsideFew or more, and at least half of those of their source that came together. They are also outsideOften times as
// many as there would be if the earlier labels, and one more of these, were as often outside. Answers came together if they are of one line
// of the journal, or of successive lines that have fewer than outsideLeast.
const (
	outsideFar   = 5
	outsideLeast = 20
	outsideMany  = 5
	outsidePart  = 20
	outsideFew   = 3
	outsideOften = 5
)

// Outside describes labels of a column, told together, that are far outside of the labels before, as if they were in another unit.
type Outside struct {
	Column string `json:"column"`
	// Labels is their number, Told the number of all labels of the column that came together with them, and Sources are their sources.
	Labels  int      `json:"labels"`
	Told    int      `json:"told"`
	Sources []string `json:"sources"`
	// Low and High are the least and the largest of them, UsualLow and UsualHigh those of the labels that they were compared with.
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	UsualLow  float64 `json:"usual_low"`
	UsualHigh float64 `json:"usual_high"`
}

// String says what the labels are.
func (o Outside) String() string {
	sources := text.List(o.Sources, mostListed)
	if n := len(o.Sources); n > mostListed {
		sources = text.Several(n, "source")
	}
	return fmt.Sprintf("%s of %s of %s that came together, those of %s, %s from %.6g to %.6g, far outside of the others, from %.6g to %.6g",
		text.Count(o.Labels), text.Several(o.Told, "label"), text.OneLine(o.Column, 80), sources, text.Form(o.Labels, "is", "are"), o.Low,
		o.High, o.UsualLow, o.UsualHigh)
}

// numberTold is a label of a row, told in a line of the journal, or in line 0 where it is in the data.
type numberTold struct {
	place
	line    int
	number  float64
	checked bool
}

// doubted are labels that came together, with those among them that are in doubt and the range of the labels that these are outside of.
type doubted struct {
	told, odd           []numberTold
	usualLow, usualHigh float64
}

// usualNumbers says where numbers usually are.
type usualNumbers struct {
	n, beyond int     // beyond is the number of those that are outside themselves
	low, high float64 // the limits
	least     float64 // the lower limit of numbers above 0
	from, to  float64 // the range of those that are not outside
}

func usualOf(numbers []float64) *usualNumbers {
	sorted := slices.Sorted(slices.Values(numbers))
	u := &usualNumbers{n: len(sorted), from: math.Inf(1), to: math.Inf(-1)}
	u.low, u.high = limits(sorted)
	zeros, _ := slices.BinarySearch(sorted, math.SmallestNonzeroFloat64)
	if sorted[0] >= 0 {
		logs := slices.Clone(sorted[zeros:])
		for i, y := range logs {
			logs[i] = math.Log(y)
		}
		low, high := limits(logs)
		u.least, u.high = math.Exp(low), math.Exp(high)
	}
	for _, y := range sorted {
		if u.outside(y) {
			u.beyond++
		} else {
			u.from, u.to = math.Min(u.from, y), math.Max(u.to, y)
		}
	}
	return u
}

// limits returns the limits of sorted numbers, which are infinite for a few and where nearly all are the same. They are not those of
// dataset.usualOf, which are far wider and lie around the median: there the question is whether a single value can be right at all, here
// whether many that came together can be in the unit of those before, whose logarithms may be what is compared.
func limits(sorted []float64) (low, high float64) {
	if len(sorted) < outsideLeast/2 {
		return math.Inf(-1), math.Inf(1)
	}
	at := func(share float64) float64 { return sorted[int(math.Round(share*float64(len(sorted)-1)))] }
	q1, q3 := at(0.25), at(0.75)
	far := outsideFar * (q3 - q1)
	if far == 0 {
		far = outsideFar * (at(0.99) - at(0.01))
	}
	if far == 0 {
		far = math.Inf(1)
	}
	return q1 - far, q3 + far
}

func (u *usualNumbers) outside(y float64) bool {
	return y < u.low || y > u.high || 0 < y && y < u.least
}

// known collects numbers, and finds anew what is usual once there are a quarter more.
type known struct {
	numbers []float64
	usual   *usualNumbers
}

// says returns what is usual, or nil where the numbers are too few.
func (k *known) says() *usualNumbers {
	if n := len(k.numbers); n >= outsideLeast && (k.usual == nil || 4*n >= 5*k.usual.n) {
		k.usual = usualOf(k.numbers)
	}
	return k.usual
}

// outside returns labels in doubt among those of a column, which are in the order of their lines. pools is the number of pools.
func outside(labels []numberTold, pools int) (out []doubted) {
	var all known
	own := make([]known, pools)
	for len(labels) > 0 {
		n, first := 1, labels[0].line
		for n < len(labels) && (labels[n].line == labels[n-1].line || n < outsideLeast && first > 0) {
			n++
		}
		d, odd := doubted{told: labels[:n]}, map[place]bool{}
		if first > 0 && d.find(&all, own) {
			out = append(out, d)
		}
		for _, l := range d.odd {
			odd[l.place] = true
		}
		for _, l := range d.told {
			if !odd[l.place] { // what is in doubt says nothing of later answers
				all.numbers, own[l.pool].numbers = append(all.numbers, l.number), append(own[l.pool].numbers, l.number)
			}
		}
		labels = labels[n:]
	}
	return out
}

// tally counts labels and those of them that are outside, and the labels that they are compared with likewise.
type tally struct {
	told, outside, usual, beyond int
}

func (t *tally) compareWith(u *usualNumbers) { t.usual, t.beyond = t.usual+u.n, t.beyond+u.beyond }

func (t *tally) add(outside bool) {
	if t.told++; outside {
		t.outside++
	}
}

func (t *tally) doubtful(least, part int) bool {
	return t.outside >= least && part*t.outside >= t.told && t.usual*t.outside >= outsideOften*(t.beyond+1)*t.told
}

// find finds what is in doubt by comparison with the earlier labels, all and those of each pool. It reports whether there is any.
func (d *doubted) find(all *known, own []known) bool {
	var together known
	usual, of, whole, compared := map[int]*usualNumbers{}, map[int]*tally{}, tally{}, map[*usualNumbers]bool{}
	for _, l := range d.told {
		together.numbers = append(together.numbers, l.number)
	}
	var outside []numberTold
	for _, l := range d.told {
		u := usual[l.pool]
		if u == nil {
			if u = cmp.Or(own[l.pool].says(), all.says(), together.says()); u == nil {
				return false
			}
			usual[l.pool], of[l.pool] = u, &tally{}
			if of[l.pool].compareWith(u); !compared[u] {
				compared[u] = true
				whole.compareWith(u)
			}
		}
		is := !l.checked && u.outside(l.number)
		if is {
			outside = append(outside, l)
		}
		of[l.pool].add(is)
		whole.add(is)
	}
	d.usualLow, d.usualHigh = math.Inf(1), math.Inf(-1)
	for _, l := range outside {
		if whole.doubtful(outsideMany, outsidePart) || of[l.pool].doubtful(outsideFew, 2) {
			d.odd = append(d.odd, l)
			d.usualLow, d.usualHigh = min(d.usualLow, usual[l.pool].from), max(d.usualHigh, usual[l.pool].to)
		}
	}
	return len(d.odd) > 0
}
