package dataset

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// rowHash identifies a row by its pool and number, and holds hashes of its features and of its labels, 0 where it has none.
type rowHash struct {
	features, labels uint64
	pool, row        int32
}

// twins counts the rows whose features equal those of another row.
type twins struct {
	target []rowHash // the rows of targets, sorted by the hashes of their features
	counts []twinCount
	copies copies
	copied map[int32]copyOf // the sources that are copies of others
	few    bool             // whether features have few values ([Set.fewValued])
}

// twinCount counts the rows of one source: all of them, those that repeat an earlier row's features, and those that repeat the features of
// a row of the target.
type twinCount struct {
	rows           int
	before, target alikeRows
}

// alikeRows counts n rows that repeat the features of another row. pairs counts the cases in which both rows have labels, and differ the
// pairs in which the labels differ. first is the first of the n rows, and as the row whose features it repeats.
type alikeRows struct {
	n, pairs, differ int
	first, as        rowHash
}

func (a *alikeRows) add(r, as rowHash) {
	if a.n++; a.n == 1 || r.row < a.first.row {
		a.first, a.as = r, as
	}
	if r.labels != 0 && as.labels != 0 {
		if a.pairs++; r.labels != as.labels {
			a.differ++
		}
	}
}

// fewDiffer is the number of pairs whose labels may differ where rows are copies, since people who label differ: this many, or a tenth of
// all pairs if that is more.
const fewDiffer = 4

// notCopies reports whether the rows have equal features for another reason than that they are copies, since the labels of copies agree:
// features have few values, or the rows lack their features.
func (a *alikeRows) notCopies() bool { return a.differ > max(fewDiffer, a.pairs/10) }

// oddity returns the oddity that says how many rows of their pool these are, and names the first of them and the row that it repeats.
func (a *alikeRows) oddity(s *Set, like, advice string, place placeOf) Oddity {
	p, many := s.Pools[a.first.pool], ", the first is "
	if a.n == 1 {
		many = ": "
	}
	return Oddity{p.Name, fmt.Sprintf("%s of %s %s the features of %s%s%s, like %s", text.Count(a.n), text.Several(p.Rows, "row"),
		text.Form(a.n, "has", "have"), like, many, place(p, int(a.first.row)), place(s.Pools[a.as.pool], int(a.as.row))), advice}
}

func byFeatures(a, b rowHash) int { return cmp.Compare(a.features, b.features) }

// addTarget adds the rows of a target. All targets must be added before the first source.
func (w *twins) addTarget(rows []rowHash) {
	w.target = append(w.target, rows...)
	slices.SortStableFunc(w.target, byFeatures)
}

// add counts the rows of the next pool, which it sorts, and compares them with those of other sources.
func (w *twins) add(p *Pool, rows []rowHash) {
	w.count(p, rows)
	w.copies.add(p, rows)
}

// count counts the rows of the next pool, which it sorts by the hashes of their features.
func (w *twins) count(p *Pool, rows []rowHash) {
	slices.SortFunc(rows, func(a, b rowHash) int { return cmp.Or(byFeatures(a, b), cmp.Compare(a.row, b.row)) })
	c := twinCount{rows: len(rows)}
	for i, r := range rows {
		if i > 0 && r.features == rows[i-1].features {
			c.before.add(r, rows[i-1])
		}
		if at, is := slices.BinarySearchFunc(w.target, r, byFeatures); is && !p.Target {
			c.target.add(r, w.target[at])
		}
	}
	w.counts = append(w.counts, c)
}

// all returns the totals over all sources: in n the rows that repeat an earlier row, in pairs and differ the pairs of these rows and of the
// rows that repeat a row of the target.
func (w *twins) all() (all alikeRows) {
	for _, c := range w.counts {
		all.n += c.before.n
		all.pairs, all.differ = all.pairs+c.before.pairs+c.target.pairs, all.differ+c.before.differ+c.target.differ
	}
	return all
}

// alike reports whether rows of the sources have equal features because features have few values. Then the labels of such rows differ, and
// either most sources have many such rows, or labels differ in more than one source and in most of the sources that have such rows. A
// single source may instead have rows that lack their features.
func (w *twins) alike() bool {
	if !w.few {
		return false
	}
	have, differ := 0, 0
	for _, c := range w.counts {
		if n := c.before.pairs + c.target.pairs; n > 0 {
			have++
			if 10*(c.before.differ+c.target.differ) > n {
				differ++
			}
		}
	}
	all := w.all()
	return all.notCopies() && (w.repeated() > fewValues || differ > 1 && 2*differ > have)
}

// oddities lists what is odd about the repeated rows of a pool.
func (w *twins) oddities(s *Set, pool int) (out []Oddity) {
	if s.Pools[pool].Target {
		out = s.repeatOddity(pool, (*Pool).place)
	}
	if w.alike() || len(out) > 0 {
		return out
	}
	if c := w.counts[pool].before; c.notCopies() {
		odd := c.oddity(s, "a row before it in the source", "look at these rows: they may lack their features, as of a text that was not read, "+
			"or say twice what is the same", (*Pool).place)
		odd.Found += fmt.Sprintf("; labels differ in %s of %s cases", text.Count(c.differ), text.Count(c.pairs))
		return append([]Oddity{odd}, w.ofTarget(s, pool, (*Pool).place)...)
	}
	if c, is := w.copied[int32(pool)]; is {
		out = append(out, w.copyOddity(s, pool, c))
	}
	if c := w.counts[pool].before; c.n > 0 {
		advice := text.Form(c.n, "take it out if it is a copy, which is paid twice and says nothing new",
			"take copies out, which are paid twice and say nothing new")
		out = append(out, c.oddity(s, "a row before it in the source", advice, (*Pool).place))
	}
	return append(out, w.ofTarget(s, pool, (*Pool).place)...)
}

// copyOddity says that a source is a copy of another. Of many, all have the same words, so that they can be listed together.
func (w *twins) copyOddity(s *Set, pool int, of copyOf) Oddity {
	const nothingNew = ": it is paid twice and says nothing new"
	if len(w.copied) <= fewCopies {
		return Oddity{s.Pools[pool].Name, fmt.Sprintf("%.0f %% of its labelled rows are those of %s, with the same labels", 100*of.part,
			text.OneLine(s.Pools[of.pool].Name, 80)), "exclude one of the two, or what both have" + nothingNew}
	}
	least := of.part
	for _, c := range w.copied {
		least = min(least, c.part)
	}
	return Oddity{s.Pools[pool].Name, fmt.Sprintf("%.0f %% or more of its labelled rows are those of another source, with the same labels",
		math.Floor(100*least)), "exclude it, or what the other has too" + nothingNew}
}

// fewValues is the share of rows that repeat an earlier row of their pool, in the median pool, above which features have few values,
// whatever the labels say: where one label is much more frequent than others, rows that are alike by chance have the same label.
const fewValues = 0.1

// repeated returns, for the median pool, the share of rows that repeat an earlier row.
func (w *twins) repeated() float64 {
	var parts []float64
	for _, c := range w.counts {
		if c.rows > 0 {
			parts = append(parts, float64(c.before.n)/float64(c.rows))
		}
	}
	slices.Sort(parts)
	return parts[(len(parts)-1)/2]
}

// ofTarget returns the oddity of a pool that has rows of the target, or nil.
func (w *twins) ofTarget(s *Set, pool int, place placeOf) []Oddity {
	c, all := w.counts[pool].target, w.allOfTarget()
	if c.n == 0 || c.notCopies() || all.notCopies() || w.alike() || w.few && w.repeated() > fewValues {
		return nil
	}
	return []Oddity{c.oddity(s, "a row of the target", text.Form(c.n, "take it out: the error on the target is too good with it",
		"take them out: the error on the target is too good with them"), place)}
}

// allOfTarget returns the total of the rows that repeat the features of a row of the target.
func (w *twins) allOfTarget() (all alikeRows) {
	for _, c := range w.counts {
		all.n, all.pairs, all.differ = all.n+c.target.n, all.pairs+c.target.pairs, all.differ+c.target.differ
	}
	return all
}

// elsewhere returns the oddity of sources that have rows of the target with other labels, such as those of another question about the same
// things, or nil.
func (w *twins) elsewhere() []Oddity {
	all, sources := w.allOfTarget(), 0
	if !all.notCopies() || w.few {
		return nil
	}
	for _, c := range w.counts {
		if c.target.n > 0 {
			sources++
		}
	}
	return []Oddity{{"", fmt.Sprintf("%s of %s have the features of a row of the target, and labels differ in %s of %s cases",
		text.Several(all.n, "row"), text.Several(sources, "source"), text.Count(all.differ), text.Count(all.pairs)),
		"if new rows of the target have no such rows, the error on it is too good: take them out to see it without"}}
}

// oddity returns the oddity of all the data where features have few values, or nil.
func (w *twins) oddity() []Oddity {
	if !w.alike() {
		return nil
	}
	rows, before := 0, alikeRows{}
	for _, c := range w.counts {
		rows += c.rows
		before.n, before.pairs, before.differ = before.n+c.before.n, before.pairs+c.before.pairs, before.differ+c.before.differ
	}
	return []Oddity{{"", fmt.Sprintf("%s of %s rows have the features of a row before in their source; labels differ in %s of %s cases",
		text.Count(before.n), text.Count(rows), text.Count(before.differ), text.Count(before.pairs)),
		"take out copies alone: features of few values are often alike"}}
}

// fewValued reports whether the features of most pools have few values: a row is on average equal to another, different row in every other
// feature.
func (s *Set) fewValued() bool {
	few, seen, step := 0, 0, max(1, len(s.Pools)/fewPools)
	for i := 0; i < len(s.Pools); i += step {
		p := s.Pools[i]
		_, different := p.equalRows(upTo[int32](min(p.Rows, fewLooked)))
		if seen++; s.halfAlike(p, different)*float64(len(different)-1) >= 1 {
			few++
		}
	}
	return 2*few > seen
}

// fewPools and fewLooked bound the pools and the rows of each that [Set.fewValued] looks at.
const fewPools, fewLooked = 20, 500

// rowLabel is the label of a row for one output, with the bits of its value.
type rowLabel struct {
	output Output
	value  uint32
}

// labelHashes returns a hash of the labels of each row of a pool, 0 where a row has none.
func (s *Set) labelHashes(pool int, seed maphash.Seed) []uint64 {
	hashes := make([]uint64, s.Pools[pool].Rows)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Pool != pool {
			continue
		}
		for r := range t.labelledRows {
			hashes[r] |= 1 // the row has a label, if only of a class without a task
			if y := t.Labels[r]; !s.Binary || y == 1 {
				hashes[r] += maphash.Comparable(seed, rowLabel{t.Output, math.Float32bits(y)}) &^ 1
			}
		}
	}
	return hashes
}
