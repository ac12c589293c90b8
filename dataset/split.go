package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// splitSeed fixes the permutation that decides which base items are held out.
const splitSeed = 0x616d74726c

// split is a division of rows into those to draw from and those to test on.
type split struct{ train, test []int32 }

// splitter hands out splits, the same one for equal row counts, so that tasks share the slices and row i falls on the same side in every
// pool.
type splitter map[[2]int]split

// upTo returns the numbers 0 to n-1.
func upTo[T int | int32](n int) []T {
	rows := make([]T, n)
	for i := range rows {
		rows[i] = T(i)
	}
	return rows
}

// held splits rows that came without a split: one in five, rounded down but at least one, is held out by a permutation that depends on the
// number of rows alone. It is an error where there are fewer than two rows.
func (s splitter) held(rows int) (split, error) {
	if rows < 2 {
		return split{}, fmt.Errorf("expected at least 2 rows to split into train and test, found %d", rows)
	}
	key := [2]int{rows, -1}
	if _, ok := s[key]; !ok {
		order := upTo[int32](rows)
		rng := rand.New(rand.NewPCG(splitSeed, 0))
		rng.Shuffle(rows, func(i, j int) { order[i], order[j] = order[j], order[i] })
		n := rows - max(1, rows/5)
		train, test := order[:n:n], order[n:]
		slices.Sort(train)
		slices.Sort(test)
		s[key] = split{train, test}
	}
	return s[key], nil
}

// given splits a pool whose first rows are for training and the rest for tests.
func (s splitter) given(train, test int) split {
	key := [2]int{train, test}
	if _, ok := s[key]; !ok {
		order := upTo[int32](train + test)
		s[key] = split{order[:train:train], order[train:]}
	}
	return s[key]
}
