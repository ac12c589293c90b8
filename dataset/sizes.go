package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// otherUnits is the ratio of a source's root mean square feature to the typical source's, in either direction, above which its units are
// probably different. The spread of a source's numeric labels is compared by the same ratio.
const otherUnits = 10

// sizes returns the root mean square of the features of each pool, in all rows or in at most so many from all over it.
func (s *Set) sizes(most int) (sizes []float64) {
	for _, p := range s.Pools {
		sum, rows, row := 0.0, min(p.Rows, most), make([]float32, p.Cols)
		for k := range rows {
			p.ReadRow(int(int64(k)*int64(p.Rows)/int64(rows)), row)
			for _, v := range row {
				sum += float64(v) * float64(v)
			}
		}
		sizes = append(sizes, math.Sqrt(sum/float64(rows*p.Cols)))
	}
	return sizes
}

// oddSizes lists the pools whose features are of another size than those of the typical pool, given the sizes of all, in all rows or in at
// most so many of each.
func (s *Set) oddSizes(sizes []float64, most int) (out []Oddity) {
	sorted := slices.Sorted(slices.Values(sizes))
	middle := sorted[len(sorted)/2]
	for i, p := range s.Pools {
		if r := sizes[i] / middle; middle > 0 && (r > otherUnits || r < 1./otherUnits) {
			looked := ""
			if p.Rows > most {
				looked = fmt.Sprintf(" in %s looked at", text.Several(most, "row"))
			}
			out = append(out, Oddity{p.Name, fmt.Sprintf("features of root mean square %.3g%s, %.3g elsewhere", sizes[i], looked, middle),
				"bring them to the units of the others, or exclude the source"})
		}
	}
	return out
}
