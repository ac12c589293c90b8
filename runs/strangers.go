package runs

import (
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Strangers counts rows of a table that belong to a source other than the target of the model.
type Strangers struct {
	// Column is the column that names the source of a row, Target its value for the target, and First the first other
	// value that was found.
	Column, Target, First string
	// Rows is the number of these rows, among All that name a source.
	Rows, All int64
}

// add counts rows by their cells in the column.
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
