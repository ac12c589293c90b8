package dataset

// ownCategories lists the columns of categories in which sources have words of their own: what the others say of these is of no use there.
func (s *Set) ownCategories() []Oddity { return s.ownWords("words", s.categoryCounts()) }

// categoryCounts counts the rows of each word of the columns of categories, in rows that are spread over each source.
func (s *Set) categoryCounts() (out []*columnWords) {
	first := s.Columns.read()
	for _, w := range s.Columns.Words {
		first -= len(w.Words)
	}
	for _, w := range s.Columns.Words {
		at := first
		if first += len(w.Words); w.OfMissing() {
			continue
		}
		c, absent := &columnWords{column: "column " + w.Column, words: w.Words}, s.leastOf(at, len(w.Words))
		for _, p := range s.Pools {
			rows := make([]int, len(w.Words))
			for r := 0; r < p.Rows; r += p.wordStep() {
				for j, least := range absent {
					if p.feature(r*p.Cols+at+j) > least {
						rows[j]++
						break
					}
				}
			}
			var counts []wordCount
			for j, n := range rows {
				if n > 0 {
					counts = append(counts, wordCount{j, n})
				}
			}
			c.of = append(c.of, counts)
		}
		out = append(out, c)
	}
	return out
}
