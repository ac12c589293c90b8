package runs

import (
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Strangers are rows of a table whose source is not the target that the model is for.
type Strangers struct {
	// Column says what a row is of, Target which of that the model is for, and First which the first such row is of.
	Column, Target, First string
	// Rows is how many rows are, of All that name a source.
	Rows, All int64
}

// add counts rows by the values of the column.
func (s *Strangers) add(v *table.Values, rows int) {
	for i := range rows {
		if v.Lacks(i) {
			continue
		}
		name := v.Word(i)
		if name == "" {
			continue
		}
		s.All++
		if text.IndexSame([]string{s.Target}, name) < 0 {
			if s.Rows++; s.Rows == 1 {
				s.First = name
			}
		}
	}
}
