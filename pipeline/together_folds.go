package pipeline

import (
	"cmp"
	"slices"
)

// folds are parts of the samples as those of [stratified], of whole groups: ten, or one for each group of fewer than twenty. The
// largest group comes first, and each goes where the classes are then spread most evenly, sum_c n_fc^2 / n_c growing least for n_fc
// samples of class c in part f.
func (t together) folds(class []int) []int {
	folds := leftFolds
	if t.count() < 2*folds {
		folds = t.count()
	}
	total, order := map[int]int{}, make([]int, t.count())
	for _, c := range class {
		total[c]++
	}
	for g := range order {
		order[g] = g
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(t.members[b]), len(t.members[a])) })
	in, size, fold := make([]map[int]int, folds), make([]int, folds), make([]int, len(class))
	for f := range in {
		in[f] = map[int]int{}
	}
	for _, g := range order {
		best, least := 0, 0.0
		for f := range folds {
			more := 0.0 // in the order of the samples, so that it is the same each time
			for _, i := range t.members[g] {
				more += float64(in[f][class[i]]) / float64(total[class[i]])
			}
			if f == 0 || more < least || more == least && size[f] < size[best] {
				best, least = f, more
			}
		}
		for _, i := range t.members[g] {
			fold[i] = best
			in[best][class[i]]++
			size[best]++
		}
	}
	return fold
}
