package regress

import (
	"iter"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Groups says which of n samples of the target belong together, such as the visits of one patient. Where one of them is left out,
// its whole group is, since the others reveal it.
type Groups struct {
	N int
	// Group holds the number of each sample's group, from 0 in the order of their first samples, and Members the samples of each
	// group. Both are nil where each sample is on its own.
	Group   []int
	Members [][]int
}

// Ungrouped returns the groups of n samples that are each on their own.
func Ungrouped(n int) Groups { return Groups{N: n} }

// GroupsOf returns the groups of samples with these group numbers; a sample whose number is below 0 is on its own.
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

// Some returns the groups of the given samples, which are numbered from 0 in their order here.
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

// each yields the samples of each group.
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

// First returns the samples of the first groups that have at most that many together, ascending. A group that is too large is passed over.
func (t Groups) First(most int) (some []int) {
	for samples := range t.each() {
		if len(some)+len(samples) <= most {
			some = append(some, samples...)
		}
	}
	slices.Sort(some)
	return some
}

// Several yields the samples of each group that has more than one.
func (t Groups) Several() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for _, samples := range t.Members {
			if len(samples) > 1 && !yield(samples) {
				return
			}
		}
	}
}

// Alone reports whether sample i is the only one of its group.
func (t Groups) Alone(i int) bool { return t.Group == nil || len(t.Members[t.Group[i]]) == 1 }

// Count returns the number of groups.
func (t Groups) Count() int {
	if t.Group == nil {
		return t.N
	}
	return len(t.Members)
}

// Distinct returns the number of groups with at least one sample i for which is(i) holds.
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

// Effective returns the effective number of samples: how many independent samples tell as much, if all samples of a group tell the
// same. It is n divided by Kish's (1965) design effect sum n_g^2/n, for groups of n_g samples. A dozen groups hardly show how much
// the samples of a group have in common, and copies of a sample tell nothing new.
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

// Evidence returns the factor by which the log-likelihood of each sample counts; it is 1 where each sample is on its own.
func (t Groups) Evidence() float64 {
	if t.Group == nil || t.N == 0 {
		return 1
	}
	return t.Effective() / float64(t.N)
}

// DrawTimes draws a bootstrap replicate of the groups and writes into times how often each sample is in it.
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

// DrawWeights draws weights of the groups from the flat Dirichlet distribution and writes them into w, the same for all samples of
// a group, divided by their sum.
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

// drawWeights writes into w weights from the flat Dirichlet distribution, whose sum is 1.
func drawWeights(rng *rand.Rand, w []float64) {
	for i := range w {
		w[i] = rng.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(w), w)
}
