package dataset

import (
	"cmp"
	"math"
	"slices"
)

// isolated is a set of rows that are further from any other than from each other.
type isolated struct {
	rows   []int   // by their numbers among the rows that were compared
	across float64 // the largest distance between two of them
	apart  float64 // the least distance of one of them to another row
}

// part returns by how much they are nearer to each other than to any other row: below 1, and less for nearer ones.
func (s isolated) part() float64 { return s.across / s.apart }

// isolated returns the largest sets of rows of which any other row is at least nearTimes as far as they are from each other, and which have
// no more than nearPartOfAll of the rows. Such sets are found among those that single linkage joins, from the minimum spanning tree (Gower
// and Ross 1969): what is nearer to each other than to anything else is joined before anything else is.
func (d *distances) isolated() (sets []isolated) {
	type cluster struct {
		of            [2]int // what it was joined from
		rows          []int  // nil for more than most
		across, apart float64
	}
	most := max(2, int(nearPartOfAll*float64(d.n)))
	clusters, root := make([]cluster, d.n, 2*d.n), upTo[int](2*d.n)
	for i := range clusters {
		clusters[i].rows = []int{i}
	}
	find := func(c int) int {
		for root[c] != c {
			root[c] = root[root[c]]
			c = root[c]
		}
		return c
	}
	for _, e := range d.spanningTree() {
		a, b := find(e.a), find(e.b)
		clusters[a].apart, clusters[b].apart = e.length, e.length
		joined := cluster{of: [2]int{a, b}}
		if x, y := clusters[a], clusters[b]; x.rows != nil && y.rows != nil && len(x.rows)+len(y.rows) <= most {
			joined.rows, joined.across = slices.Concat(x.rows, y.rows), max(x.across, y.across)
			for _, i := range x.rows {
				for _, j := range y.rows {
					joined.across = max(joined.across, d.between(i, j))
				}
			}
		}
		root[a], root[b] = len(clusters), len(clusters)
		clusters = append(clusters, joined)
	}
	open := []int{len(clusters) - 1}
	for len(open) > 0 {
		at := open[len(open)-1]
		if open = open[:len(open)-1]; at < d.n {
			continue
		}
		if c := clusters[at]; c.rows != nil && c.apart > 0 && c.apart >= nearTimes*c.across {
			sets = append(sets, isolated{c.rows, c.across, c.apart})
		} else {
			open = append(open, c.of[0], c.of[1])
		}
	}
	slices.SortFunc(sets, func(a, b isolated) int {
		return cmp.Or(cmp.Compare(a.part(), b.part()), cmp.Compare(slices.Min(a.rows), slices.Min(b.rows)))
	})
	return sets
}

// link joins two rows.
type link struct {
	a, b   int
	length float64
}

// spanningTree returns the n - 1 links of the minimum spanning tree of the rows (Prim 1957), the shortest first.
func (d *distances) spanningTree() []link {
	links, nearest, done := make([]link, 0, d.n-1), make([]link, d.n), make([]bool, d.n)
	for i := range nearest {
		nearest[i].length = math.Inf(1)
	}
	for at := 0; len(links) < d.n-1; {
		done[at] = true
		next := -1
		for i := range nearest {
			if done[i] {
				continue
			}
			if length := d.between(at, i); length < nearest[i].length {
				nearest[i] = link{at, i, length}
			}
			if next < 0 || nearest[i].length < nearest[next].length {
				next = i
			}
		}
		links, at = append(links, nearest[next]), next
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(a.length, b.length) })
	return links
}
