package manifest

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Whole numbers that name rows are no features, in any order of the rows: running numbers, those of cases, which are all different in a
// range where measured ones would not be, long codes, and numbers with leading zeros. Quantities are features, even if all are different.
func TestLookForNumbersThatName(t *testing.T) {
	rng := testrand.New(t)
	const rows = 1500
	order, cases, prices := rng.Perm(rows), rng.Perm(90_000), map[int]bool{}
	different := func(draw func() float64) func(int) string { // all different, as few rows of a wide range are
		return func(int) string {
			x := int(draw())
			for ; prices[x]; x++ {
			}
			prices[x] = true
			return fmt.Sprint(x)
		}
	}
	now := 1_700_000_000
	const id, feature, category, neither = "id", "feature", "category", "neither"
	for i, c := range []struct {
		is   string
		cell func(int) string
		says string
	}{
		{id, func(i int) string { return fmt.Sprint(order[i]) }, ""},
		{id, func(i int) string { return fmt.Sprint(order[i] + 1) }, ""},
		{id, func(i int) string { return fmt.Sprintf("%06d", order[i]) }, ""},
		{id, func(i int) string { return fmt.Sprintf("%05d", 10*order[i]) }, ""},
		{id, func(i int) string { return fmt.Sprint(10_000 + cases[i]) }, ""},
		{id, func(i int) string { return fmt.Sprint(1_000_000_000_000 + int64(cases[i])*97_000_003) }, ""},
		{neither, func(i int) string { // with a few cells missing
			if i%100 == 0 {
				return "NA"
			}
			return fmt.Sprint(10_000 + cases[i])
		}, "looks like ids"},
		{neither, func(i int) string { return fmt.Sprintf("%05d", 500+cases[i]%9000) }, "codes, numbers with leading zeros"},
		{category, func(i int) string { return fmt.Sprintf("%03d", 7*(i%9)) }, ""},
		{feature, func(i int) string { return fmt.Sprintf("%02d", rng.IntN(24)) }, ""}, // hours
		{feature, func(i int) string { return fmt.Sprint(rng.IntN(90_000)) }, ""},
		{feature, func(i int) string { return []string{fmt.Sprint(100 + rng.IntN(900)), "017"}[b2i(i%400 == 1)] }, ""}, // slips
		{feature, different(func() float64 { return 1000 * math.Exp(rng.NormFloat64()*2+5) }), ""},                     // populations
		{feature, different(func() float64 { return 1e7 + 8e7*rng.Float64() }), ""},                                    // prices in cents
		{feature, different(func() float64 { return 1e3 * math.Exp(rng.NormFloat64()+9) }), ""},
		{feature, func(i int) string { return fmt.Sprint(30 * order[i]) }, ""},                // a grid
		{feature, func(int) string { now += 1 + rng.IntN(5000); return fmt.Sprint(now) }, ""}, // seconds since 1970
	} {
		clear(prices)
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{"nr", c.cell},
			columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		is := neither
		for what, names := range map[string][]string{id: {g.ID}, feature: g.Features, category: g.Categories} {
			if slices.Contains(names, "nr") {
				is = what
			}
		}
		must.Equal(t, is, c.is, "case %d, %s", i, c.cell(0))
		must.Hold(t, strings.Contains(strings.Join(g.Others, "\n"), c.says), "case %d: %q", i, g.Others)
		if c.is != category {
			g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"x", "nr"}}))(t)
			must.Hold(t, slices.Contains(g.Features, "nr") && g.ID == "", "case %d: features that are said", i)
		}
	}
	for _, name := range []string{"time", "rank", "day_of_study"} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{name, func(i int) string { return fmt.Sprint(order[i]) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.EqualSlices(t, g.Features, []string{name, "x"}, "features")
	}
}
