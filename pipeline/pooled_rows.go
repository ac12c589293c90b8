package pipeline

import (
	"cmp"
	"slices"
)

// poolRow is a row of a pool.
type poolRow struct{ pool, row int }

// pooledRows lists the rows of sources with labels of the column of these outputs of the target, and the labels row after row,
// none of which is missing. Of more than most rows it has as many, of each source in proportion those that were drawn first.
func (p *Problem) pooledRows(in []Labelled, group []int, most int) (rows []poolRow, y []float64) {
	var counts []int
	for m, s := range p.Sources {
		before := len(rows)
		rows, y = p.rowsOfColumn(s, in[m], group, rows, y)
		counts = append(counts, len(rows)-before)
	}
	if len(rows) <= most {
		return rows, y
	}
	some, labels, at := make([]poolRow, 0, most), make([]float64, 0, most*len(group)), 0
	for m, n := range inProportion(counts, p.SourceNames(), most) {
		some = append(some, rows[at:at+n]...)
		labels = append(labels, y[at*len(group):(at+n)*len(group)]...)
		at += counts[m]
	}
	return some, labels
}

// rowsOfColumn adds the rows of a source whose labels of the outputs are known. Classes of a column exclude each other, so that
// those of a row that has one are, also where the source lacks the class of an output, or the row its label. Else none may be missing:
// of a row that is not a 3 nobody knows whether it is a 5.
func (p *Problem) rowsOfColumn(s Source, in Labelled, group []int, rows []poolRow, y []float64) ([]poolRow, []float64) {
	tasks := p.Set.Tasks
	place := slices.Repeat([]int{-1}, len(group)) // of each output among those of the source
	var classes []int                             // of the column
	for j, t := range s.Tasks {
		of := tasks[t].Output
		for i, c := range group {
			if of == tasks[p.Target.Tasks[c]].Output {
				place[i] = j
			}
		}
		if of.Class != "" && of.Name == tasks[p.Target.Tasks[group[0]]].Output.Name {
			classes = append(classes, j)
		}
	}
	for i, r := range in.Rows {
		labels := in.Y[i*len(s.Tasks) : (i+1)*len(s.Tasks)]
		known := !slices.ContainsFunc(place, func(j int) bool { return j < 0 || labels[j] != labels[j] })
		if !known && !slices.ContainsFunc(classes, func(j int) bool { return labels[j] == 1 }) {
			continue
		}
		rows = append(rows, poolRow{s.Pool, int(r)})
		for _, j := range place {
			if j < 0 || labels[j] != labels[j] {
				y = append(y, 0)
				continue
			}
			y = append(y, float64(labels[j]))
		}
	}
	return rows, y
}

// inProportion divides n among groups of these sizes, of which there are more, in proportion to them. What is left over goes to the
// largest remainders, of equal ones in the order of the names.
func inProportion(sizes []int, names []string, n int) []int {
	total, out, left, order := sumInts(sizes), make([]int, len(sizes)), n, make([]int, len(sizes))
	for i, size := range sizes {
		out[i], order[i] = size*n/total, i
		left -= out[i]
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[b]*n%total, sizes[a]*n%total), cmp.Compare(names[a], names[b]))
	})
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}
