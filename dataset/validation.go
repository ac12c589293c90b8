package dataset

import (
	"math/rand/v2"
	"slices"
)

// Validation returns a copy of a valid set for choosing settings without its test rows: a fifth of the base items in Train, fixed by a
// permutation, become Test, and the old Test is dropped. Whether a row is held out depends on its index alone, so that row i falls on the
// same side in every pool, and tasks that share their rows go on sharing them. All rows of a group of a pool go where the first of them
// goes. A task that is never the target needs no Test, and keeps its rows where all would be held out. It is an error where a target has
// too few rows to hold a fifth out, or the set has a model: its exact scores use no rows, so there is nothing to hold out.
func (s *Set) Validation() (*Set, error) {
	if s.Model != nil {
		return nil, s.fault("expected data without a known model to hold validation rows out of, found one: its scores are exact")
	}
	most := 0
	for _, p := range s.Pools {
		most = max(most, p.Rows)
	}
	held := make([]bool, most)
	rng := rand.New(rand.NewPCG(splitSeed, 1))
	for _, i := range rng.Perm(most)[:most/5] {
		held[i] = true
	}
	out := *s
	out.Name += " (validation rows)"
	out.Tasks = slices.Clone(s.Tasks)
	splits, targets := map[splitOf]split{}, s.Targets()
	groups := make([][]int32, len(s.Pools))        // by pool, those of targets with copies
	first := make([]map[int32]int32, len(s.Pools)) // by pool and group: the first row
	for i, p := range s.Pools {
		if groups[i] = p.Groups; p.Target {
			groups[i] = s.GroupsOf(i)
		}
		first[i] = map[int32]int32{}
		for r, g := range groups[i] {
			if _, known := first[i][g]; !known && g >= 0 {
				first[i][g] = int32(r)
			}
		}
	}
	for i := range out.Tasks {
		t := &out.Tasks[i]
		key, of := splitOf{span[int32]{&t.Train[0], len(t.Train)}, -1}, groups[t.Pool]
		if of != nil {
			key.pool = t.Pool
		}
		if _, ok := splits[key]; !ok {
			var part split
			for _, r := range t.Train {
				as := r
				if of != nil && of[r] >= 0 {
					as = first[t.Pool][of[r]]
				}
				if held[as] {
					part.test = append(part.test, r)
				} else {
					part.train = append(part.train, r)
				}
			}
			splits[key] = part
		}
		part, n := splits[key], len(t.Train)
		if _, target := slices.BinarySearch(targets, i); target && (len(part.train) == 0 || len(part.test) == 0) {
			return nil, s.fault("task %q: expected enough train rows to hold a fifth out, found %d", t.Name, n)
		}
		if t.Test = nil; len(part.train) > 0 {
			t.Train, t.Test = part.train, part.test
		}
	}
	return &out, nil
}

// splitOf identifies a list of rows: of one pool where that has groups, and otherwise of any, with pool -1.
type splitOf struct {
	rows span[int32]
	pool int
}
