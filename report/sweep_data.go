package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// sweepData holds what the page of a sweep needs of its results, which are read one after the other: means over the
// seeds of each target at the largest budget.
type sweepData struct {
	id      *runs.Identity
	summary *runs.Summary
	methods []string
	budgets []float64
	budget  float64 // the largest
	targets []*targetData
	// sources are the names of all sources, in the order in which they first occur.
	sources []string
	place   map[string]int
	advised bool // whether a result advises a network
}

type targetData struct {
	name  string
	seeds int
	// values are the scores of the methods; samples and shares are those of the sources. Each is a sum until finish
	// makes it a mean, and NaN for a source that the target does not have.
	values, samples, shares []float64
	drawn                   float64
	// least and most are the extremes of the shares over the seeds; five is the number of seeds in which a source has
	// one of the firstFive largest shares.
	least, most, five []float64
}

// firstFive is the number of largest shares that count as first in a seed.
const firstFive = 5

func readSweep(dir string, id *runs.Identity, s *runs.Summary) (*sweepData, error) {
	d := &sweepData{id: id, summary: s, methods: id.Config.Methods, place: map[string]int{}}
	for _, m := range s.Methods {
		if !slices.Contains(d.budgets, m.Budget) {
			d.budgets = append(d.budgets, m.Budget)
		}
	}
	slices.Sort(d.budgets)
	d.budget = d.budgets[len(d.budgets)-1]
	at := map[string]*targetData{}
	for _, t := range id.Targets {
		at[t] = &targetData{name: t, values: make([]float64, len(d.methods))}
		d.targets = append(d.targets, at[t])
	}
	err := runs.EachResult(dir, *id, s, func(r *runs.Result) error {
		d.advised = d.advised || r.ConvAdvised
		if r.Budget == d.budget {
			d.add(at[r.Target], r)
		}
		return nil
	})
	for _, t := range d.targets {
		t.finish(len(d.sources))
	}
	return d, err
}

func (d *sweepData) add(t *targetData, r *runs.Result) {
	t.seeds++
	for i, m := range r.Methods {
		t.values[i] += m.Score.Value
	}
	t.drawn += float64(r.Methods[0].Samples)
	for _, s := range r.Sources {
		i, known := d.place[s.Source]
		if !known {
			i = len(d.sources)
			d.place[s.Source] = i
			d.sources = append(d.sources, s.Source)
		}
		t.grow(len(d.sources))
		if math.IsNaN(t.shares[i]) {
			t.shares[i], t.samples[i], t.least[i] = 0, 0, math.Inf(1)
		}
		t.shares[i] += s.Share
		t.samples[i] += float64(s.Samples)
		t.least[i], t.most[i] = min(t.least[i], s.Share), max(t.most[i], s.Share)
	}
	shares := make([]float64, len(r.Sources))
	for i, s := range r.Sources {
		shares[i] = s.Share
	}
	for _, i := range largest(shares, firstFive) {
		t.five[d.place[r.Sources[i].Source]]++
	}
}

func (t *targetData) grow(n int) {
	for len(t.shares) < n {
		t.shares, t.samples = append(t.shares, math.NaN()), append(t.samples, math.NaN())
		t.least, t.most, t.five = append(t.least, 0), append(t.most, 0), append(t.five, 0)
	}
}

func (t *targetData) finish(sources int) {
	t.grow(sources)
	n := float64(max(1, t.seeds))
	for _, list := range [][]float64{t.values, t.shares, t.samples} {
		for i := range list {
			list[i] /= n
		}
	}
	t.drawn /= n
}

// gain returns by how much the first method is better than the second.
func (t *targetData) gain() float64 { return pipeline.Gain(t.values[0], t.values[1]) }

// strongest returns the indices of at most n sources with the largest shares.
func (t *targetData) strongest(n int) []int { return largest(t.shares, n) }

// grid lays out names such as fog_2 by what stands before and behind their last underscore, where they fill at least
// half of a table of at most 16 columns.
type grid struct {
	rows, columns []string
	// row and column hold the index of each name's row and column.
	row, column []int
}

func gridOf(names []string) *grid {
	g := &grid{}
	for _, n := range names {
		before, behind, ok := cutLast(n)
		if !ok {
			return nil
		}
		g.row, g.column = append(g.row, indexOf(&g.rows, before)), append(g.column, indexOf(&g.columns, behind))
	}
	if len(g.rows) < 2 || len(g.columns) < 2 || len(g.columns) > 16 || 2*len(names) < len(g.rows)*len(g.columns) {
		return nil
	}
	// Both ascend, as numbers where labels are numbers.
	ascend(g.rows, g.row)
	ascend(g.columns, g.column)
	return g
}

// ascend sorts labels and renumbers the places that refer to them.
func ascend(labels []string, places []int) {
	sorted := slices.Clone(labels)
	slices.SortFunc(sorted, func(a, b string) int {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if errX == nil && errY == nil {
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	for i, p := range places {
		places[i] = slices.Index(sorted, labels[p])
	}
	copy(labels, sorted)
}

func cutLast(name string) (before, behind string, ok bool) {
	at := strings.LastIndexByte(name, '_')
	if at <= 0 || at == len(name)-1 || len(name)-at > 7 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

func indexOf(list *[]string, s string) int {
	i := slices.Index(*list, s)
	if i < 0 {
		i = len(*list)
		*list = append(*list, s)
	}
	return i
}

// lay puts values into the table, NaN where there is none.
func (g *grid) lay(values []float64) [][]float64 {
	out := make([][]float64, len(g.rows))
	for i := range out {
		out[i] = slices.Repeat([]float64{math.NaN()}, len(g.columns))
	}
	for i, v := range values {
		out[g.row[i]][g.column[i]] = v
	}
	return out
}
