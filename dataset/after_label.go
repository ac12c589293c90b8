package dataset

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// lackingSample is how many unlabelled rows say which value a column may have where it is not known.
	lackingSample = 100
	// lackingPart is the least part of the unlabelled rows that have it, and knownPart the most of the labelled ones.
	lackingPart, knownPart = 0.9, 0.5
	// lackingWeight is the least weight of the sources compared: that of one with 20 rows of either kind is 10.
	lackingWeight = 5
)

// comesWithLabel names the features that have one value in nearly all rows without a label, as the mean that was filled in, and others in
// most rows with one: they are known when the label is, as a second opinion or what was measured then, so that new rows lack what a model
// learned from. Rows are compared within sources, which are weighted as by Mantel and Haenszel (1959), with the rows of either kind n_0
// n_1/(n_0 + n_1), so that what a whole source lacks does not count.
func (s *Set) comesWithLabel() (out []Oddity) {
	if !s.featuresNamed() || s.Columns.read() > tellingFeatures {
		return nil
	}
	var labels []string
	for i := range s.Tasks {
		if label := s.Tasks[i].Output.Name; !slices.Contains(labels, label) {
			labels = append(labels, label)
			out = append(out, s.comesWith(label)...)
		}
	}
	return out
}

func (s *Set) comesWith(label string) []Oddity {
	pools, without := s.labelledPools(label)
	if without == 0 {
		return nil
	}
	columns, weight := s.newLacking(pools, without), 0.
	for _, p := range pools {
		weight += p.compare(columns)
	}
	var names []string
	for _, c := range columns {
		if weight >= lackingWeight && c.part[0] >= lackingPart*weight && c.part[1] <= knownPart*weight {
			names = append(names, text.OneLine(s.Columns.Features[c.feature], 80))
		}
	}
	if len(names) == 0 {
		return nil
	}
	if label != "" {
		label = " " + text.OneLine(label, 80)
	}
	return []Oddity{{"", fmt.Sprintf("%s %s the same in nearly all %d rows without the label%s, and not in most with it: %s",
		text.Several(len(names), "feature"), text.Form(len(names), "is", "are"), without, label, fewNames(names)),
		"leave out of columns: features what is known with the label and not before, which new rows lack; what is known of all rows may stay, " +
			"but those with a label are then unlike those without"}}
}

// labelledPool is a pool, and which of its rows have a label and how many.
type labelledPool struct {
	*Pool
	has  []bool
	with int
}

// labelledPools are those that have rows with a label of a column and rows without one, and how many rows are without. None is where labels
// are yet to be asked for.
func (s *Set) labelledPools(label string) (pools []labelledPool, without int) {
	all := make([]labelledPool, len(s.Pools))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Output.Name != label {
			continue
		}
		l := &all[t.Pool]
		if l.Pool == nil {
			*l = labelledPool{Pool: s.Pools[t.Pool], has: make([]bool, s.Pools[t.Pool].Rows)}
		}
		for r := range t.labelledRows {
			if !l.has[r] {
				l.has[r], l.with = true, l.with+1
			}
		}
	}
	for _, l := range all {
		if l.with > 0 && l.with < l.Rows {
			pools, without = append(pools, l), without+l.Rows-l.with
		}
	}
	return pools, without
}

// lacking is a feature, the value that it may have where it is not known, and the weighted parts of the rows without a label and with one
// that have that value.
type lacking struct {
	feature int
	value   float32
	part    [2]float64
}

// newLacking has the features that have one value in nearly all of a sample of the rows without a label, evenly of all of them.
func (s *Set) newLacking(pools []labelledPool, without int) (columns []lacking) {
	read := s.Columns.read()
	sample := make([][]float32, 0, lackingSample)
	seen, step := 0, float64(without)/lackingSample
	for _, p := range pools {
		for r, has := range p.has {
			if has {
				continue
			}
			if seen++; float64(seen) > step*float64(len(sample)) {
				row := make([]float32, read)
				for j := range row {
					row[j] = p.feature(r*p.Cols + j)
				}
				sample = append(sample, row)
			}
		}
	}
	for j := range read {
		rows := map[float32]int{}
		for _, row := range sample {
			rows[row[j]]++
			if 4*rows[row[j]] > 3*len(sample) { // rather than lackingPart: it is a sample
				columns = append(columns, lacking{feature: j, value: row[j]})
				break
			}
		}
	}
	return columns
}

// compare adds the weighted parts of a pool and returns its weight.
func (p labelledPool) compare(columns []lacking) (weight float64) {
	n := [2]float64{float64(p.Rows - p.with), float64(p.with)}
	weight = n[0] * n[1] / (n[0] + n[1])
	have := make([][2]float64, len(columns))
	for r, has := range p.has {
		kind := 0
		if has {
			kind = 1
		}
		for i := range columns {
			if c := &columns[i]; p.feature(r*p.Cols+c.feature) == c.value {
				have[i][kind]++
			}
		}
	}
	for i := range columns {
		for kind, n := range n {
			columns[i].part[kind] += weight * have[i][kind] / n
		}
	}
	return weight
}
