package must

import (
	"cmp"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// Long returns how often a test repeats something: n times where go test shows what tests log (-v), as the commands of docs do, and less
// often elsewhere, so that all tests together take less time.
func Long(n, less int) int {
	if testing.Verbose() {
		return n
	}
	return less
}

// Some returns the cases that a test goes through, in their order: all where go test shows what tests log, and a few that rng draws
// elsewhere.
func Some[C any](rng *rand.Rand, few int, all ...C) (some []C) {
	drawn := rng.Perm(len(all))[:Long(len(all), few)]
	slices.Sort(drawn)
	for _, i := range drawn {
		some = append(some, all[i])
	}
	return some
}

// Ordered goes through a map by its keys, ascending, so that what a test draws on the way depends on its seed alone.
func Ordered[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
