package regress

import (
	"iter"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Groups says which of n samples of the target belong together, such as the visits of one patient: what leaves one of them out leaves
// its whole group out, since the others tell it.
type Groups struct {
	N int
	// Group is the number of the group of each sample, from 0 in the order of their first samples, and Members are the samples of each.
	// Both are nil where each sample is on its own.
	Group   []int
	Members [][]int
}

// Ungrouped are n samples, each on its own.
func Ungrouped(n int) Groups { return Groups{N: n} }

// GroupsOf are samples whose groups have these numbers, below 0 for one on its own.
func GroupsOf(numbers []int32) Groups {
	t, known := Ungrouped(len(numbers)), map[int32]int{}
	for i, number := range numbers {
		g, is := known[number]
		if !is || number < 0 {
			g = len(t.Members)
			t.Members, known[number] = append(t.Members, nil), g
		}
		t.Group, t.Members[g] = append(t.Group, g), append(t.Members[g], i)
	}
	if len(t.Members) == t.N {
		return Ungrouped(t.N)
	}
	return t
}

// Some are some of the samples.
func (t Groups) Some(samples []int) Groups {
	if t.Group == nil {
		return Ungrouped(len(samples))
	}
	numbers := make([]int32, len(samples))
	for at, i := range samples {
		numbers[at] = int32(t.Group[i])
	}
	return GroupsOf(numbers)
}

// each are the samples of each group.
func (t Groups) each() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for i := range t.Count() {
			samples := []int{i}
			if t.Group != nil {
				samples = t.Members[i]
			}
			if !yield(samples) {
				return
			}
		}
	}
}

// Several are the samples of each group that has more than one.
func (t Groups) Several() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for _, samples := range t.Members {
			if len(samples) > 1 && !yield(samples) {
				return
			}
		}
	}
}

// Alone says whether a sample is the only one of its group.
func (t Groups) Alone(i int) bool { return t.Group == nil || len(t.Members[t.Group[i]]) == 1 }

// Count is the number of groups.
func (t Groups) Count() int {
	if t.Group == nil {
		return t.N
	}
	return len(t.Members)
}

// Distinct is the number of groups with a sample that is so.
func (t Groups) Distinct(is func(i int) bool) (count int) {
	last := make([]bool, t.Count())
	for i := range t.N {
		g := i
		if t.Group != nil {
			g = t.Group[i]
		}
		if !last[g] && is(i) {
			last[g] = true
			count++
		}
	}
	return count
}

// Effective is the number of samples on their own that tell as much, if those of a group tell the same: n over Kish's (1965) design
// effect sum n_g^2/n of groups of n_g. What samples of a group share is hardly known by a dozen of groups, and copies of a sample tell
// nothing that it does not.
func (t Groups) Effective() float64 {
	if t.Group == nil {
		return float64(t.N)
	}
	squares := 0.0
	for _, samples := range t.Members {
		squares += float64(len(samples) * len(samples))
	}
	return float64(t.N*t.N) / squares
}

// Evidence is what the log-likelihood of a sample counts for, where that of one on its own counts for 1.
func (t Groups) Evidence() float64 {
	if t.Group == nil || t.N == 0 {
		return 1
	}
	return t.Effective() / float64(t.N)
}

// DrawTimes writes how many times each sample is there in groups that are drawn anew out of themselves.
func (t Groups) DrawTimes(rng *rand.Rand, times []float64) {
	clear(times)
	for range t.Count() {
		g := rng.IntN(t.Count())
		if t.Group == nil {
			times[g]++
			continue
		}
		for _, i := range t.Members[g] {
			times[i]++
		}
	}
}

// DrawWeights draws weights of the groups from the flat Dirichlet distribution, the same for all samples of one, and divides them by
// their sum.
func (t Groups) DrawWeights(rng *rand.Rand, w []float64) {
	if t.Group == nil {
		drawWeights(rng, w)
		return
	}
	for _, samples := range t.Members {
		v := rng.ExpFloat64()
		for _, i := range samples {
			w[i] = v
		}
	}
	floats.Scale(1/floats.Sum(w), w)
}

// drawWeights draws weights with the sum 1 from the flat Dirichlet distribution.
func drawWeights(rng *rand.Rand, w []float64) {
	for i := range w {
		w[i] = rng.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(w), w)
}
