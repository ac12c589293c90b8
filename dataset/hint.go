package dataset

import (
	"slices"
	"strings"
)

// nameHint lists the task names when they are few, and otherwise the five that
// are closest to name: those it begins first, then by edit distance.
func (s *Set) nameHint(name string) string {
	const few, closest = 12, 5
	names := make([]string, len(s.Tasks))
	for i := range s.Tasks {
		names[i] = s.Tasks[i].Name
	}
	switch {
	case len(names) == 0:
		return "none, it has no tasks"
	case len(names) <= few:
		return strings.Join(names, ", ")
	}
	distance := make(map[string]int, len(names))
	for _, n := range names {
		distance[n] = editDistance(name, n)
		if name != "" && strings.HasPrefix(n, name) {
			distance[n] = -1
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return distance[a] - distance[b] })
	return strings.Join(names[:closest], ", ") + ", ..."
}

// editDistance is the Levenshtein distance of the bytes of a and b, of which
// no more than the first 256 are looked at.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 256)], b[:min(len(b), 256)]
	row := make([]int, len(b)+1) // row[j] is the distance of a[:i] and b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
