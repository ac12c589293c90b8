package main

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset"
)

// maxSeeds bounds what a mistyped range can ask for.
const maxSeeds = 100_000

// splitList splits at commas and drops spaces and empty words.
func splitList(s string) []string {
	var words []string
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// parseSeeds reads seeds and ranges of seeds, such as "0-4,10".
func parseSeeds(s string) ([]uint64, error) {
	var seeds []uint64
	for _, w := range splitList(s) {
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

// parseBudgets reads positive numbers.
func parseBudgets(s string) ([]float64, error) {
	var budgets []float64
	seen := map[float64]bool{}
	for _, w := range splitList(s) {
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

// matchTargets returns, in the order of the data, the tasks that a list of
// names and glob patterns selects; "all" selects every task.
func matchTargets(set *dataset.Set, list string) ([]string, error) {
	chosen := make([]bool, len(set.Tasks))
	words := splitList(list)
	if len(words) == 0 {
		return nil, fmt.Errorf("expected all, names or patterns such as fog_*, found %q", list)
	}
	index := make(map[string]int, len(set.Tasks))
	for i := range set.Tasks {
		index[set.Tasks[i].Name] = i
	}
	for _, w := range words {
		if !strings.ContainsAny(w, "*?[") && w != "all" {
			i, ok := index[w]
			if !ok {
				_, err := set.TaskIndex(w)
				return nil, err
			}
			chosen[i] = true
			continue
		}
		found := false
		for i := range set.Tasks {
			ok, err := path.Match(w, set.Tasks[i].Name)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", w, err)
			}
			if ok || w == "all" {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s has no task that matches %q", set.Name, w)
		}
	}
	var names []string
	for i := range set.Tasks {
		if chosen[i] {
			names = append(names, set.Tasks[i].Name)
		}
	}
	return names, nil
}
