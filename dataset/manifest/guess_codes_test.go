package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A number of nines that is far from all others and that several rows have stands for a missing value, in features and in numeric labels,
// where it is kept as it is written. Other numbers do not.
func TestLookFindsCodes(t *testing.T) {
	rng := testrand.New(t)
	number := func(code string, each int) func(int) string {
		return func(i int) string {
			if i%each == 1 {
				return code
			}
			return fmt.Sprintf("%.3f", rng.NormFloat64())
		}
	}
	look := func(rows int, columns ...columnOf) *Guess {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, append([]columnOf{{"site", func(i int) string { return fmt.Sprint("s", i%4) }}}, columns...)...)
		return must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"y"}}))(t)
	}
	g := look(300, columnOf{"y", number("-999.0", 30)}, columnOf{"a", number("-999", 10)}, columnOf{"b: c", number("9999.00", 50)},
		columnOf{"few", number("-999", 299)}, columnOf{"zero", number("-1", 10)}, columnOf{"near", number("99", 2)},
		columnOf{"plain", number("0", 9)})
	want := "[{a [-999]} {b: c [9999]} {few [-999]}]" // few has the code of a
	must.Equal(t, fmt.Sprint(g.Codes), want, "codes of features")
	must.EqualSlices(t, g.Labels[0].Missing, []string{"", "-999.0"}, "missing labels")
	must.EqualSlices(t, g.Coded, []string{"-999 in y (10 of 300 rows)", "-999 in a (30 of 300 rows)", "9999 in b: c (6 of 300 rows)",
		"-999 in few (1 of 300 rows)"}, "found")
	m := must.Get(Parse("m.yaml", []byte(g.Text())))(t)
	must.Equal(t, fmt.Sprint(m.Codes), want, "codes of the manifest %s", g.Text())
	must.Hold(t, m.Fill == FillIndicator && len(m.Labels[0].Missing) == 2, "fill %s, missing %q", m.Fill, m.Labels[0].Missing)
	g = look(12_000, columnOf{"y", number("7", 2)}, columnOf{"a", number("-99", 10)})
	must.Hold(t, len(g.Coded) == 1 && len(g.Codes) == 1 && len(g.Labels[0].Missing) == 1, "%+v", g.Coded)
	must.Hold(t, strings.HasPrefix(g.Coded[0], "-99 in a (") && strings.HasSuffix(g.Coded[0], " rows looked at)"), "%s", g.Coded[0])
	var vector []columnOf
	for j := range 40 {
		vector = append(vector, columnOf{fmt.Sprint("v", j), number("-999", 10)})
	}
	g = look(300, append(vector, columnOf{"y", number("7", 2)})...)
	must.Hold(t, len(g.Coded) == 40 && g.Fill == FillMean, "elements of a vector: %v, fill %s", g.Coded, g.Fill)
	must.Equal(t, fmt.Sprint(g.Codes), "[{* [-999]}]", "codes of all columns")
	m = must.Get(Parse("m.yaml", []byte(g.Text())))(t)
	must.Equal(t, fmt.Sprint(m.Codes), "[{* [-999]}]", "codes of the manifest %s", g.Text())
}

// -9999 stands for a missing value in all bands of a picture: where clouds are nearly as bright as the code is far, in most rows of a date,
// and in a date that has no clouds so far. It does not where other numbers are as low.
func TestLookFindsCodesOfBands(t *testing.T) {
	rng := testrand.New(t)
	band := func(top float64, none int) func(int) string {
		return func(int) string {
			switch {
			case rng.IntN(100) < none:
				return "-9999"
			case rng.IntN(30) == 0:
				return fmt.Sprint(rng.IntN(16_000))
			}
			return fmt.Sprint(int(top * (0.05 + 0.9*rng.Float64())))
		}
	}
	few := func(i int) string {
		if i == 5 {
			return "-9999"
		}
		return fmt.Sprint(rng.IntN(3000) - 30)
	}
	columns := []columnOf{{"region", func(i int) string { return fmt.Sprint("s", i%4) }},
		{"crop", func(int) string { return "ab"[rng.IntN(2):][:1] }}, {"dark", band(2000, 20)}, {"bright", band(8000, 20)},
		{"cloudy", band(4000, 70)}, {"clear", band(6000, 0)}, {"depth", func(int) string { return fmt.Sprint(-rng.IntN(20_000)) }},
		{"few", few}}
	look := func(columns []columnOf) *Guess {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 300, columns...)
		return must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"crop"}}))(t)
	}
	g := look(columns)
	must.Equal(t, fmt.Sprint(g.Codes), "[{dark [-9999]} {bright [-9999]} {cloudy [-9999]} {few [-9999]}]", "codes, of few that are without")
	g = look(columns[:6])
	must.Equal(t, fmt.Sprint(g.Codes), "[{dark [-9999]} {bright [-9999]} {cloudy [-9999]} {clear [-9999]}]", "codes of most columns")
}

func TestNines(t *testing.T) {
	for x, want := range map[float64]bool{99: true, -99: true, 999: true, -9999: true, 9: false, 0: false, 98: false, 999.5: false} {
		must.Equal(t, table.Nines(x), want, "%v", x)
	}
}

// Codes with an underscore between digits are words, neither features nor numeric labels.
func TestLookAtCodesWithUnderscores(t *testing.T) {
	rng := testrand.New(t)
	code := func(int) string { return fmt.Sprint(rng.IntN(9), "_", 10+rng.IntN(3)) }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 300, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
		columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{"shelf", code}, columnOf{"label", code})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Features, []string{"x"}, "features")
	must.Equal(t, g.Labels[0].Type, Classes, "the type of the label")
	must.Hold(t, !g.Ordered(0), "classes are numbers")
	_, err := Parse("m.yaml", []byte(strings.Replace(g.Text(), "columns:", "columns:\n  missing: {x: [-9_99]}", 1)))
	must.Fail(t, "a code -9_99", err, "expected a number that stands for none")
}
