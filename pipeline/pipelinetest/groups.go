package pipelinetest

import (
	"math/rand/v2"
)

// GroupNumbers returns the group numbers of n samples, 3 or more: groups of random sizes, with some samples on their
// own (-1), but neither all on their own nor all in one group.
func GroupNumbers(rng *rand.Rand, n int) []int32 {
	numbers := make([]int32, n)
	for {
		most, groups, known := 2+rng.IntN(n), 0, map[int32]bool{}
		for i := range numbers {
			if numbers[i] = int32(rng.IntN(most)); rng.IntN(5) == 0 {
				numbers[i] = -1
			}
			if numbers[i] < 0 || !known[numbers[i]] {
				groups, known[numbers[i]] = groups+1, true
			}
		}
		if 1 < groups && groups < n {
			return numbers
		}
	}
}

// Others returns the samples outside the group of sample, group holding the group of each sample.
func Others(group []int, sample int) (out []int) {
	for i, g := range group {
		if g != group[sample] {
			out = append(out, i)
		}
	}
	return out
}
