package dataset

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// Oddity is something in the data that a run can live with and its user should know.
type Oddity struct {
	// Pool names the source that it concerns, empty where it concerns all of the data.
	Pool string `json:"source,omitempty"`
	// Found says what was found, and Advice what to do about it.
	Found  string `json:"found"`
	Advice string `json:"advice"`
}

// String returns one line: the source, what was found and what to do.
func (o Oddity) String() string {
	where := ""
	if o.Pool != "" {
		where = text.OneLine(o.Pool, 80) + ": "
	}
	return fmt.Sprintf("%s%s: %s", where, o.Found, o.Advice)
}

// Oddities lists what is odd about a set, in the order of its pools, or only the error of [Set.Validate] where it refuses the set:
//
//   - columns with too few labels to learn from, or with labels of one class or number alone, those of the target before all else;
//   - features that are the same in all rows, rise or fall from each row to the next, tell a label alone, or are known with it alone;
//   - rows that occur twice in a source, or in a source and in the target, and sources that are copies of others;
//   - rows of vectors that are all 0, which are not taken for copies of each other;
//   - sources without a label, or whose features are of another size;
//   - a target with fewer rows than outputs, without classes that sources have, or whose rows lie in few groups, or in groups of a source;
//   - names of sources that are words for none, and names that are nearly alike;
//   - sources with classes of their own, and none of those that the others share, or with far more or fewer labels of a class;
//   - sources whose labels run against those of the others, or in which classes are exchanged;
//   - numbers that are far from all others, or a code for a missing value, and labels in another unit than those of other sources;
//   - columns that in the target lie outside of what the sources have, or are the same in all rows, and columns that are the same in all
//     rows of single sources;
//   - columns of a table that sources have in another unit, or on another scale of temperature;
//   - columns of categories of which sources have words of their own, and none of those that the others share;
//   - labels of which the largest alone decide squared errors, and quantities that are taken for classes.
//
// It keeps 32 bytes for each row of the largest sources, one for each processor, 24 for each row of the targets, and 8 for each label that
// is a number.
func (s *Set) Oddities() []Oddity {
	if err := s.Validate(); err != nil {
		return []Oddity{{"", err.Error(), "mend it: nothing else was looked at"}}
	}
	seed, rows := maphash.MakeSeed(), 0
	for _, p := range s.Pools {
		rows += p.Rows
	}
	sizes, w := make([]float64, len(s.Pools)), twins{copies: newCopies(rows), few: s.fewValued()}
	zeros := s.zeroVectors()
	for i, p := range s.Pools {
		if p.Target {
			w.addTarget(notZero(s.rowHashes(i, seed), zeros, i))
		}
	}
	var all poolScan
	s.scans(seed, func(i int, of *poolScan) {
		sizes[i] = of.size
		all.merge(of)
		w.add(s.Pools[i], notZero(of.hashes, zeros, i))
	})
	w.copied = w.copies.found()
	out := []Oddity{}
	for i, p := range s.Pools {
		if p.Target {
			out = append(out, s.fewLabels(i)...)
		}
	}
	out = append(out, s.oddGroups()...)
	for i, p := range s.Pools {
		if text.LooksMissing(p.Name) {
			out = append(out, Oddity{p.Name, "the name is a word for none", "leave the rows out, or exclude it, if they have no source"})
		}
		out = append(append(out, w.oddities(s, i)...), s.oddLabels(i)...)
		if !p.Target {
			out = append(out, s.fewLabels(i)...)
		}
	}
	out = append(append(append(out, s.zeroOddity(zeros, (*Pool).place)...), w.oddity()...), append(w.elsewhere(), s.alike()...)...)
	near := s.projected()
	out = append(append(out, near.ofTarget((*Pool).place)...), near.ofSources()...)
	out = append(append(out, s.oddClasses()...), s.otherMeanings()...)
	if !s.Binary {
		out = append(out, s.oddNumbers((*Pool).place)...)
	}
	out = append(out, s.numberClasses((*Pool).place)...)
	if all.far != nil {
		out = append(out, all.far.oddities(s, (*Pool).place)...)
	}
	out = append(append(out, s.vectorCodes((*Pool).place)...), s.oddSizes(sizes, math.MaxInt32)...)
	constant, read := 0, s.base(s.Pools[0])
	for _, same := range all.same[:read] {
		if same {
			constant++
		}
	}
	if constant > 0 {
		first := s.place(slices.Index(all.same, true))
		advice := "leave them out of columns: features"
		if !s.featuresNamed() {
			advice = "they tell nothing: take them out where the vectors are made, or leave them"
		}
		out = append(out, Oddity{"", fmt.Sprintf("%s of %s features are the same in all rows, the first %s", text.Count(constant),
			text.Count(read), first), advice})
	}
	from := "leave it out of columns: features"
	if !s.featuresNamed() {
		from = "take it out where the vectors are made"
	}
	for j := range all.steps[:read] {
		if all.steps[j].oneWay() {
			out = append(out, Oddity{"", fmt.Sprintf("the feature %s goes one way from row to row of each source", s.place(j)),
				"if it numbers the rows, or tells when they came, " + from + "; new rows lie beyond all of these"})
		}
	}
	return append(append(append(append(out, s.shifted()...), s.unusedCodes()...), s.tellingOddities()...), s.comesWithLabel()...)
}

// unusedCodes lists the columns that have codes for a missing value but no missing cell: a digit of the code may be wrong, unless another
// column with missing cells has the same codes.
func (s *Set) unusedCodes() (out []Oddity) {
	if s.Columns == nil {
		return nil
	}
	filled := map[string]int64{}
	for j, n := range s.Columns.Filled[:min(len(s.Columns.Filled), len(s.Columns.Features))] {
		filled[s.Columns.Features[j]] = n
	}
	used := map[string]bool{}
	for _, c := range s.Columns.Codes {
		if filled[c.Column] > 0 {
			used[fmt.Sprint(c.Values)] = true
		}
	}
	for _, c := range s.Columns.Codes {
		if n, is := filled[c.Column]; is && n == 0 && !used[fmt.Sprint(c.Values)] {
			out = append(out, Oddity{"", fmt.Sprintf("no cell of column %s is missing, though missing has %v for it", text.OneLine(c.Column, 80),
				c.Values), "write the numbers under missing as the file has them"})
		}
	}
	return out
}

// featuresNamed reports whether each feature has a name, that of its column. The elements of vectors have no names, and cannot be left out
// one by one.
func (s *Set) featuresNamed() bool {
	return s.Columns != nil && len(s.Columns.Features) == s.Pools[0].Cols
}

// tabular reports whether features are several columns of a table.
func (s *Set) tabular() bool { return s.featuresNamed() && s.Pools[0].Cols > 1 }

// place names a feature by its column, or by its index where there is no name to tell it from others.
func (s *Set) place(feature int) string {
	if s.tabular() {
		return "in column " + text.OneLine(s.Columns.Features[feature], 80)
	}
	return fmt.Sprintf("at place %d", feature)
}

// steps counts the rows of sources in which a feature is above its value in the row before, and those in which it is below. level reports
// whether it was ever equal.
type steps struct {
	up, down int
	level    bool
}

// leastSteps is the least number of steps in one direction that are not taken for chance.
const leastSteps = 30

func (s steps) oneWay() bool {
	return !s.level && min(s.up, s.down) == 0 && s.up+s.down >= leastSteps
}

// oddLabels lists what is odd about the labels of a pool: no label at all, or, for a target, fewer labelled rows than outputs or classes
// that only sources have.
func (s *Set) oddLabels(pool int) []Oddity {
	var out []Oddity
	p, outputs, rows := s.Pools[pool], 0, 0
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Pool != pool {
			continue
		}
		outputs++
		rows = max(rows, len(t.Train)+len(t.Test))
	}
	switch {
	case outputs == 0:
		out = append(out, Oddity{p.Name, "no row has a label", "have some labelled, which amtrl study does, or exclude it: it is left out"})
	case p.Target && rows < outputs:
		out = append(out, Oddity{p.Name, fmt.Sprintf("%s for %s of the target", text.Several(rows, "labelled row"),
			text.Several(outputs, "output")),
			"have more rows of the target labelled, or join classes"})
	}
	if p.Target {
		for _, u := range s.UnseenClasses(pool, nil) {
			out = append(out, Oddity{p.Name, fmt.Sprintf("no labelled sample is %s, which sources have", u),
				"have such rows labelled: what a model knows of them is from the sources alone"})
		}
	}
	return out
}

// feature returns stored element i times Scale.
func (p *Pool) feature(i int) float32 {
	if len(p.U8) > 0 {
		return p.Scale * float32(p.U8[i])
	}
	return p.Scale * p.value(i)
}
