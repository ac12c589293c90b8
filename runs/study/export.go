package study

import (
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/runs"
)

// Exported counts the rows of a file that [Study.Export] wrote.
type Exported struct{ Labelled, Skipped int }

// Export writes all rows with a label, in the data or told, and all that were given up, to a new file. [Study.Tell] of another study of the
// rows takes it.
func (s *Study) Export(path string) (n Exported, err error) {
	err = runs.WriteTable(path, func(w table.Writer) error {
		n, err = s.export(w)
		return err
	})
	return n, err
}

func (s *Study) export(w table.Writer) (n Exported, err error) {
	s, _, st, err := s.load()
	if err != nil {
		return n, err
	}
	const most = 4096
	outputs := s.data.Outputs
	cells := []table.Cells{{Name: "id"}, {Name: "source"}, {Name: "told"}}
	for _, o := range outputs {
		cells = append(cells, table.Cells{Name: o.Name})
	}
	cells = append(cells, table.Cells{Name: "status"})
	flush := func() error {
		err := w.Write(len(cells[0].Text), cells)
		for i := range cells {
			cells[i].Text = cells[i].Text[:0]
		}
		return err
	}
	for i := range cells {
		cells[i].Text = []string{}
	}
	for pool, p := range s.data.Set.Pools {
		rows := st.labelledRows(pool)
		n.Labelled += len(rows)
		for i, r := range st.rows[pool] {
			if r.status == skipped {
				n.Skipped++
				rows = append(rows, i)
			}
		}
		slices.Sort(rows)
		for _, i := range rows {
			id, err := s.idOf(pool, i)
			if err != nil {
				return n, err
			}
			line := []string{id, p.Name, "in the data"}
			r, values := st.rows[pool][i], st.label(pool, i)
			if r != nil && (r.values != nil || r.status == skipped) {
				if line[2] = "unasked"; r.ask > 0 {
					line[2] = "asked"
				}
			}
			for c, o := range outputs {
				word := ""
				if values != nil {
					word = textOf(o, values[c])
				}
				line = append(line, word)
			}
			if values == nil {
				line = append(line, statusSkip)
			} else {
				line = append(line, "")
			}
			for c, word := range line {
				cells[c].Text = append(cells[c].Text, word)
			}
			if len(cells[0].Text) == most {
				if err := flush(); err != nil {
					return n, err
				}
			}
		}
	}
	return n, flush()
}
