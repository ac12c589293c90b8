package pipeline

import "slices"

// Labelled are rows of the pool of a source with their labels: row after row, one for
// each output of the source. NaN is a label that the row does not have; each row has
// at least one.
type Labelled struct {
	Rows []int32
	Y    []float32
}

// column are the labels of output c that are there, of all outputs.
func (l Labelled) column(c, outputs int) []float32 {
	if outputs == 1 {
		return l.Y
	}
	var y []float32
	for i := c; i < len(l.Y); i += outputs {
		if v := l.Y[i]; v == v {
			y = append(y, v)
		}
	}
	return y
}

// labelCounts are the labels of each output of sources, in their order.
func labelCounts(sources []Source, in []Labelled) []int {
	var counts []int
	for m, s := range sources {
		for c := range s.Tasks {
			counts = append(counts, len(in[m].column(c, len(s.Tasks))))
		}
	}
	return counts
}

// labelGroup are rows that have labels of the same outputs: row after row, one for each of
// these, none missing.
type labelGroup struct {
	outputs []int
	Labelled
}

// parts divides labelled rows by outputs: each output is in one part, with all rows
// that have a label of it.
func (l Labelled) parts(outputs int) []labelGroup {
	if outputs == 1 {
		return []labelGroup{{[]int{0}, l}}
	}
	var parts []labelGroup
	for c := range outputs {
		var rows []int32
		for i, r := range l.Rows {
			if v := l.Y[i*outputs+c]; v == v {
				rows = append(rows, r)
			}
		}
		i := slices.IndexFunc(parts, func(p labelGroup) bool { return slices.Equal(p.Rows, rows) })
		if i < 0 {
			i, parts = len(parts), append(parts, labelGroup{Labelled: Labelled{Rows: rows}})
		}
		parts[i].outputs = append(parts[i].outputs, c)
	}
	for i := range parts {
		p := &parts[i]
		p.Y = make([]float32, len(p.Rows)*len(p.outputs))
		for j, c := range p.outputs {
			for row, y := range l.column(c, outputs) {
				p.Y[row*len(p.outputs)+j] = y
			}
		}
	}
	return parts
}
