package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Numbers of orders and of customers are no features: where each occurs once they are ids, and where they repeat they may say which rows
// belong together. Few kinds of customers are categories. Amounts are features, whether they repeat or not.
func TestLookForIDs(t *testing.T) {
	rng := testrand.New(t)
	const rows = 300
	distinct := rng.Perm(10 * rows)
	once := func(i int) string { return fmt.Sprint(10_000_000 + 9973*distinct[i]) }
	often := func(i int) string { return fmt.Sprint(100_000 + 97*distinct[i/5]) }
	few := func(i int) string { return fmt.Sprint(1 + i/5*37%431) }
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
		{"run_id", often, false, "--group run_id"},
		{"session", often, false, "--group session"},
		{"recording", kind, true, ""},
		{"field", func(i int) string { return fmt.Sprint("F", i/5) }, false, "--group field"},
		{"field", few, true, ""}, // of a magnet, as employees are counted
		{"field_id", few, false, "--group field_id"},
		{"plot", few, false, "--group plot"},
		{"parcel_no", few, false, "--group parcel_no"},
		{"plot", func(i int) string { return fmt.Sprint(i % 4) }, true, ""}, // of a block
		{"employeeid", few, false, "--group employeeid"},
		{"patient", often, false, "--group patient"},
		{"Patient No.", often, false, "--group 'Patient No.'"},
		{"subject_number", often, false, "--group subject_number"},
		{"Proband", func(i int) string { return fmt.Sprintf("p%d-%d", i%4, i/20) }, false, "--group Proband"}, // five rows of one site each
		{"street", func(i int) string { return fmt.Sprint("w", i/3) }, false, ""},                             // of several sites
		{"customer", kind, true, ""},
		{"turnover", once, true, ""},
		{"employee", func(i int) string { return fmt.Sprint(5 + distinct[i/3]) }, true, ""},
		{"views_num", once, true, ""},
		{"population_number", once, true, ""},
		{"number", once, true, ""},
		{"index", func(i int) string { return fmt.Sprint(i * 7 % 90) }, true, ""}, // index of something that was counted, not of the rows
		{"Invoice No", once, false, ""},
		{"customernumber", once, false, ""},
		{"order", func(i int) string { return fmt.Sprint(i % 7) }, true, ""}, // such as the position in a list
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
		empty := filepath.Join(filepath.Dir(file), "empty.csv")
		must.Do(t, os.WriteFile(empty, []byte("id,site\n"), 0o644))
		g.Files = append([]string{empty}, g.Files...)
		hints := must.Get(g.GroupHints())(t)
		must.Equal(t, len(hints), b2i(of.says != ""), "%s: %v", of.name, hints)
		if len(hints) > 0 {
			must.Hold(t, hints[0].Column == of.name && strings.HasPrefix(hints[0].Found, "60 of 60 values of column "+of.name), "%v", hints)
			g.Group = of.name
			must.Equal(t, len(must.Get(g.GroupHints())(t)), 0, "hints of a group that is said")
			g.Group, g.Features = "", []string{of.name[:1] + "*"}
			must.Equal(t, len(must.Get(g.GroupHints())(t)), 0, "hints of a feature that a pattern names")
		}
	}
}

// A price of a label that is the same in all rows of a source is what a row costs.
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

// Words that begin alike, or in one of few ways, and end in a number are the id where each occurs once. A running number of rows is no
// feature where some rows are copies of others. Numbers that occur again in other rows, as points in time do, are a feature.
func TestLookForSerials(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	const rows = 900
	site := columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}
	label := columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }}
	x := columnOf{"x", number}
	file := filepath.Join(t.TempDir(), "rows.csv")
	for _, of := range []struct {
		cell func(int) string
		is   bool
	}{
		{func(i int) string { return fmt.Sprintf("TK%05d", i) }, true},
		{func(i int) string { return fmt.Sprint("S-", rows-i) }, true},
		{func(i int) string { return fmt.Sprint([]string{"A", "B"}[i%2], i) }, true},
		{func(i int) string { return fmt.Sprint("word-", string(rune('a'+i%10)), string(rune('a'+i/10%9)), i) }, false},
		{func(i int) string { return fmt.Sprint("TK", max(1, i)) }, false},
		{func(i int) string { return fmt.Sprint("size ", i) }, false},
		{func(i int) string { return fmt.Sprint("TK", i, "b") }, false},
		{func(i int) string { return fmt.Sprintf("S%d-%d", i/40, i%40) }, true},
		{func(i int) string { return fmt.Sprintf("2023/%05d", i) }, true},
		{func(i int) string { return fmt.Sprintf("%s-%d-%d", []string{"AB", "CD"}[i%2], i/10, i) }, true},
		{func(i int) string { return fmt.Sprintf("2023/%05d", max(1, i)) }, false},
		{func(i int) string { return fmt.Sprintf("%d:%02d:%02d", i/3600, i/60%60, i%60) }, false},
	} {
		writeTable(t, file, rows, site, x, columnOf{"ticket", of.cell}, label)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, g.ID == "ticket", of.is, "%s and so on are the id", of.cell(0))
		must.EqualSlices(t, g.Features, []string{"x"}, "features beside %s", of.cell(0))
	}
	writeTable(t, file, rows, site, x, columnOf{"id", func(i int) string { return fmt.Sprint(i) }},
		columnOf{"ticket", func(i int) string { return fmt.Sprint("TK", i) }}, label)
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Others, []string{"ticket (ids beside the id)"}, "columns that are not used")

	writeTable(t, file, unseenRows, site, x, columnOf{"ticket", func(i int) string {
		return fmt.Sprint("TK", []int{i, unseenRows}[b2i(unseen(i))])
	}}, label)
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Others, []string{`ticket (repeated ids: 1 of 2,257 values more than once, the first "TK6000" in line 1018 and ` +
		"line 1019; if it is the id, mend them, then --id ticket)"}, "columns that are not used")

	for again, want := range must.Ordered(map[string][]string{"copies": {"x"}, "other": {"x", "respondent"}}) {
		all := rows + 1 + rng.IntN(rows/3)
		var xs, labels []string
		for i := range all { // among copies, the last rows repeat the first ones
			xs, labels = append(xs, number(i)), append(labels, label.cell(i))
			if i >= rows && again == "copies" {
				xs[i], labels[i] = xs[i-rows], labels[i-rows]
			}
		}
		writeTable(t, file, all, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%rows%4) }},
			columnOf{"x", func(i int) string { return xs[i] }}, columnOf{"respondent", func(i int) string { return fmt.Sprint(i % rows) }},
			columnOf{"label", func(i int) string { return labels[i] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.EqualSlices(t, g.Features, want, "features where the last of %d rows are %s", all, again)
		must.Equal(t, strings.Contains(strings.Join(g.Others, ""), "respondent (numbers of rows, though "), again == "copies", "%q", g.Others)
	}
}

// Names of photographs with numbers are ids where each row has its own, also beside several cameras.
func TestNamesOfPhotographsAreIDs(t *testing.T) {
	rng := testrand.New(t)
	for name, c := range must.Ordered(map[string]struct {
		cell func(int) string
		id   string
	}{
		"one camera":        {func(i int) string { return fmt.Sprintf("IMG_%04d.JPG", i) }, "photo"},
		"several cameras":   {func(i int) string { return fmt.Sprintf("cam%02d_%05d.png", i%4, i/4) }, "photo"},
		"folders":           {func(i int) string { return fmt.Sprintf("line %d/%05d.png", i%4, i/4) }, ""},
		"folders, no blank": {func(i int) string { return fmt.Sprintf("line%d/%05d.jpeg", i%4, i/4) }, "photo"},
		"twice":             {func(i int) string { return fmt.Sprintf("IMG_%04d.jpg", i/2) }, ""},
		"a number and more": {func(i int) string { return fmt.Sprintf("IMG_%04d.9x", i) }, ""},
	}) {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 200, columnOf{"photo", c.cell}, columnOf{"camera", func(i int) string { return fmt.Sprint("c", i%4) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"label", func(int) string { return []string{"ok", "hole", "dent"}[rng.IntN(3)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, g.ID, c.id, "%s", name)
	}
}
