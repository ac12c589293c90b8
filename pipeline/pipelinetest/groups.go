package pipelinetest

import (
	"math/rand/v2"
)

// GroupNumbers are the numbers of the groups of n samples, 3 or more: groups of any sizes, of which some samples are on their own (-1), but
// neither all of them nor all in one.
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

// Others are the samples outside of the group of one, by the group of each.
func Others(group []int, sample int) (out []int) {
	for i, g := range group {
		if g != group[sample] {
			out = append(out, i)
		}
	}
	return out
}
