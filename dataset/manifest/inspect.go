package manifest

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Limits on what is read: inspectRows to find what the columns are, and the others to find which sources and classes there are.
const (
	inspectRows  = 1000 // the first rows, beside a [spread] of the rows behind them
	countRows    = 1 << 20
	countSources = 1 << 16
	countClasses = 1000
)

// column holds what the rows looked at show of a column.
type column struct {
	table.Column
	path          string // of the file whose rows are looked at
	rows, missing int
	blank         int      // of the missing cells, those without any word
	first         struct { // of the first rows
		rows, distinct int
		numbered       bool
	}
	single        bool // whether it holds single values in the first file that has it
	more          bool // whether there are more rows
	copied        bool // see markCopies
	padded        bool // whether numbers have leading zeros, as codes have
	drawnOnce     bool // whether all numbers are different, as those are that name something; see markCodes
	perhapsDrawn  bool // whether all rows could show drawnOnce
	late          lateness
	onceEach      bool     // whether no value is twice in a file, but some are in several of them, or missing in a few rows; see markEach
	likeFiles     bool     // see markLikeFiles
	again         *repeats // what keeps it from being the id
	all           *everywhere
	distinct      map[string]int
	cells         cells
	numbers, ints int // of the values that are there
	booleans      int
	low, high     float64
	lists         int
	word          string // the first value that is no number
	dates         int    // of the values that are no numbers
	commas        int    // of the values that are no numbers, those that would be numbers without commas, or points between thousands
	comma         string // the first of them
	apart         int    // of them, those whose commas can separate thousands
	decimal       int    // of them, those with a comma that can be the decimal sign
	points        int    // of the last, those with points between thousands
	pointed       bool   // whether some are numbers with points in a file of decimal commas
	units         int    // of the values that are no numbers, those that would be numbers without a unit and grouping
	unit          string // the first of these units
	united        string // and the first value that has it
	measures      map[string]measure
	decimalComma  bool // whether numbers have a decimal comma

	wordIn, commaIn, unitIn string // the files that word, comma and united are in
}

// has returns the number of values that are not missing.
func (c *column) has() int { return c.rows - c.missing }

func (c *column) numeric() bool {
	return c.Kind == table.Integer && !c.Time || c.Kind == table.Number || c.Kind == table.Text && c.has() > 0 && c.numbers == c.has()
}

// boolean reports whether all values are true or false.
func (c *column) boolean() bool { return c.has() > 0 && c.booleans == c.has() }

// hasCommas reports whether all values are numbers, some of them with commas.
func (c *column) hasCommas() bool { return c.commas > 0 && c.numbers+c.commas == c.has() }

// hasUnits reports whether nine tenths of the values or more are numbers, some of them with a unit.
func (c *column) hasUnits() bool { return c.units > 0 && 10*(c.units+c.numbers) >= 9*c.has() }

// plainUnits returns the advice how to write numbers with a unit.
func (c *column) plainUnits() string {
	return fmt.Sprintf("write plain numbers, without %s, spaces or commas between thousands", c.unit)
}

// thousands reports whether the commas of all values that have some can separate thousands.
func (c *column) thousands() bool { return c.apart == c.commas }

// endFirst marks the rows looked at so far as the first rows.
func (c *column) endFirst() {
	c.first.rows, c.first.distinct, c.first.numbered = c.rows, len(c.distinct), c.high-c.low == float64(len(c.distinct)-1)
}

// enoughNumbered is the least number of rows with which a column can be said to number the rows.
const enoughNumbered = 20

// numbered reports whether the values number the rows: they are integers, each once, and the first rows have each integer between their
// lowest and their highest.
func (c *column) numbered() bool {
	return c.numeric() && c.rows >= enoughNumbered && c.ints == c.rows && len(c.distinct) == c.rows && c.first.numbered
}

// numbersEach reports whether the values number the rows of each of several files, as far as the first of them show.
func (c *column) numbersEach() bool {
	return c.onceEach && c.numeric() && c.ints == c.rows && c.first.numbered && c.first.rows >= enoughNumbered && !c.named(momentNames)
}

// words reports whether all values are words: none is a number, true or false, a day or a list.
func (c *column) words() bool {
	return c.Kind == table.Text && c.has() > 0 && c.numbers+c.booleans+c.dates+c.lists == 0
}

// kinds returns the number of different words, without those that stand for a missing value.
func (c *column) kinds() (n int) {
	for word := range c.distinct {
		if !text.NoWord(word) {
			n++
		}
	}
	return n
}

// settle counts the word none as a value where all other values are words. It must be called once all rows were looked at.
func (c *column) settle() {
	if c.words() {
		for _, i := range c.cells.nones {
			c.cells.there[i] = true
		}
		c.missing, c.cells.nones = c.missing-len(c.cells.nones), nil
	}
	c.settleMeasure()
}

// list reports whether cells hold vectors.
func (c *column) list() bool { return c.Kind == table.Vector || c.has() > 0 && c.lists == c.has() }

// look counts value i as that of the next row.
func (c *column) look(v *table.Values, i int) {
	c.decimalComma = c.decimalComma || v.DecimalComma
	if v.Lacks(i) {
		c.lack()
		return
	}
	row := c.rows
	c.rows++
	c.cells.words, c.cells.there = append(c.cells.words, 0), append(c.cells.there, false)
	name := v.Word(i)
	if name != "" {
		c.distinct[name]++
		c.cells.words[row] = maphash.String(wordSeed, name)
	} else {
		c.blank++
	}
	if name == "" || text.LooksMissing(name) {
		c.missing++
		if name != "" && !text.NoWord(name) {
			c.cells.nones = append(c.cells.nones, row)
		}
		return
	}
	c.cells.there[row] = true
	if strings.EqualFold(name, "true") || strings.EqualFold(name, "false") {
		c.booleans++
	}
	if x, ok := v.Number(i); ok && v.Bools == nil {
		if c.numbers == 0 {
			c.low, c.high = x, x
		}
		c.numbers++
		c.low, c.high = min(c.low, x), max(c.high, x)
		if x == math.Trunc(x) {
			c.ints++
		}
	} else {
		if c.word == "" {
			c.word, c.wordIn = strings.Clone(name), c.path
		}
		if date.MatchString(name) {
			c.dates++
		}
		c.lookAtCommas(v, i)
		if unit := table.UnitOf(name); unit != "" {
			if c.units++; c.units == 1 {
				c.unit, c.united, c.unitIn = unit, strings.Clone(name), c.path
			}
		} else {
			c.lookAtMeasure(name)
		}
	}
	if name[0] == '[' && !table.NoNumbers(name) {
		c.lists++
	}
}

// lack counts the next row as one that lacks a value.
func (c *column) lack() {
	c.rows, c.missing, c.blank = c.rows+1, c.missing+1, c.blank+1
	c.cells.words, c.cells.there = append(c.cells.words, 0), append(c.cells.there, false)
}

func (c *column) lookAtCommas(v *table.Values, i int) {
	name := v.Word(i)
	apart, decimal := table.HasThousands(name), table.HasDecimalComma(name)
	_, plain := v.Plain(i)
	if c.pointed = c.pointed || !plain; !apart && !decimal && plain {
		return
	}
	if c.commas++; c.commas == 1 {
		c.comma, c.commaIn = strings.Clone(name), c.path
	}
	if apart {
		c.apart++
	}
	if decimal {
		c.decimal++
		if strings.Contains(name, ".") {
			c.points++
		}
	}
}

// counts holds the number of rows and of labelled rows of each source, and what the labels are.
type counts struct {
	sources  map[string]*SourceCount
	labels   []labelCounts
	all      bool      // whether all rows were read
	gaps     []int     // number of missing cells of each of the features asked for
	least    []float64 // the least number of each of these that has its logarithm beside it
	rows     int
	costs    costs
	nameless string // where the first row without a source is
}

// labelCounts holds the number of rows of each class of a label, and of each word that stands for no label. among counts the numbers of a
// column of text.
type labelCounts struct {
	classes, missing map[string]int
	among            dataset.NumbersAmong
	none             func(word string) bool // whether a word stands for no label
	decimalComma     bool                   // whether numbers have a decimal comma
}

// costs holds the cost of each source. vary reports whether rows of one source differ in cost. none is the first value that is no cost, and
// where says where it is. rows counts the rows with a cost, and others those with a value that is no cost.
type costs struct {
	of           map[string]float64
	vary         bool
	none, where  string
	rows, others int
}

// add counts row i of a batch, whose costs are v.
func (c *costs) add(source string, b *table.Batch, v *table.Values, i int) {
	x, ok := v.Number(i)
	old, known := c.of[source]
	switch {
	case v.IsEmpty(i):
		return
	case !ok || !(x >= dataset.MinCost && x <= dataset.MaxCost):
		if c.others++; c.none == "" {
			c.none, c.where = strings.Clone(cmp.Or(v.Name(i), " ")), b.Where(i)
		}
		return
	case known && x != old:
		c.vary = true
	case !known:
		c.of[source] = x
	}
	c.rows++
}

// refuse returns an error where the column would hold the costs but for a minority of rows, whose values are no costs.
func (c *costs) refuse(column string) error {
	if c.none == "" || c.vary || c.rows <= c.others {
		return nil
	}
	return fmt.Errorf("%s, column %s: expected what a label costs, a number from %g to %g, as in %s of %s rows, found %q: write what it "+
		"costs, or leave the cell empty; if the column is no cost, say which columns are features with --features",
		c.where, text.OneLine(column, 80), dataset.MinCost, dataset.MaxCost, text.Count(c.rows), text.Count(c.rows+c.others),
		text.OneLine(c.none, 20))
}

// SourceCount holds the number of rows of a source, and of those with any label.
type SourceCount struct {
	Name           string
	Rows, Labelled int
}

// count reads the sources, the labels and the costs of the files, and counts the missing cells of features, which must be scalars. It stops
// early where there are countRows rows or more than countSources sources.
func count(ctx context.Context, m *Manifest, inputs []Input, features []string) (*counts, error) {
	c := &counts{sources: map[string]*SourceCount{}, all: true, gaps: make([]int, len(features)),
		least: slices.Repeat([]float64{math.Inf(1)}, len(features)), costs: costs{of: map[string]float64{}}}
	for _, l := range m.Labels {
		none := text.NoWord
		if l.Type == Number { // among numbers the word none is not a class
			none = text.LooksMissing
		}
		c.labels = append(c.labels, labelCounts{classes: map[string]int{}, missing: map[string]int{}, none: none})
	}
	for _, in := range inputs {
		t, err := m.Open(in)
		if err != nil {
			return nil, err
		}
		var q table.Query
		for _, l := range m.Labels {
			q.Scalars = append(q.Scalars, l.Column)
		}
		file := m.SourceOf(in.Path)
		if file == "" {
			q.Scalars = append(q.Scalars, m.Source)
		}
		if m.Cost != "" {
			q.Scalars = append(q.Scalars, m.Cost)
		}
		said := len(q.Scalars)
		q.Scalars = append(append(q.Scalars, features...), m.Categories...)
		err = t.Scan(q, func(b *table.Batch) error {
			for j := range features {
				c.gaps[j] += gaps(&b.Scalars[said+j], b.Rows)
				for i := 0; i < b.Rows && table.HasLog(m.Features, features[j]); i++ {
					if x, ok := b.Scalars[said+j].Number(i); ok && x < c.least[j] {
						c.least[j] = x
					}
				}
			}
			for i := range b.Rows {
				for j, name := range q.Scalars {
					if v := &b.Scalars[j]; (j < said || j >= said+len(features)) && v.Text != nil && !v.IsMissing(i) {
						if err := b.CheckUTF8(i, name, v.Text[i]); err != nil {
							return err
						}
					}
				}
				source := c.add(b, i, file)
				if m.Cost != "" {
					c.costs.add(source, b, &b.Scalars[said-1], i)
				}
			}
			if c.rows += b.Rows; c.rows >= countRows || len(c.sources) > countSources {
				c.all = false
				return errEnough
			}
			return ctx.Err()
		})
		t.Close()
		if err == errEnough {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// gaps counts the missing values among the first rows of v.
func gaps(v *table.Values, rows int) int {
	n := 0
	for i := range rows {
		if lacks(v, i) {
			n++
		}
	}
	return n
}

// lacks reports whether value i is missing, or a word for that.
func lacks(v *table.Values, i int) bool {
	return v.IsEmpty(i) || v.Text != nil && text.LooksMissing(v.Name(i))
}

// add counts row i of a batch and returns its source: the given one, or where that is empty what the source column says.
func (c *counts) add(b *table.Batch, i int, source string) string {
	if v := b.Scalars[len(c.labels):]; source == "" && !v[0].Lacks(i) {
		source = v[0].Word(i)
	}
	if source == "" && c.nameless == "" {
		c.nameless = b.Where(i)
	}
	s := c.sources[source]
	if s == nil {
		s = &SourceCount{Name: strings.Clone(source)}
		c.sources[s.Name] = s
	}
	s.Rows++
	labelled := false
	for j := range c.labels {
		labelled = c.labels[j].add(&b.Scalars[j], i) || labelled
	}
	if labelled {
		s.Labelled++
	}
	return s.Name
}

// add counts value i and reports whether it is a label.
func (l *labelCounts) add(v *table.Values, i int) bool {
	if v.Lacks(i) {
		return false
	}
	name := v.Word(i)
	l.decimalComma = l.decimalComma || v.DecimalComma
	switch {
	case name == "":
		return false
	case l.none(name):
		l.missing[strings.Clone(name)]++
		return false
	}
	if _, known := l.classes[name]; known || len(l.classes) <= countClasses {
		l.classes[strings.Clone(name)]++
	}
	if v.Text != nil {
		l.among.Add(name, 1)
	}
	return true
}

// number returns a word as a number. ok is false where it is none.
func number(word string, decimalComma bool) (x float64, ok bool) {
	return (&table.Values{Text: []string{word}, DecimalComma: decimalComma}).Number(0)
}

// serial returns what stands before the number at the end of a name such as f12, and whether there is such a number.
func serial(name string) (prefix string, is bool) {
	prefix = strings.TrimRight(name, "0123456789")
	_, err := strconv.Atoi(name[len(prefix):])
	return prefix, err == nil
}

// relative returns a path as a manifest in the folder dir names it.
func relative(dir, path string) string {
	absDir, err1 := filepath.Abs(dir)
	abs, err2 := filepath.Abs(path)
	if err1 != nil || err2 != nil {
		return path
	}
	if rel, err := filepath.Rel(absDir, abs); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return abs
}
