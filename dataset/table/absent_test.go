package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// writeColumns writes a file of columns, each of texts or of numbers of which NaN is none.
func writeColumns(t *testing.T, path string, rows int, columns []Cells) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	w := must.Get(NewWriter(path, f))(t)
	must.Do(t, w.Write(rows, columns))
	must.Do(t, w.Close())
	must.Do(t, f.Close())
}

// A file that lacks columns is read, in any format and whatever else is read from it, as one that has them without a value in any row.
func TestAbsent(t *testing.T) {
	rng := testrand.New(t)
	for _, format := range []string{"csv", "parquet", "jsonl"} {
		for range 8 {
			rows, columns := 1+rng.IntN(300), []Cells{{Name: "row"}, {Name: "word"}}
			blank := make([]float32, rows)
			for i := range rows {
				columns[0].Numbers = append(columns[0].Numbers, float32(i))
				columns[1].Text = append(columns[1].Text, fmt.Sprint("w", rng.IntN(3)))
				blank[i] = float32(math.NaN())
			}
			var features, names []string
			for j := range 5 {
				c := Cells{Name: fmt.Sprint("x", j)}
				for range rows {
					c.Numbers = append(c.Numbers, float32(rng.NormFloat64()))
				}
				columns, features = append(columns, c), append(features, c.Name)
			}
			full, lacking := slices.Clone(columns), []Cells{columns[0]}
			for i, c := range columns[1:] {
				if names = append(names, c.Name); rng.IntN(2) == 0 {
					if full[1+i].Numbers = blank; c.Text != nil {
						full[1+i].Numbers, full[1+i].Text = nil, make([]string, rows)
					}
				} else {
					lacking = append(lacking, c)
				}
			}
			rng.Shuffle(len(lacking), func(i, j int) { lacking[i], lacking[j] = lacking[j], lacking[i] })
			dir := t.TempDir()
			a, b := filepath.Join(dir, "full."+format), filepath.Join(dir, "lacking."+format)
			writeColumns(t, a, rows, full)
			writeColumns(t, b, rows, lacking)
			for range 5 {
				q := Query{Scalars: some(rng, append([]string{"row"}, names...)), Features: some(rng, features), Gaps: true}
				if rng.IntN(2) == 0 {
					q.Width = len(q.Features)
				}
				must.Equal(t, contentOf(t, b, names, q), contentOf(t, a, nil, q), "%s, %+v", format, q)
			}
		}
	}
}

// some returns some of the names, in a random order.
func some(rng *rand.Rand, names []string) (out []string) {
	for _, i := range rng.Perm(len(names))[:1+rng.IntN(len(names))] {
		out = append(out, names[i])
	}
	return out
}

// contentOf returns what a query reads from a file that may lack columns.
func contentOf(t *testing.T, path string, absent []string, q Query) string {
	t.Helper()
	file := must.Get(Open(path, FormatOf(path)))(t)
	defer file.Close()
	var out strings.Builder
	must.Do(t, must.Get(WithAbsent(file, path, absent))(t).Scan(q, func(b *Batch) error {
		for i := range b.Rows {
			for j := range b.Scalars {
				if v := &b.Scalars[j]; v.IsEmpty(i) || v.Word(i) == "NaN" {
					out.WriteString(" none")
				} else {
					out.WriteString(" " + v.Word(i))
				}
			}
			for j := range b.Features.Width {
				fmt.Fprintf(&out, " %g", b.Features.Element(i*b.Features.Width+j))
			}
		}
		return nil
	}))
	return out.String()
}

// Lists beside absent columns keep their elements. A column that is only written otherwise is not taken for an absent one, and features are
// absent only where cells may be missing.
func TestAbsentBesideLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	must.Do(t, os.WriteFile(path, []byte("v,y\n[1 2],3\n[4 5],6\n"), 0o644))
	file := must.Get(Open(path, CSV))(t)
	defer file.Close()
	absent := must.Get(WithAbsent(file, path, []string{"x", "y", "z"}))(t)
	lists := must.Get(WithLists(absent, path, []string{"x", "v", "y", "z"}))(t)
	q := Query{Features: Spread(lists.Columns(), []string{"x", "v", "z", "y"}), Gaps: true}
	all := ""
	must.Do(t, lists.Scan(q, func(b *Batch) error {
		for i := range b.Features.Len() {
			all += fmt.Sprint(" ", b.Features.Element(i))
		}
		return nil
	}))
	must.Equal(t, all, " NaN 1 2 NaN 3 NaN 4 5 NaN 6", "elements")
	q.Gaps = false
	must.Fail(t, "no gaps", lists.Scan(q, func(*Batch) error { return nil }), path, `expected a column "x", or fill in the manifest`)
	must.Fail(t, "capitals", must.Err(WithAbsent(file, path, []string{"Y"})), path, `expected a column "Y", found "y": write the two alike`)
}
