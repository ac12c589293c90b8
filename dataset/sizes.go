package dataset

import (
	"fmt"
	"math"
	"slices"
)

// otherUnits is the ratio of a source's root mean square feature to the typical source's, in either direction, above which its units are
// probably different. The spread of a source's numeric labels is compared by the same ratio.
const otherUnits = 10

// sizes returns the root mean square of the features of each pool.
func (s *Set) sizes() (sizes []float64) {
	for _, p := range s.Pools {
		sum, n := 0.0, p.Rows*p.Cols
		for i := range n {
			v := float64(p.feature(i))
			sum += v * v
		}
		sizes = append(sizes, math.Sqrt(sum/float64(n)))
	}
	return sizes
}

// oddSizes lists the pools whose features are of another size than those of the typical pool, given the sizes of all.
func (s *Set) oddSizes(sizes []float64) (out []Oddity) {
	sorted := slices.Sorted(slices.Values(sizes))
	middle := sorted[len(sorted)/2]
	for i, p := range s.Pools {
		if r := sizes[i] / middle; middle > 0 && (r > otherUnits || r < 1./otherUnits) {
			out = append(out, Oddity{p.Name, fmt.Sprintf("features of root mean square %.3g, %.3g elsewhere", sizes[i], middle),
				"bring them to the units of the others, or exclude the source"})
		}
	}
	return out
}
