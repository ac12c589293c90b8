package table

import "slices"

// Codes are numbers that stand for none in a column of features, such as -999.
type Codes struct {
	Column string    `json:"column"`
	Values []float64 `json:"values"`
}

// codedTable is a table with codes in some of its columns.
type codedTable struct {
	Table
	codes []Codes
}

// WithCodes is an open table in which cells of features that have one of their codes are missing, where a query lets them be
// ([Query].Gaps). To close it closes t.
func WithCodes(t Table, codes []Codes) Table {
	if len(codes) == 0 {
		return t
	}
	return &codedTable{t, codes}
}

func (t *codedTable) Scan(q Query, f func(*Batch) error) error {
	none := make([][]float64, len(q.Features))
	for j, name := range q.Features {
		for _, c := range t.codes {
			if c.Column == name {
				none[j] = c.Values
			}
		}
	}
	return t.Table.Scan(q, func(b *Batch) error {
		if v := &b.Features; q.Gaps && v.Width == len(none) {
			for i := range v.F32 {
				if of := none[i%v.Width]; of != nil && slices.Contains(of, v.Element(i)) {
					v.Set(i, nan)
				}
			}
		}
		return f(b)
	})
}
