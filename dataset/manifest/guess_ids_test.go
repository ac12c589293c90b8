package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Numbers of orders and of customers are no features, whatever they are: those that are there once are ids, and those that are there
// several times may say which rows belong together. Few kinds of customers are categories, and amounts are features, each different or not.
func TestLookForIDs(t *testing.T) {
	rng := testrand.New(t)
	const rows = 300
	distinct := rng.Perm(10 * rows)
	once := func(i int) string { return fmt.Sprint(10_000_000 + 9973*distinct[i]) }
	often := func(i int) string { return fmt.Sprint(100_000 + 97*distinct[i/5]) }
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	kind := func(int) string { return []string{"private", "business"}[rng.IntN(2)] }
	for _, of := range []struct {
		name    string
		cell    func(int) string
		feature bool
		says    string
	}{
		{"order_no", once, false, ""},
		{"Listing", once, false, ""},
		{"invoice", once, false, ""},
		{"customer", often, false, "--group customer"},
		{"policy_id", often, false, "--group policy_id"},
		{"patient", often, false, "--group patient"},
		{"customer", kind, true, ""},
		{"turnover", once, true, ""},
		{"employee", func(i int) string { return fmt.Sprint(5 + distinct[i/3]) }, true, ""},
		{"views_num", once, true, ""},
		{"population_number", once, true, ""},
		{"number", once, true, ""},
		{"index", func(i int) string { return fmt.Sprint(i * 7 % 90) }, true, ""}, // of something that was counted
		{"Invoice No", once, false, ""},
		{"customernumber", once, false, ""},
		{"order", func(i int) string { return fmt.Sprint(i % 7) }, true, ""}, // such as a place in a list
		{"policy_no", func(i int) string { return fmt.Sprintf("%.1f", rng.NormFloat64()) }, true, ""},
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, columnOf{"id", func(i int) string { return fmt.Sprint("r", i) }},
			columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{"x", number}, columnOf{of.name, of.cell}, columnOf{"label", number})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, slices.Contains(slices.Concat(g.Features, g.Categories), of.name), of.feature, "%s is a feature or category", of.name)
		must.Equal(t, strings.Contains(strings.Join(g.Others, "\n"), "--group"), of.says != "", "%s: %q", of.name, g.Others)
		must.Hold(t, strings.Contains(strings.Join(g.Others, "\n"), of.says), "%s: %q", of.name, g.Others)
		hints := must.Get(g.GroupHints())(t)
		must.Equal(t, len(hints), b2i(of.says != ""), "%s: %q", of.name, hints)
		if len(hints) > 0 {
			must.Hold(t, hints[0].Column == of.name && strings.HasPrefix(hints[0].Found, "60 of 60 values of column "+of.name), "%q", hints)
			g.Group = of.name
			must.Equal(t, len(must.Get(g.GroupHints())(t)), 0, "hints of a group that is said")
		}
	}
}

// The price of a label that is the same in all rows of a source is what a row costs.
func TestLookForPriceOfLabels(t *testing.T) {
	rng := testrand.New(t)
	for _, name := range []string{"label_price", "price_per_label", "Price per label"} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 200, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{name, func(i int) string { return fmt.Sprint(1 + i%4) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"y", func(int) string { return fmt.Sprint(rng.NormFloat64()) }})
		must.Equal(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t).Cost, name, "the column of the cost")
	}
}
