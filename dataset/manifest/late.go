package manifest

// lateness describes a column that is known with the label, as a second opinion is: of the rows without any label that were compared, how
// many lack it. It is zero for other columns.
type lateness struct{ lack, rows int }

func (l lateness) is() bool { return l.rows > 0 }

const (
	// leastLate is the least number of rows without a label that can show what such rows lack.
	leastLate = 20
	// lateLack is the least share of the rows without a label that must lack the column, and lateHave the least share of the rows with a
	// label that must have it.
	lateLack, lateHave = 0.9, 0.5
)

// markLate sets late for the columns that are known with the label, as far as the rows looked at show.
func (g *guesser) markLate(m *Manifest) {
	source := g.sourceOf(m)
	looked := source == nil || len(source.cells.words) > 0 // lists are not looked at
	var labels []*column
	for _, l := range m.Labels {
		label := g.column(l.Column)
		labels, looked = append(labels, label), looked && len(label.cells.words) > 0
	}
	if !looked {
		return
	}
	for _, c := range g.columns {
		if !g.taken[c.Name] && c.missing > 0 {
			c.late = c.lateness(labels, source)
		}
	}
}

// lateness compares the rows with and without a label within the sources that have both. These are weighted as by Mantel and Haenszel
// (1959) with n_0 n_1/(n_0 + n_1), where n_0 and n_1 count the rows of the source without and with a label: what a source with few labels
// lacks has another reason.
func (c *column) lateness(labels []*column, source *column) lateness {
	type part struct{ lack, rows [2]float64 } // by whether the row has a label: 0 without, 1 with
	parts, at := []*part{}, map[uint64]*part{}
	for i, there := range c.cells.there {
		of, with := uint64(0), 0
		if source != nil {
			of = source.cells.words[i]
		}
		for _, l := range labels {
			if l.cells.there[i] {
				with = 1
			}
		}
		p := at[of]
		if p == nil {
			p = &part{}
			parts, at[of] = append(parts, p), p
		}
		if p.rows[with]++; !there {
			p.lack[with]++
		}
	}
	var rows, lack, lacking [2]float64
	weight := 0.0
	for _, p := range parts {
		if p.rows[0] == 0 || p.rows[1] == 0 {
			continue
		}
		w := p.rows[0] * p.rows[1] / (p.rows[0] + p.rows[1])
		weight += w
		for k := range p.rows {
			rows[k], lacking[k], lack[k] = rows[k]+p.rows[k], lacking[k]+p.lack[k], lack[k]+w*p.lack[k]/p.rows[k]
		}
	}
	if rows[0] < leastLate || rows[1] < leastLabels || lack[0] < lateLack*weight || lack[1] > (1-lateHave)*weight {
		return lateness{}
	}
	return lateness{int(lacking[0]), int(rows[0])}
}
