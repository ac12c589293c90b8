package pipeline

import (
	"cmp"
	"slices"
)

// poolRow identifies a row by the index of its pool and its place there.
type poolRow struct{ pool, row int }

// pooledRows returns the rows of sources with known labels of the column of these outputs of the target, and these labels, row after row,
// none missing. If there are more than most rows, that many are kept: for each source, in proportion, those that were drawn first.
func (p *Problem) pooledRows(in []Labelled, group []int, most int) (rows []poolRow, y []float64) {
	var counts []int
	for m, s := range p.Sources {
		before := len(rows)
		rows, y = p.rowsOfColumn(s, in[m], group, rows, y)
		counts = append(counts, len(rows)-before)
	}
	return firstRows(rows, y, len(group), counts, p.SourceNames(), most)
}

// firstRows returns at most that many rows and their labels, of several outputs: of each source, in proportion, the first. The rows of a
// source stand together; counts holds their numbers by source. Sources that are tasks may have rows of one pool.
func firstRows(rows []poolRow, y []float64, outputs int, counts []int, names []string, most int) ([]poolRow, []float64) {
	if len(rows) <= most {
		return rows, y
	}
	some, labels, at := make([]poolRow, 0, most), make([]float64, 0, most*outputs), 0
	for m, n := range inProportion(counts, names, most) {
		some, labels = append(some, rows[at:at+n]...), append(labels, y[at*outputs:(at+n)*outputs]...)
		at += counts[m]
	}
	return some, labels
}

// rowsOfColumn appends the rows of a source whose labels of the outputs in group are known, and these labels. Classes of a column exclude
// each other, so that a row of one class has all labels, even where the source lacks the class of an output or the row its label. Otherwise
// no label may be missing: nobody knows whether a row that is not a 3 is a 5.
func (p *Problem) rowsOfColumn(s Source, in Labelled, group []int, rows []poolRow, y []float64) ([]poolRow, []float64) {
	tasks := p.Set.Tasks
	place := slices.Repeat([]int{-1}, len(group)) // place of each output in the source, or -1
	var classes []int                             // outputs of the source in the column
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

// inProportion divides n among groups in proportion to their sizes, which add up to more. What is left over goes to the largest remainders,
// ties in the order of the names.
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
