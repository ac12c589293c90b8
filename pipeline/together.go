package pipeline

import (
	"iter"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// together says which of n samples of the target belong together, such as the visits of one patient: what leaves one of them out leaves
// its whole group out, since the others tell it.
type together struct {
	n int
	// group is the number of the group of each sample, from 0 in the order of their first samples, and members are the samples of each.
	// Both are nil where each sample is on its own.
	group   []int
	members [][]int
}

// apart are n samples, each on its own.
func apart(n int) together { return together{n: n} }

// groupsOf are samples whose groups have these numbers, below 0 for one on its own.
func groupsOf(numbers []int32) together {
	t, known := apart(len(numbers)), map[int32]int{}
	for i, number := range numbers {
		g, is := known[number]
		if !is || number < 0 {
			g = len(t.members)
			t.members, known[number] = append(t.members, nil), g
		}
		t.group, t.members[g] = append(t.group, g), append(t.members[g], i)
	}
	if len(t.members) == t.n {
		return apart(t.n)
	}
	return t
}

// together are the groups of rows of the target's pool.
func (p *Problem) together(rows []int32) together {
	pool := p.Set.Pools[p.Target.Pool]
	if pool.Groups == nil {
		return apart(len(rows))
	}
	return groupsOf(numbersOf(pool, rows))
}

// some are some of the samples.
func (t together) some(samples []int) together {
	if t.group == nil {
		return apart(len(samples))
	}
	numbers := make([]int32, len(samples))
	for at, i := range samples {
		numbers[at] = int32(t.group[i])
	}
	return groupsOf(numbers)
}

// each are the samples of each group.
func (t together) each() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for i := range t.count() {
			samples := []int{i}
			if t.group != nil {
				samples = t.members[i]
			}
			if !yield(samples) {
				return
			}
		}
	}
}

// several are the samples of each group that has more than one.
func (t together) several() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for _, samples := range t.members {
			if len(samples) > 1 && !yield(samples) {
				return
			}
		}
	}
}

// alone says whether a sample is the only one of its group.
func (t together) alone(i int) bool { return t.group == nil || len(t.members[t.group[i]]) == 1 }

// count is the number of groups.
func (t together) count() int {
	if t.group == nil {
		return t.n
	}
	return len(t.members)
}

// distinct is the number of groups with a sample that is so.
func (t together) distinct(is func(i int) bool) (count int) {
	last := make([]bool, t.count())
	for i := range t.n {
		g := i
		if t.group != nil {
			g = t.group[i]
		}
		if !last[g] && is(i) {
			last[g] = true
			count++
		}
	}
	return count
}

// effective is the number of samples on their own that tell as much, if those of a group tell the same: n over Kish's (1965) design
// effect sum n_g^2/n of groups of n_g. What samples of a group share is hardly known by a dozen of groups, and copies of a sample tell
// nothing that it does not.
func (t together) effective() float64 {
	if t.group == nil {
		return float64(t.n)
	}
	squares := 0.0
	for _, samples := range t.members {
		squares += float64(len(samples) * len(samples))
	}
	return float64(t.n*t.n) / squares
}

// evidence is what the log-likelihood of a sample counts for, where that of one on its own counts for 1.
func (t together) evidence() float64 {
	if t.group == nil || t.n == 0 {
		return 1
	}
	return t.effective() / float64(t.n)
}

// drawTimes writes how many times each sample is there in groups that are drawn anew out of themselves.
func (t together) drawTimes(rng *rand.Rand, times []float64) {
	clear(times)
	for range t.count() {
		g := rng.IntN(t.count())
		if t.group == nil {
			times[g]++
			continue
		}
		for _, i := range t.members[g] {
			times[i]++
		}
	}
}

// drawWeights draws weights of the groups from the flat Dirichlet distribution, the same for all samples of one, and divides them by
// their sum.
func (t together) drawWeights(rng *rand.Rand, w []float64) {
	if t.group == nil {
		drawWeights(rng, w)
		return
	}
	for _, samples := range t.members {
		v := rng.ExpFloat64()
		for _, i := range samples {
			w[i] = v
		}
	}
	floats.Scale(1/floats.Sum(w), w)
}
