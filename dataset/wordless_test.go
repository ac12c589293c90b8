package dataset

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A column of words that is empty in all rows of the target is named, in whatever unit the features are, unless it is empty in most rows of
// the sources too. One that has the same word in all rows of the target is not.
func TestWordless(t *testing.T) {
	rng := testrand.New(t)
	const rows = 60
	for i, c := range []struct {
		target func() [2]int // the words of k and l, -1 for none
		share  float64       // of the sources' rows with a word of k
		want   []string      // columns
	}{
		{func() [2]int { return [2]int{-1, rng.IntN(2)} }, 0.9, []string{"k"}},
		{func() [2]int { return [2]int{-1, rng.IntN(2)} }, 0.03, nil},
		{func() [2]int { return [2]int{rng.IntN(2), rng.IntN(2)} }, 0.9, nil},
		{func() [2]int { return [2]int{1, 0} }, 0.9, nil},
		{func() [2]int { return [2]int{-1, -1} }, 1, []string{"k", "l"}},
	} {
		for _, unit := range []float32{1, 0.2} {
			centre := float32(0.3) * (1 - unit)
			set := &Set{Columns: &Columns{Features: []string{"x", "k=a", "k=b", "l=p", "l=q", "x is missing"}, Words: []table.Words{
				{Column: "k", Words: []string{"a", "b"}}, {Column: "l", Words: []string{"p", "q"}}, table.Missing("x")}}}
			for _, name := range []string{"a", "b", "target"} {
				p := &Pool{Name: name, Rows: rows, Cols: 6, Scale: 1, Target: name == "target"}
				for range rows {
					words := [2]int{rng.IntN(2), rng.IntN(2)}
					if rng.Float64() >= c.share {
						words[0] = -1
					}
					if p.Target {
						words = c.target()
					}
					row := []float32{float32(rng.NormFloat64()), -centre, -centre, -centre, -centre, float32(rng.IntN(2))}
					for j, w := range words {
						if w >= 0 {
							row[1+2*j+w] += unit
						}
					}
					p.F32 = append(p.F32, row...)
				}
				set.Pools = append(set.Pools, p)
			}
			found := set.wordless()
			must.Equal(t, len(found), len(c.want), "case %d, unit %v: %v", i, unit, found)
			for j, name := range c.want {
				must.Hold(t, found[j].Pool == "target" && strings.HasPrefix(found[j].Found, "no row has a word of column "+name+", though"),
					"case %d, unit %v: %v", i, unit, found)
			}
		}
	}
}
