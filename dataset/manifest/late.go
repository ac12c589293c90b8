package manifest

// lateness is how many of the rows without any label there are, and lack a column that is known with the label, as a second opinion is.
type lateness struct{ lack, rows int }

func (l lateness) is() bool { return l.rows > 0 }

const (
	// leastLate are the rows without a label from which on they can say what they lack.
	leastLate = 20
	// lateLack is the part of them that must lack it, and lateHave that of the rows with a label that must have it.
	lateLack, lateHave = 0.9, 0.5
)

// markLate says of the columns which are known with the label, as far as the rows that were looked at show.
func (g *guesser) markLate(m *Manifest) {
	var labels []*column
	for _, l := range m.Labels {
		labels = append(labels, g.column(l.Column))
	}
	source := g.column(m.Source)
	for _, c := range g.columns {
		if !g.taken[c.Name] && c.missing > 0 {
			c.late = c.lateness(labels, source)
		}
	}
}

// lateness compares the rows with and without a label, of the sources that have both.
func (c *column) lateness(labels []*column, source *column) lateness {
	type part struct{ lack, rows [2]int } // without a label, and with one
	parts := map[uint64]*part{}
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
		p := parts[of]
		if p == nil {
			p = &part{}
			parts[of] = p
		}
		if p.rows[with]++; !there {
			p.lack[with]++
		}
	}
	var sum part
	for _, p := range parts {
		if p.rows[0] > 0 && p.rows[1] > 0 {
			for k := range p.rows {
				sum.lack[k], sum.rows[k] = sum.lack[k]+p.lack[k], sum.rows[k]+p.rows[k]
			}
		}
	}
	lack, have := float64(sum.lack[0])/float64(sum.rows[0]), 1-float64(sum.lack[1])/float64(sum.rows[1])
	if sum.rows[0] < leastLate || sum.rows[1] < leastLabels || lack < lateLack || have < lateHave {
		return lateness{}
	}
	return lateness{sum.lack[0], sum.rows[0]}
}
