package runs

import "slices"

// wordColumn is a column of words with a number of rows that have none which the data of the run have, and the first word of such a row,
// if there is any.
type wordColumn struct {
	column, word string
	rows         int64
}

// addRows adds rows of a column, whose rows before, if there were any, keep their first word.
func addRows(to []wordColumn, column, word string, rows int64) []wordColumn {
	i := slices.IndexFunc(to, func(c wordColumn) bool { return c.column == column })
	if i < 0 {
		return append(to, wordColumn{column, word, rows})
	}
	to[i].rows += rows
	return to
}

func (r *predictor) addUnknown(column, word string, rows int64) {
	r.unknown = addRows(r.unknown, column, word, rows)
}

func (r *predictor) addBlank(column string, rows int64) { r.blank = addRows(r.blank, column, "", rows) }

func (r *predictor) tellUnknown() {
	for _, u := range r.unknown {
		if r.Unknown != nil {
			r.Unknown(u.column, u.word, u.rows)
		}
	}
}

func (r *predictor) tellBlank() {
	for _, b := range r.blank {
		if b.rows == r.row && r.Blank != nil {
			r.Blank(b.column)
		}
	}
}
