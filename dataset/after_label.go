package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// lackingSample is the size of the sample of unlabelled rows that shows which value a feature has where it is not known.
	lackingSample = 100
	// lackingPart is the least share of the unlabelled rows that must have this value, and knownPart the largest share of the labelled rows
	// that may have it.
	lackingPart, knownPart = 0.9, 0.5
	// evenPart and fewerPart are these shares for a value that the feature also has in most of the labelled rows, such as those of all
	// classes but one. The shares must then differ by fewerErrors standard errors.
	evenPart, fewerPart, fewerErrors = 0.99, 0.9, 5
	// lackingWeight is the least total weight of the sources compared. One source with 20 rows of either kind has a weight of 10.
	lackingWeight = 5
)

// comesWithLabel names the features that have one value, such as the mean that was filled in, in nearly all rows without a label, and other
// values in most rows with one. They are known when the label is, such as a second opinion or what was measured then, so that new rows lack
// what a model learned from. It names apart the features that have one value in all but a hundredth of the rows without a label, and in
// fewer of those with one, such as what follows from one of the classes. Rows are compared within sources, which are weighted as by Mantel
// and Haenszel (1959) with n_0 n_1/(n_0 + n_1), where n_0 and n_1 count the rows of the source without and with a label, so that what a
// whole source lacks does not count. The rows of the target are then looked at on their own. It returns nil where features have no names or
// are more than tellingFeatures.
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

func (s *Set) comesWith(label string) (out []Oddity) {
	pools := s.labelledPools(label)
	if label != "" {
		label = " " + text.OneLine(label, 80)
	}
	seen := map[int]bool{}
	add := func(where string, pools []labelledPool) {
		names, fewer, without := s.lackingIn(pools, seen)
		for i, names := range [][]string{names, fewer} {
			if n := len(names); n > 0 {
				out = append(out, Oddity{where, fmt.Sprintf("%s %s the same in nearly all %s rows without the label%s, and %s with it: %s",
					text.Several(n, "feature"), text.Form(n, "is", "are"), text.Count(without), label, []string{"not in most", "in fewer"}[i],
					text.List(names, mostNames)),
					"leave out of columns: features what is known with the label and not before, which new rows lack; what is known of all " +
						"rows may stay, but those with a label are then unlike those without"})
			}
		}
	}
	add("", pools)
	for i, p := range pools {
		if p.Target && len(pools) > 1 {
			add(p.Name, pools[i:i+1])
		}
	}
	return out
}

// lackingIn returns the names of the features that lack in the rows of pools without a label, those that most rows with one have and those
// that fewer have, without the features that were seen before, and the number of rows without a label.
func (s *Set) lackingIn(pools []labelledPool, seen map[int]bool) (names, fewer []string, without int) {
	for _, p := range pools {
		without += p.Rows - p.with
	}
	columns, weight := s.newLacking(pools, without), 0.
	for _, p := range pools {
		weight += p.compare(columns)
	}
	if weight < lackingWeight {
		return nil, nil, without
	}
	for _, c := range columns {
		name, lack, known := text.OneLine(s.Columns.Features[c.feature], 80), c.part[0]/weight, c.part[1]/weight
		p := (lack + known) / 2
		switch {
		case seen[c.feature]:
			continue
		case lack >= lackingPart && known <= knownPart:
			names = append(names, name)
		case lack >= evenPart && known <= fewerPart && lack-known > fewerErrors*math.Sqrt(p*(1-p)/weight):
			fewer = append(fewer, fmt.Sprintf("%s (%.0f %%)", name, 100*known))
		default:
			continue
		}
		seen[c.feature] = true
	}
	return names, fewer, without
}

// labelledPool is a pool with a mark on each row that has a label, and the number of these rows.
type labelledPool struct {
	*Pool
	has  []bool
	with int
}

// labelledPools returns the pools in which some rows have a label of the column and others have none. It returns none where labels are yet
// to be asked for.
func (s *Set) labelledPools(label string) (pools []labelledPool) {
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
			pools = append(pools, l)
		}
	}
	return pools
}

// lacking is a feature and the value that it may have where it is not known. part sums, over pools, the pool's weight times the share of
// its rows without a label (0) and with one (1) that have this value.
type lacking struct {
	feature int
	value   float32
	part    [2]float64
}

// newLacking returns the features that have one value in more than three quarters of a sample of the rows without a label, spread evenly
// over all of these.
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
			if 4*rows[row[j]] > 3*len(sample) { // below lackingPart, since this is a sample
				columns = append(columns, lacking{feature: j, value: row[j]})
				break
			}
		}
	}
	return columns
}

// compare adds the weighted shares of a pool to columns and returns the weight of the pool.
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
