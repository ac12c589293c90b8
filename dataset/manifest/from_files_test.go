package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where each file is a source, the label is what the target's file lacks most of, or all of, as it is where one file has all rows and a
// column of their sources.
func TestLookForLabelsAcrossFiles(t *testing.T) {
	rng := testrand.New(t)
	for _, unlabelled := range []float64{0.7, 1} {
		columns := func(target func(row int) bool) []columnOf {
			return []columnOf{
				{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
				{"maker", func(int) string { return []string{"ABB", "Bosch", "Acme", "unknown"}[min(3, rng.IntN(40)/13)] }},
				{"shift", func(int) string { return []string{"day", "night"}[rng.IntN(2)] }},
				{"failure", func(row int) string {
					if target(row) && rng.Float64() < unlabelled {
						return ""
					}
					return []string{"ok", "leak", "stop"}[rng.IntN(3)]
				}},
			}
		}
		dir := t.TempDir()
		for kind, path := range map[string]string{FromFile: "%s.csv", FromFolder: "%s/rows.csv"} {
			var files []string
			for _, plant := range []string{"A", "B", "C", "Y", "Z"} {
				files = append(files, filepath.Join(dir, fmt.Sprintf(path, plant)))
				writeTable(t, files[len(files)-1], 240, columns(func(int) bool { return plant == "Y" })...)
			}
			g := must.Get(Look(t.Context(), "m.yaml", files, Known{Target: "Y"}))(t)
			must.Equal(t, g.Labels[0].Column, "failure", "label of sources that are %s, %g without label", kind, unlabelled)
			must.Equal(t, g.Source, kind, "source")
			must.EqualSlices(t, g.Categories, []string{"maker", "shift"}, "categories")
			if unlabelled < 1 {
				g = must.Get(Look(t.Context(), "m.yaml", files, Known{Source: kind}))(t)
				must.Equal(t, g.Labels[0].Column, "failure", "label where the target is not known")
			}
		}
		file := filepath.Join(dir, "all.csv")
		plant := columnOf{"line", func(row int) string { return []string{"A", "B", "C", "Y", "Z"}[row%5] }}
		writeTable(t, file, 1200, slices.Insert(columns(func(row int) bool { return row%5 == 3 }), 0, plant)...)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: "Y"}))(t)
		must.Equal(t, g.Labels[0].Column, "failure", "label of a column of sources, %g without label", unlabelled)
		must.EqualSlices(t, g.Categories, []string{"maker", "shift"}, "categories")
	}
}
