package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/text"
)

// A source has words of its own in a column where at most hardlyShared of its rows have a word of the others, though more than half of all
// sources are linked by words that they share, and in three quarters of those nearly all rows have a word that another of them has too. A
// column of which each source has words of its own, such as that of a department, has no such links. Two words of the source's own are
// expected, or a single one that is another way to write a word of the others: that a source has one word alone, which others lack, is
// usual. Sources with fewer than slipLeast rows are not looked at.
const (
	hardlyShared = 0.1
	nearlyAll    = 1 - hardlyShared
	// ownListed is the largest number of lists of words, and of sources with the same words, that are listed, ownQuoted that of words in a
	// list, and ownLines that of columns.
	ownListed = 5
	ownQuoted = 3
	ownLines  = 3
)

// wordCount is the number of rows of a source that have a word.
type wordCount struct{ word, rows int }

// columnWords counts the words of a column, classes or categories, by pool. A pool lists the words that occur in it.
type columnWords struct {
	column string
	words  []string
	of     [][]wordCount
}

// classCounts counts the labelled rows of each class of the columns of labels that have names of classes.
func (s *Set) classCounts() (out []*columnWords) {
	rows := [][]int(nil) // labelled rows by column and pool
	place := map[Output]int{}
	at := func(o Output) (column, word int) {
		column = slices.IndexFunc(out, func(c *columnWords) bool { return c.column == o.Name })
		if column < 0 {
			column = len(out)
			out = append(out, &columnWords{column: o.Name, of: make([][]wordCount, len(s.Pools))})
			rows = append(rows, make([]int, len(s.Pools)))
		}
		c := out[column]
		word, is := place[o]
		if !is {
			word, place[o], c.words = len(c.words), len(c.words), append(c.words, o.Class)
		}
		return column, word
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Labels == nil || t.Output.Class == "" {
			continue
		}
		column, word := at(t.Output)
		ones := 0
		for _, list := range [][]int32{t.Train, t.Test} {
			for _, r := range list {
				ones += int(t.Labels[r])
			}
		}
		rows[column][t.Pool] = len(t.Train) + len(t.Test)
		if ones > 0 {
			out[column].of[t.Pool] = append(out[column].of[t.Pool], wordCount{word, ones})
		}
	}
	for i := range s.Tasks { // of two classes, one may have no task
		t := &s.Tasks[i]
		other := Output{t.Output.Name, s.otherClass(t.Output)}
		if t.Labels == nil || t.Output.Class == "" || other.Class == "" {
			continue
		}
		column, word := at(other)
		counts := &out[column].of[t.Pool]
		if n := rows[column][t.Pool] - rowsOf(*counts); n > 0 {
			*counts = append(*counts, wordCount{word, n})
		}
	}
	return out
}

// rowsOf returns the number of rows that have one of the words.
func rowsOf(counts []wordCount) (rows int) {
	for _, w := range counts {
		rows += w.rows
	}
	return rows
}

// frequent returns the most frequent words, those that nearly all rows have together, and the first of these.
func frequent(counts []wordCount) []wordCount {
	sorted, rows := slices.Clone(counts), 0
	slices.SortStableFunc(sorted, func(a, b wordCount) int { return cmp.Compare(b.rows, a.rows) })
	all := rowsOf(counts)
	for i, w := range sorted {
		if rows += w.rows; float64(rows) >= nearlyAll*float64(all) {
			return sorted[:i+1]
		}
	}
	return sorted
}

// linked returns the largest number of sources that are linked by frequent words that they share, each with another of them, if these are
// more than half of those that are looked at.
func (c *columnWords) linked() (sources []int) {
	to, first, looked := make([]int, len(c.of)), slices.Repeat([]int{-1}, len(c.words)), 0
	find := func(i int) int {
		for to[i] != i {
			to[i] = to[to[i]]
			i = to[i]
		}
		return i
	}
	for i, counts := range c.of {
		to[i] = i
		if rowsOf(counts) < slipLeast {
			continue
		}
		looked++
		for _, w := range frequent(counts) {
			if first[w.word] < 0 {
				first[w.word] = i
			}
			to[find(first[w.word])] = find(i)
		}
	}
	of := map[int][]int{}
	for i := range to {
		if rowsOf(c.of[i]) >= slipLeast {
			of[find(i)] = append(of[find(i)], i)
		}
	}
	for _, list := range of {
		if 2*len(list) > looked && len(list) > 1 {
			return list
		}
	}
	return nil
}

// strangers returns the sources that have words of their own, ascending, and for each word the number of rows that have it in the sources
// that are linked.
func (c *columnWords) strangers() (odd, common []int) {
	linked := c.linked()
	common = make([]int, len(c.words))
	holders := make([]int, len(c.words))
	for _, i := range linked {
		for _, w := range c.of[i] {
			common[w.word] += w.rows
			holders[w.word]++
		}
	}
	sharing := 0
	for _, i := range linked {
		shared := 0
		for _, w := range c.of[i] {
			if holders[w.word] > 1 {
				shared += w.rows
			}
		}
		if float64(shared) >= nearlyAll*float64(rowsOf(c.of[i])) {
			sharing++
		}
	}
	if len(linked) == 0 || len(linked) == len(c.of) || 4*sharing < 3*len(linked) {
		return nil, common
	}
	var theirs []string
	for w, rows := range common {
		if rows > 0 {
			theirs = append(theirs, c.words[w])
		}
	}
	for i, counts := range c.of {
		all := rowsOf(counts)
		if all < slipLeast {
			continue
		}
		shared, own, meant := 0, 0, false
		for _, w := range counts {
			if common[w.word] > 0 {
				shared += w.rows
			} else {
				own++
				meant = meant || text.Meant(c.words[w.word], theirs) != ""
			}
		}
		if float64(shared) <= hardlyShared*float64(all) && (own > 1 || meant) {
			odd = append(odd, i)
		}
	}
	return odd, common
}

// ownWords lists the columns of which sources have words of their own; kind says in the message what these are.
func (s *Set) ownWords(kind string, columns []*columnWords) (out []Oddity) {
	for _, c := range columns {
		odd, common := c.strangers()
		if len(odd) == 0 {
			continue
		}
		var theirs []wordCount
		for w, rows := range common {
			if rows > 0 {
				theirs = append(theirs, wordCount{w, rows})
			}
		}
		none, others := "none", " of those of the others ("+c.quote(theirs)+")"
		var lists []string             // the sources' own words
		names := map[string][]string{} // the sources, by their own words
		quoted := map[string]string{}
		for _, i := range odd {
			own := slices.DeleteFunc(slices.Clone(c.of[i]), func(w wordCount) bool { return common[w.word] > 0 })
			if len(own) < len(c.of[i]) {
				none = "hardly any"
			}
			key := c.key(own)
			if names[key] == nil {
				lists, quoted[key] = append(lists, key), c.quote(own)
			}
			names[key] = append(names[key], text.OneLine(s.Pools[i].Name, 80))
		}
		of := ""
		if c.column != "" {
			of = " of " + text.OneLine(c.column, 80)
		}
		pool, found := s.Pools[odd[0]].Name, fmt.Sprintf("it alone has the %s %s%s, and %s%s", kind, quoted[lists[0]], of, none, others)
		if len(odd) > 1 {
			pool = ""
			for k, key := range lists {
				lists[k] = fmt.Sprintf("%s (%s)", text.List(names[key], ownListed), quoted[key])
			}
			found = fmt.Sprintf("%s have %s%s of their own, and %s%s: %s", text.Several(len(odd), "source"), kind, of, none, others,
				text.List(lists, ownListed))
		}
		out = append(out, Oddity{pool, found, "write those that mean the same alike: they are apart now"})
	}
	if more := len(out) - ownLines; more > 0 {
		out = append(out[:ownLines], Oddity{"", fmt.Sprintf("%d more columns of which sources have %s of their own", more, kind),
			"see their words"})
	}
	return out
}

// key identifies words, in any order.
func (c *columnWords) key(counts []wordCount) string {
	var words []int
	for _, w := range counts {
		words = append(words, w.word)
	}
	slices.Sort(words)
	return fmt.Sprint(words)
}

// quote quotes the most frequent words.
func (c *columnWords) quote(counts []wordCount) string {
	sorted := slices.Clone(counts)
	slices.SortStableFunc(sorted, func(a, b wordCount) int { return cmp.Compare(b.rows, a.rows) })
	var names []string
	for _, w := range sorted {
		names = append(names, c.words[w.word])
	}
	if len(names) <= ownQuoted {
		slices.Sort(names)
	}
	return quoteSome(names, ownQuoted, strconv.Quote)
}
