package flags

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxSeeds bounds what a mistyped range can ask for.
const maxSeeds = 100_000

// Words splits a list at commas and drops spaces and empty words.
func Words(s string) []string {
	var words []string
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// Seeds reads seeds and ranges of seeds, such as "0-4,10".
func Seeds(s string) ([]uint64, error) {
	var seeds []uint64
	for _, w := range Words(s) {
		first, last, isRange := strings.Cut(w, "-")
		lo, err := strconv.ParseUint(first, 10, 64)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.ParseUint(last, 10, 64)
		}
		if err != nil || hi < lo {
			return nil, fmt.Errorf("expected seeds such as 0, 0-4 or 1,5,7, found %q", w)
		}
		if hi-lo >= maxSeeds-uint64(len(seeds)) {
			return nil, fmt.Errorf("expected at most %d seeds, found more in %q", maxSeeds, s)
		}
		for seed := lo; ; seed++ {
			seeds = append(seeds, seed)
			if seed == hi {
				break
			}
		}
	}
	if len(seeds) == 0 {
		return nil, fmt.Errorf("expected at least one seed, found none in %q", s)
	}
	sorted := slices.Sorted(slices.Values(seeds))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("seed %d is listed twice", sorted[i])
		}
	}
	return seeds, nil
}

// Budgets reads positive numbers.
func Budgets(s string) ([]float64, error) {
	var budgets []float64
	seen := map[float64]bool{}
	for _, w := range Words(s) {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("expected positive numbers such as 5000,10000, found %q", w)
		}
		if seen[v] {
			return nil, fmt.Errorf("budget %s is listed twice", w)
		}
		seen[v] = true
		budgets = append(budgets, v)
	}
	if len(budgets) == 0 {
		return nil, fmt.Errorf("expected at least one budget, found none in %q", s)
	}
	return budgets, nil
}
