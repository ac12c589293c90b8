package columnar

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// maxWords bounds the number of words in a column of categories.
const maxWords = 1000

// category is a column of categories. index holds the words that were found, words all of them in order once they are settled.
type category struct {
	column string
	index  map[string]int32
	words  []string
}

// add records the word of row i of a batch.
func (c *category) add(b *table.Batch, v *table.Values, i int) error {
	word, there := v.Category(i)
	if !there {
		return nil
	}
	if _, known := c.index[word]; known {
		return nil
	}
	if err := b.CheckUTF8(i, c.column, word); err != nil {
		return err
	}
	switch {
	case !text.Printable(word):
		return b.Fault(i, c.column, "a word without control characters, found %q", text.OneLine(word, 80))
	case len(c.index) == maxWords:
		return b.Fault(i, c.column, "at most %d words for categories, found more: texts become a vector by an embedding, numbers are features",
			maxWords)
	}
	c.index[strings.Clone(word)] = int32(len(c.index))
	return nil
}

// settleCategories sorts the words of each column. A column without words is an error.
func (s *survey) settleCategories() error {
	for _, c := range s.categories {
		if len(c.index) == 0 {
			return fmt.Errorf("%s: columns: categories: %s: expected words, found none in %d rows", s.manifest.Path, c.column, s.taken())
		}
		c.words = sortedClasses(c.index)
	}
	return nil
}

// taken returns the number of rows of the sources that take part.
func (s *survey) taken() (rows int64) {
	for _, r := range s.sources {
		rows += r.rows
	}
	return rows
}

// words returns the columns of words, once they are settled.
func (s *survey) words() []table.Words {
	var out []table.Words
	for _, c := range s.categories {
		out = append(out, table.Words{Column: c.column, Words: c.words})
	}
	return out
}

// readFeatures returns the names of the features that are read: columns, followed by words.
func (s *survey) readFeatures() []string {
	names := slices.Clone(s.features)
	for _, w := range s.words() {
		names = append(names, w.Features()...)
	}
	return names
}

// allFeatures returns the names of the features that are read, followed by those that are computed from them.
func (s *survey) allFeatures() []string {
	return append(s.readFeatures(), s.derived.Names(s.features)...)
}

// wordUnits gives all words of a column one unit, in which their variances add up to that of one number. In units of their own, a word
// would be the larger the rarer it is. A missing indicator stays 1 or 0, so that it varies at most half as much as a number.
func (s *survey) wordUnits(scale []float64) {
	at := len(s.features)
	for _, w := range s.words() {
		of := scale[at : at+len(w.Words)]
		sum := 0.0
		if w.OfMissing() {
			clear(of)
			sum = 1
		}
		for _, v := range of {
			sum += v * v
		}
		for i := range of {
			of[i] = math.Sqrt(sum)
		}
		at += len(of)
	}
}
