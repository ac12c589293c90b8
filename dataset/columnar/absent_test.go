package columnar

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

// Files that lack columns are imported as files with blank cells there, in any order of the files and of their columns: features, those
// computed from them, categories, labels, splits, costs and groups.
func TestImportAbsent(t *testing.T) {
	rng := testrand.New(t)
	const form = "files: [%s]\ncolumns: {source: (file), features: %s, categories: ward, knots: 3, fill: mean+indicator, missing: {x2: -9}, " +
		"split: part, cost: price, group: patient%s}\nlabels: [{column: y, type: number}, {column: z, type: number}]\ntarget: {source: t}\n"
	all := []string{"x1", "x2", "x3", "ward", "part", "price", "patient", "y", "z"}
	for turn := range 6 {
		full, lacking, patterns := t.TempDir(), t.TempDir(), turn%2 == 1
		var files []string
		complete := ""
		for k, source := range []string{"a", "b", "c", "t"} {
			has := map[string]bool{}
			for _, name := range all {
				has[name] = k == turn%4 || rng.IntN(3) > 0
			}
			if k == turn%4 {
				complete = source + ".csv"
			}
			var rows, own strings.Builder
			order := rng.Perm(len(all))
			if patterns { // which take the columns in the order of the file
				slices.Sort(order)
			}
			write := func(cell func(name string) string) {
				var here, there []string
				for _, i := range order {
					word := ""
					if name := all[i]; has[name] {
						word = cell(name)
						there = append(there, word)
					}
					here = append(here, word)
				}
				fmt.Fprintln(&rows, strings.Join(here, ","))
				fmt.Fprintln(&own, strings.Join(there, ","))
			}
			var names, ownNames []string
			for _, i := range order {
				if names = append(names, all[i]); has[all[i]] {
					ownNames = append(ownNames, all[i])
				}
			}
			fmt.Fprintln(&rows, strings.Join(append(names, "end"), ","))
			fmt.Fprintln(&own, strings.Join(append(ownNames, "end"), ","))
			for range 60 {
				write(func(name string) string {
					switch name {
					case "ward":
						return []string{"A", "B", "C"}[rng.IntN(3)]
					case "part":
						return []string{"train", "test", ""}[rng.IntN(3)]
					case "price":
						return fmt.Sprint(1 + k)
					case "patient":
						return fmt.Sprintf("p%d", rng.IntN(30))
					case "x2":
						return fmt.Sprint([]float64{-9, rng.NormFloat64()}[rng.IntN(2)])
					}
					return fmt.Sprint(rng.NormFloat64())
				})
			}
			files = append(files, source+".csv")
			body := func(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", ",e\n")) }
			head := func(s string) []byte { return []byte(strings.Replace(string(body(s)), "end,e\n", "end\n", 1)) }
			must.Do(t, os.WriteFile(filepath.Join(full, source+".csv"), head(rows.String()), 0o644))
			must.Do(t, os.WriteFile(filepath.Join(lacking, source+".csv"), head(own.String()), 0o644))
		}
		features := "[x1, x2, x3]"
		if rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] }); patterns {
			features = "x*"
			at := slices.Index(files, complete)
			files[0], files[at] = files[at], files[0]
		}
		digest := func(dir, absent string) string {
			out := filepath.Join(dir, "out")
			must.Do(t, Import(t.Context(), parse(t, dir, fmt.Sprintf(form, strings.Join(files, ", "), features, absent)), out, nil))
			return fmt.Sprint(must.Get(Digest(out))(t))
		}
		want := digest(full, "")
		must.Equal(t, digest(lacking, ", absent: ["+strings.Join(all, ", ")+"]"), want, "digest")
	}
}
