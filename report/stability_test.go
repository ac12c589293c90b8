package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// The table of shares over seeds has the mean, the least and the largest share of each source in the results of one target at the largest
// budget, and how often the source is among the first five. There is no table for several targets, or for two seeds.
func TestStability(t *testing.T) {
	dir := finishedSweep(t, smallData(t, false), []int{3}, []float64{200, 300}, nil)
	id, s, err := runs.ReadSweep(dir)
	must.Do(t, err)
	shares, five := map[string][]float64{}, map[string]int{}
	must.Do(t, runs.EachResult(dir, id, s, func(r *runs.Result) error {
		if r.Budget != 300 {
			return nil
		}
		of := slices.Clone(r.Sources)
		slices.SortStableFunc(of, func(a, b runs.SourceResult) int { return cmp.Compare(b.Share, a.Share) })
		for i, src := range of {
			shares[src.Source] = append(shares[src.Source], src.Share)
			if i < 5 && src.Share > 0 {
				five[src.Source]++
			}
		}
		return nil
	}))
	of, text, err := Stability(dir, &id, s, 4, Text)
	must.Do(t, err)
	for _, o := range of {
		must.Hold(t, o.Least == slices.Min(shares[o.Source]) && o.Most == slices.Max(shares[o.Source]) && o.InFirstFive == five[o.Source] &&
			o.Seeds == 3 && math.Abs(o.Share-plainMean(shares[o.Source])) < 1e-12, "%+v of %v", o, shares[o.Source])
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	has(t, lines[0], "the 4 of 39 sources with the largest mean shares (active), over 3 seeds")
	must.Equal(t, len(lines), 3+4, "lines of\n%s", text)
	last := math.Inf(1)
	for _, line := range lines[3:] {
		of := shares[strings.Fields(line)[0]]
		mean := plainMean(of)
		must.Hold(t, mean <= last, "not by falling shares:\n%s", text)
		last = mean
		has(t, strings.Join(strings.Fields(line), " "), fmt.Sprintf("%.1f %% %.1f to %.1f %% %d of 3", 100*mean, 100*slices.Min(of),
			100*slices.Max(of), five[strings.Fields(line)[0]]))
	}
	two := id
	two.Seeds = id.Seeds[:2]
	of, text, err = Stability(dir, &two, s, 4, Text)
	must.Hold(t, err == nil && of == nil && text == "", "of two seeds: %v, %s", err, text)
	several := finishedSweep(t, smallData(t, false), []int{3, 5}, []float64{200}, nil)
	id, s, err = runs.ReadSweep(several)
	must.Do(t, err)
	of, text, err = Stability(several, &id, s, 4, Text)
	must.Hold(t, err == nil && of == nil && text == "", "of two targets: %v, %s", err, text)
}
