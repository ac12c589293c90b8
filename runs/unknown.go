package runs

import "slices"

// unknownWord is the first word of a column that the data of the run do not have, with the number of rows with such
// words.
type unknownWord struct {
	column, word string
	rows         int64
}

func (r *predictor) addUnknown(column, word string, rows int64) {
	i := slices.IndexFunc(r.unknown, func(u unknownWord) bool { return u.column == column })
	if i < 0 {
		r.unknown = append(r.unknown, unknownWord{column, word, rows})
		return
	}
	r.unknown[i].rows += rows
}

func (r *predictor) tellUnknown() {
	for _, u := range r.unknown {
		if r.Unknown != nil {
			r.Unknown(u.column, u.word, u.rows)
		}
	}
}

// blankColumn is a column of words with the number of rows without one.
type blankColumn struct {
	column string
	rows   int64
}

func (r *predictor) addBlank(column string, rows int64) {
	i := slices.IndexFunc(r.blank, func(b blankColumn) bool { return b.column == column })
	if i < 0 {
		r.blank = append(r.blank, blankColumn{column, rows})
		return
	}
	r.blank[i].rows += rows
}

func (r *predictor) tellBlank() {
	for _, b := range r.blank {
		if b.rows == r.row && r.Blank != nil {
			r.Blank(b.column)
		}
	}
}
