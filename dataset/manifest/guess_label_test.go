package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where the classes of a label, three or more, are all numbers, the manifest says that the label could be a number. It does not for other
// labels.
func TestLookAtRatings(t *testing.T) {
	rng := testrand.New(t)
	for cells, ordered := range must.Ordered(map[string]bool{
		"1,2,3,4,5": true, "1.0,2.0,5.0": true, "0,1": false, "a,b,c": false, "1,2,many": false,
	}) {
		of := strings.Split(cells, ",")
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 300, columnOf{"rating", func(int) string { return of[rng.IntN(len(of))] }},
			columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"rating"}}))(t)
		must.Equal(t, g.Ordered(0), ordered, "ordered: %s, %+v", cells, g.Labels)
		must.Equal(t, strings.Contains(g.Text(), "number where the order of its values counts"), ordered, "the manifest of %s", cells)
	}
}

// Whole numbers of which many occur once are not classes, however few rows have a label. Classes with numbers for names, each of which
// occurs several times, are.
func TestLookAtCounts(t *testing.T) {
	rng, told := testrand.New(t), 0
	for _, c := range []struct {
		kind     string
		labelled int
		cell     func() string
	}{
		{Number, 24, func() string { return fmt.Sprint(rng.IntN(60)) }},
		{Number, 120, func() string { // twelve values occur once
			if told++; told%10 == 0 {
				return fmt.Sprint(2 + told/10)
			}
			return fmt.Sprint(rng.IntN(3))
		}},
		{Classes, 150, func() string { return fmt.Sprint(101 + 7*rng.IntN(12)) }},
	} {
		kind, labelled, cell := c.kind, c.labelled, c.cell
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 200, columnOf{"id", func(i int) string { return fmt.Sprint("r", i) }},
			columnOf{"site", func(i int) string { return fmt.Sprint("s", i*4/200) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"events", func(i int) string {
				if i >= labelled {
					return ""
				}
				return cell()
			}})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"events"}}))(t)
		must.Equal(t, g.Labels[0].Type, kind, "%d labelled rows", labelled)
		must.Equal(t, strings.Contains(g.Text(), "classes where its values are names"), kind == Number && len(g.Counts) > 0, "the manifest")
		must.Hold(t, kind == Number || len(g.Counts) == 0, "classes are %v", g.Counts)
	}
}

// A column with a name that features have too is the label if it lacks values or comes last. Otherwise a column that lacks values is the
// label. The last column is named as another guess.
func TestLookForLabels(t *testing.T) {
	rng := testrand.New(t)
	words := func(of ...string) func(int) string { return func(int) string { return of[rng.IntN(len(of))] } }
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	site := columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}
	for want, columns := range must.Ordered(map[string][]columnOf{
		"churned []":      {site, {"is_business", words("true", "false")}, {"x", number}, {"churned", words("yes", "no", "")}},
		"rating []":       {site, {"category", words("a", "b")}, {"x", number}, {"rating", words("1", "2", "")}},
		"rooms [price]":   {site, {"rooms", words("1", "2", "", "")}, {"x", number}, {"price", number}},
		"is_late [delay]": {site, {"is_late", words("true", "false")}, {"x", number}, {"delay", number}},
		"sold [category]": {site, {"category", words("a", "b")}, {"x", number}, {"sold", func(i int) string {
			return []string{fmt.Sprint(rng.IntN(10_000)), "n/a"}[b2i(i%7 == 0)]
		}}},
		"label []":   {site, {"label", words("a", "b")}, {"x", number}, {"price", number}},
		"verdict []": {site, {"eur_per_label", words("1", "2", "-3")}, {"x", number}, {"verdict", words("ok", "bad", "")}},
		"kind []":    {{"x", number}, {"kind", words("a", "b", "")}, site},
		"churn [has_car vip]": {site, {"vip", words("true", "false")}, {"churn", words("0.0", "1.0")}, {"has_car", words("0", "1")},
			{"x1", number}},
		"is_old [left]": {site, {"left", words("0.0", "1.0")}, {"is_old", words("true", "false")}, {"y2", words("1", "2", "3")}, {"x1", number}},
		"sort []":       {site, {"sort", words("a", "b", "")}, {"x1", number}, {"x2", number}},
	}) {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 200, columns...)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, fmt.Sprint(g.Labels[0].Column, " ", g.Maybe), want, "label, and what else it could be")
		must.Get(Parse("m.yaml", []byte(g.Text())))(t)
	}
}

// A column that one source lacks most of and the others have is the label, numbers too, and even beside a column with a name that labels
// have if that source is known to be the target. Where it lies does not matter, nor what the column of the sources is called.
func TestLookForRareLabels(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	lacking := func(share float64, source int) func(int) string {
		return func(i int) string {
			if i%4 == source && rng.Float64() < share {
				return ""
			}
			return number(i)
		}
	}
	rating := columnOf{"rating", func(int) string { return []string{"1", "2", ""}[rng.IntN(3)] }}
	werk := columnOf{"werk", func(i int) string { return "w" + fmt.Sprint(i%4) }}
	for want, columns := range must.Ordered(map[string][]columnOf{
		"preis": {werk, {"preis", lacking(0.9, 1)}, {"x", number}},
		"kilos": {{"kilos", lacking(0.9, 1)}, {"x", lacking(0.1, 1)}, {"z", lacking(0.6, 2)}, werk},
		"rating": {werk, {"x", lacking(0.3, 1)}, rating, {"z", func(i int) string { // two sources lack z
			if i%2 == 0 && rng.IntN(10) > 0 {
				return ""
			}
			return number(i)
		}}},
	}) {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 1200, columns...)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, g.Labels[0].Column, want, "label")
		must.Equal(t, g.Source, "werk", "source")
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 1200, columnOf{"x", lacking(0.9, 1)}, columnOf{"z", lacking(0.6, 2)}, werk)
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: "w2"}))(t)
	must.Equal(t, g.Labels[0].Column, "z", "label of the target")
	for target, want := range map[string]string{"": "rating", "w1": "preis", "w2": "rating"} {
		writeTable(t, file, 1200, werk, columnOf{"preis", lacking(0.9, 1)}, columnOf{"x", number}, rating)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: target}))(t)
		must.Equal(t, g.Labels[0].Column, want, "label of target %q", target)
	}
}

// The type of a label that few rows have, all of them at the end of the file, follows from these rows. Of two classes there a third may
// come, except beside 1 and 0, or true and false.
func TestTypeOfRareLabels(t *testing.T) {
	const rows, labelled = 12_000, 40
	at := func(label func(i int) string) func(int) string {
		return func(i int) string {
			if i < rows-labelled {
				return ""
			}
			return label(i - rows + labelled)
		}
	}
	site := columnOf{"site", func(i int) string { return []string{"old", "new"}[b2i(i >= rows-labelled)] }}
	x := columnOf{"x", func(i int) string { return fmt.Sprint(math.Sin(float64(i))) }}
	for want, label := range map[string]func(i int) string{
		Number:              func(i int) string { return fmt.Sprint(10.5 + 3.25*float64(i)) },
		Classes:             func(i int) string { return fmt.Sprint(1 + i%3) },
		Classes + " so far": func(i int) string { return []string{"weak", "inactive"}[i%2] },
		Binary:              func(i int) string { return []string{"True", "False"}[i%2] },
		Binary + " numbers": func(i int) string { return []string{"1.0", "0.0"}[i%2] },
	} {
		want, more, _ := strings.Cut(want, " ")
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, site, x, columnOf{"life", at(label)})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"life"}, Target: "new"}))(t)
		must.Equal(t, g.Labels[0].Type, want, "type of the label")
		must.Equal(t, strings.Contains(g.Text(), "binary where no third class will come"), more == "so far", "the manifest\n%s", g.Text())
	}
}

// Numbers that few rows of the target have, at its end or anywhere, are the label in any format, also beside numbered columns of bits and
// integers of which a few are missing.
func TestLookForFewLabels(t *testing.T) {
	const rows = unseenRows
	rng := testrand.New(t)
	for _, at := range []func(int) bool{
		func(i int) bool { return i >= rows-80 && i < rows-60 },
		func(i int) bool { return i%60 == 0 && unseen(i) },
	} {
		type row struct {
			ID      string   `parquet:"id" json:"id"`
			Site    string   `parquet:"site" json:"site"`
			Potency *float64 `parquet:"potency,optional" json:"potency"`
			Rings   *float64 `parquet:"rings,optional" json:"rings"`
			B0      uint8    `parquet:"b0" json:"b0"`
			B1      uint8    `parquet:"b1" json:"b1"`
			B2      uint8    `parquet:"b2" json:"b2"`
		}
		var all []row
		var csv, jsonl strings.Builder
		csv.WriteString("id,site,potency,rings,b0,b1,b2\n")
		for i := range rows {
			r := row{ID: fmt.Sprint("r", i), Site: []string{fmt.Sprint("s", i%5), "new"}[b2i(i >= rows-150)],
				B0: uint8(rng.IntN(2)), B1: uint8(rng.IntN(2)), B2: uint8(rng.IntN(2))}
			potency, rings := 6+rng.NormFloat64(), float64(rng.IntN(9))
			cells := [2]string{}
			if at(i) {
				r.Potency, cells[0] = &potency, fmt.Sprint(potency)
			}
			if rng.IntN(50) > 0 {
				r.Rings, cells[1] = &rings, fmt.Sprint(rings)
			}
			all = append(all, r)
			fmt.Fprintf(&csv, "%s,%s,%s,%s,%d,%d,%d\n", r.ID, r.Site, cells[0], cells[1], r.B0, r.B1, r.B2)
			must.Do(t, json.NewEncoder(&jsonl).Encode(r))
		}
		dir, first := t.TempDir(), ""
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv.String()), 0o644))
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(jsonl.String()), 0o644))
		must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"), all))
		for _, ending := range []string{".csv", ".jsonl", ".parquet"} {
			g := must.Get(Look(t.Context(), "m.yaml", []string{filepath.Join(dir, "rows"+ending)}, Known{Target: "new"}))(t)
			must.Equal(t, g.Labels[0].Column, "potency", "label in %s", ending)
			g.Files = nil
			first = cmp.Or(first, g.Text())
			must.Equal(t, g.Text(), first, "the manifest of %s", ending)
		}
	}
}

// Where nothing tells the label, the columns that it could be are named, but neither integers of which a few are missing nor numbered ones.
func TestCandidatesForLabels(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	integer := func(i int) string { return []string{fmt.Sprint(rng.IntN(9)), ""}[b2i(i%50 == 7)] }
	columns := []columnOf{{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, {"mass", number}, {"rings", integer},
		{"sort", func(i int) string { return []string{"a", "b"}[rng.IntN(2)] }}, {"potency", number}}
	for j := range 6 {
		columns = append(columns, columnOf{fmt.Sprint("b", j), func(int) string { return fmt.Sprint(rng.IntN(2)) }})
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 1200, columns...)
	for _, target := range []string{"", "s1"} {
		_, err := Look(t.Context(), "m.yaml", []string{file}, Known{Target: target})
		must.Hold(t, err != nil && strings.HasSuffix(err.Error(), "with --label, such as potency or sort"), "%v", err)
	}
	crop := columnOf{"crop", func(int) string { return fmt.Sprint("crop ", rng.IntN(30)) }}
	writeTable(t, file, 1200, columns[0], columnOf{"field", func(i int) string { return fmt.Sprint("F", i/4) }}, crop, columns[1], columns[4])
	_, err := Look(t.Context(), "m.yaml", []string{file}, Known{})
	must.Hold(t, err != nil && strings.HasSuffix(err.Error(), "with --label, such as potency or crop"), "%v", err)
}

// A column with one value in each source, such as the cost of a label, is not the label even if it has the name of one. Among the columns
// that lack values the label is the one that lacks most in one source. Up to four others that lack at least half as much are named.
func TestLookForLabelsBySource(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(int) string { return words[rng.IntN(len(words))] } }
	each := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	few := func(gaps float64) func(int) string { // gaps is the share of the cells of site b that are missing
		return func(i int) string {
			if i%4 == 1 && rng.Float64() < gaps {
				return ""
			}
			return []string{"p", "q", "r"}[rng.IntN(3)]
		}
	}
	site, fee := columnOf{"site", each("a", "b", "c", "d")}, columnOf{"fee_class", each("1", "2", "2", "3")}
	x := columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}
	gaps := columnOf{"gaps", of("low", "high", "low", "high", "low", "high", "")}
	topic := columnOf{"topic", few(0.95)}
	others := []columnOf{x, topic}
	for i := range 5 {
		others = append(others, columnOf{fmt.Sprint("q", i), few(0.7)})
	}
	for want, columns := range map[string][]columnOf{
		"topic []":                {site, fee, x, gaps, topic},
		"topic [kind]":            {site, fee, x, gaps, topic, {"kind", of("a", "b")}},
		"topic [q2 q1]":           {x, topic, {"q1", few(0.7)}, {"q2", few(0.7)}, gaps, site},
		"topic [q4 q3 q2 q1]":     append(others, site),
		"risk_class [cost_class]": {site, x, {"risk_class", of("p", "q")}, {"cost_class", of("p", "q")}, fee, {"last", of("a", "b")}},
		"class []":                {site, x, {"class", each("p", "q")}, topic}, // a sure name, even with one value per site
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 1200, columns...)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, fmt.Sprint(g.Labels[0].Column, " ", g.Maybe), want, "label, and what else it could be")
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 300, site, x, columnOf{"kind", of("a", "b")}, columnOf{"sort", of("a", "b")},
		columnOf{"fee", each("1", "2", "2", "3")})
	_, err := Look(t.Context(), "m.yaml", []string{file}, Known{})
	must.Fail(t, "no label", err, file, "found none: say which one it is with --label, such as sort or kind")
	writeTable(t, file, 300, site, x, fee)
	_, err = Look(t.Context(), "m.yaml", []string{file}, Known{})
	must.Fail(t, "one value in each source", err, file, "with --label, such as x (fee_class has one value alone in each site)")
}
