package manifest

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Rows that belong together are hinted at in whatever order they are in, in one file or several, by the name of a column or by its values
// alone. Ids, texts of which some occur again, words of all sources and columns with the name of groups whose values are hardly ever there
// twice are not.
func TestGroupsInAnyOrder(t *testing.T) {
	rng := testrand.New(t)
	const sources, most = 12, 15
	type row struct {
		site, group int
		cells       [9]string
	}
	var rows []row
	number := rng.Perm(1 << 20)
	for group := 0; len(rows) < 6000; group++ {
		site := rng.IntN(sources)
		for range 2 + rng.IntN(most) {
			i := len(rows)
			rows = append(rows, row{site, group, [9]string{fmt.Sprint("s", site), fmt.Sprint("l", rng.IntN(3)), fmt.Sprint(rng.NormFloat64()),
				fmt.Sprintf("u%dx", number[i]), fmt.Sprint("who ", group), fmt.Sprint(number[group]), fmt.Sprintf("%dk", number[group]),
				fmt.Sprint("as ", min(rng.IntN(9000), rng.IntN(9000)), " of ", rng.IntN(2)), fmt.Sprint("to ", group/2)}})
		}
	}
	names := []string{"site", "label", "x", "author", "speaker", "subject", "tape", "note", "street"}
	want := []string{"speaker", "subject", "tape"}
	for range len(rows) / 50 {
		i, of := rng.IntN(len(rows)), rng.IntN(len(rows))
		rows[i].cells[3] = rows[of].cells[3]
	}
	for order, by := range must.Ordered(map[string]func(a, b row) int{
		"sorted":    func(a, b row) int { return cmp.Compare(a.group, b.group) },
		"by source": func(a, b row) int { return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.group, b.group)) },
		"shuffled":  nil,
	}) {
		all := slices.Clone(rows)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if by != nil {
			slices.SortFunc(all, by)
		}
		for _, files := range []int{1, 3} {
			dir := t.TempDir()
			var paths []string
			for k := range files {
				of := all[k*len(all)/files : (k+1)*len(all)/files]
				var columns []columnOf
				for j, name := range names {
					columns = append(columns, columnOf{name, func(i int) string { return of[i].cells[j] }})
				}
				paths = append(paths, filepath.Join(dir, fmt.Sprint(k, ".csv")))
				writeTable(t, paths[k], len(of), columns...)
			}
			g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), paths, Known{Source: "site"}))(t)
			var hinted, named []string
			for _, c := range g.Others {
				if strings.Contains(c, "--group") {
					hinted = append(hinted, strings.Fields(c)[0])
				}
			}
			for _, h := range must.Get(g.GroupHints())(t) {
				named = append(named, h.Column)
			}
			must.EqualSlices(t, hinted, want, "%d files, rows %s: %q", files, order, g.Others)
			must.EqualSlices(t, named, want, "%d files, rows %s", files, order)
			must.EqualSlices(t, g.Features, []string{"x"}, "%d files, rows %s: features", files, order)
		}
	}
}

// One row of another source, which is not looked at, shows that the values of a column are no groups within the sources.
func TestGroupInAnotherSource(t *testing.T) {
	rng := testrand.New(t)
	const each, sites = 3, 4
	order := rng.Perm(unseenRows)
	at := inspectRows + runRows
	must.Hold(t, unseen(at), "row %d is looked at", at)
	for _, other := range []bool{false, true} {
		tape := func(i int) string { return fmt.Sprint("tape ", order[i]/each) }
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, unseenRows, columnOf{"site", func(i int) string {
			return fmt.Sprint("s", (order[i]/each+b2i(other && i == at))%sites)
		}}, columnOf{"label", func(i int) string { return fmt.Sprint("l", i%2) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{"tape", tape})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "site"}))(t)
		must.Equal(t, strings.Contains(g.Others[0], "--group tape"), !other, "a row of another source %v: %q", other, g.Others)
	}
}
