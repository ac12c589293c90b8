package regress

import (
	"cmp"
	"slices"
)

// folds returns the fold of each sample, as [Stratified] does, for folds of whole groups: ten, or one for each group of fewer than
// twenty. The groups are dealt from the largest to the smallest, each to the fold where the classes are then spread most evenly:
// the one where sum_c n_fc^2 / n_c grows least, for n_fc samples of class c in fold f and n_c in all.
func (t Groups) folds(class []int) []int {
	folds := leftFolds
	if t.Count() < 2*folds {
		folds = t.Count()
	}
	total, order := map[int]int{}, make([]int, t.Count())
	for _, c := range class {
		total[c]++
	}
	for g := range order {
		order[g] = g
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(t.Members[b]), len(t.Members[a])) })
	in, size, fold := make([]map[int]int, folds), make([]int, folds), make([]int, len(class))
	for f := range in {
		in[f] = map[int]int{}
	}
	for _, g := range order {
		best, least := 0, 0.0
		for f := range folds {
			more := 0.0 // summed in the order of the samples, so that it is the same each time
			for _, i := range t.Members[g] {
				more += float64(in[f][class[i]]) / float64(total[class[i]])
			}
			if f == 0 || more < least || more == least && size[f] < size[best] {
				best, least = f, more
			}
		}
		for _, i := range t.Members[g] {
			fold[i] = best
			in[best][class[i]]++
			size[best]++
		}
	}
	return fold
}
