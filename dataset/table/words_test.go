package table

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// wordRow is a row of the table that is written in several formats.
type wordRow struct {
	Age   *float64 `parquet:"age,optional"`
	Shift *string  `parquet:"shift,optional"`
	Zone  *int64   `parquet:"zone,optional"`
	Old   bool     `parquet:"old"`
}

// wordFiles writes rows as Parquet, CSV and JSON Lines, and returns the paths.
func wordFiles(t *testing.T, rows []wordRow) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	var csv, lines strings.Builder
	csv.WriteString("age,shift,zone,old\n")
	for _, r := range rows {
		cells, fields := []string{"", "", "", fmt.Sprint(r.Old)}, []string{fmt.Sprintf(`"old": %v`, r.Old)}
		if r.Age != nil {
			cells[0] = strconv.FormatFloat(*r.Age, 'g', -1, 64)
			fields = append(fields, `"age": `+cells[0])
		}
		if r.Shift != nil {
			cells[1] = *r.Shift
			fields = append(fields, fmt.Sprintf(`"shift": %q`, *r.Shift))
		}
		if r.Zone != nil {
			cells[2] = fmt.Sprint(*r.Zone)
			fields = append(fields, `"zone": `+cells[2])
		}
		csv.WriteString(strings.Join(cells, ",") + "\n")
		lines.WriteString("{" + strings.Join(fields, ", ") + "}\n")
	}
	for name, text := range map[string]string{"x.csv": csv.String(), "x.jsonl": lines.String()} {
		paths = append(paths, filepath.Join(dir, name))
		must.Do(t, os.WriteFile(paths[len(paths)-1], []byte(text), 0o644))
	}
	paths = append(paths, filepath.Join(dir, "x.parquet"))
	must.Do(t, parquet.WriteFile(paths[len(paths)-1], rows))
	return paths
}

func oneOf[E any](rng *rand.Rand, gaps int, words ...E) *E {
	if rng.IntN(gaps) == 0 {
		return nil
	}
	return &words[rng.IntN(len(words))]
}

// Words become the features that a loop over the rows computes, whatever the format, beside numbers and in any order.
func TestWords(t *testing.T) {
	rng := testrand.New(t)
	var rows []wordRow
	for range 5000 + rng.IntN(5000) {
		age := 50 * rng.NormFloat64()
		rows = append(rows, wordRow{Age: oneOf(rng, 9, age), Shift: oneOf(rng, 9, "day", "night", "dusk", "N/A", "", "  ", "a=b", "None"),
			Zone: oneOf[int64](rng, 9, 3, 12, 7), Old: rng.IntN(2) == 0})
	}
	words := []Words{{"shift", []string{"None", "a=b", "day", "night"}}, {"zone", []string{"12", "3"}}}
	features := []string{"zone=12", "age", "shift=a=b", "shift=None", "shift=day", "shift=night", "old", "zone=3"}
	rng.Shuffle(len(features), func(i, j int) { features[i], features[j] = features[j], features[i] })
	features = features[:4+rng.IntN(4)]
	has := func(prefix string) bool {
		return slices.ContainsFunc(features, func(name string) bool { return strings.HasPrefix(name, prefix) })
	}
	of := func(r wordRow, name string) float64 {
		column, word, _ := strings.Cut(name, "=")
		is := false
		switch column {
		case "age":
			if r.Age == nil {
				return nan
			}
			return *r.Age
		case "old":
			is = r.Old
		case "shift":
			is = r.Shift != nil && *r.Shift == word
		case "zone":
			is = r.Zone != nil && fmt.Sprint(*r.Zone) == word
		}
		if is {
			return 1
		}
		return 0
	}
	dusks, sevens := int64(0), int64(0)
	for _, r := range rows {
		if r.Shift != nil && *r.Shift == "dusk" {
			dusks++
		}
		if r.Zone != nil && *r.Zone == 7 {
			sevens++
		}
	}
	for _, path := range wordFiles(t, rows) {
		tab := must.Get(WithWords(must.Get(Open(path, FormatOf(path)))(t), path, words))(t)
		for _, name := range features {
			must.Get(Find(path, tab.Columns(), name))(t)
		}
		row := 0
		must.Do(t, tab.Scan(Query{Scalars: []string{"shift"}, Features: features, Gaps: true, Width: len(features)}, func(b *Batch) error {
			must.Hold(t, b.First == int64(row) && len(b.Scalars) == 1, "%s: a batch of %d columns at row %d", path, len(b.Scalars), b.First)
			for i := range b.Rows {
				for j, name := range features {
					got, want := b.Features.Wide(i*b.Features.Width+j), of(rows[row], name)
					must.Hold(t, got == want || got != got && want != want, "%s: %s of row %d is %g, want %g", path, name, row, got, want)
				}
				row++
			}
			return nil
		}))
		must.Equal(t, row, len(rows), "rows of %s", path)
		got := map[string]int64{}
		tab.Unknown(func(column, word string, rows int64) { got[column+" "+word] = rows })
		want := map[string]int64{}
		if has("shift") {
			want["shift dusk"] = dusks
		}
		if has("zone") {
			want["zone 7"] = sevens
		}
		must.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "unknown words of %s", path)
		must.Do(t, tab.Close())
	}
}

// Words that cannot be features are refused with the file and the column.
func TestWordsRefuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	must.Do(t, os.WriteFile(path, []byte("shift,shift=day,v\nday,1,\"[1, 2]\"\n"), 0o644))
	tab := must.Get(Open(path, CSV))(t)
	defer tab.Close()
	must.Fail(t, "a column that is missing", must.Err(WithWords(tab, path, []Words{{"shifts", []string{"day"}}})), path, `a column "shifts"`)
	must.Fail(t, "a name that is taken", must.Err(WithWords(tab, path, []Words{{"shift", []string{"day"}}})), path,
		"expected no column shift=day beside the words of shift, found one")
	words := must.Get(WithWords(tab, path, []Words{{"shift", []string{"night"}}}))(t)
	err := words.Scan(Query{Features: []string{"v", "shift=night"}}, func(*Batch) error { return nil })
	must.Fail(t, "lists", err, path, "column v: expected a number per row beside words, found lists of 2")
	err = words.Scan(Query{Features: []string{"shift=day", "shift=night"}, Width: 3}, func(*Batch) error { return nil })
	must.Fail(t, "a width", err, path, "expected 3 columns of features, found 2")
}
