package manifest

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A skewed column stands beside its logarithm, with a number added by which 0 has one too: for counts that begin at 0 it is 1. Columns that
// are not skewed, that have negative values, be it in a late row, or a code for none, stand alone.
func TestLookAtSkewedColumns(t *testing.T) {
	r, plus := testrand.New(t), regexp.MustCompile(`\(x \+ (0\.[0-9]+|1e-[0-9]+)\)`)
	number := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	skewed := func(int) string { return number(math.Exp(2 * r.NormFloat64())) }
	of := func(rows int, cell func(int) string, known Known) *Guess {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, columnOf{"x", cell},
			columnOf{"z", func(int) string { return number(r.NormFloat64()) }},
			columnOf{"label", func(int) string { return []string{"p", "q"}[r.IntN(2)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, known))(t)
		must.Get(Parse("m.yaml", []byte(g.Text())))(t)
		return g
	}
	for want, cell := range map[string]func(int) string{
		"x, log (x + 0), z": skewed,
		"x, log (x + 1), z": func(int) string {
			return fmt.Sprint(math.Floor(20 * math.Exp(1.6*r.NormFloat64()) * float64(min(1, r.IntN(20)))))
		},
		"x, z":               func(int) string { return number(math.Exp(0.7 * r.NormFloat64())) },
		"x,  z":              func(int) string { return fmt.Sprintf("%.2f", 1e6+r.NormFloat64()) },
		"x,   z":             func(int) string { return number(math.Exp(2*r.NormFloat64()) - 0.01) },
		"x, log (x + 0),  z": func(i int) string { return []string{skewed(i), "0"}[b2i(i == 2900)] },
		"x,    z":            func(i int) string { return []string{skewed(i), "-1"}[b2i(i == 2900)] },
		"x,     z": func(i int) string { // 1e9 stands for none
			return []string{number(math.Exp(2 * r.NormFloat64())), "1e9"}[b2i(r.IntN(20) == 0)]
		},
	} {
		g := of(3000, cell, Known{})
		features := strings.Join(g.Features, ", ")
		must.Equal(t, plus.ReplaceAllString(features, "(x + 0)"), strings.Join(strings.Fields(want), " "), "features %s", features)
		must.Equal(t, strings.Contains(g.Text(), "# log x is the logarithm of the column x"), strings.Contains(want, "log"), "%s", g.Text())
	}
	g := of(300, skewed, Known{Features: []string{"z", "log x"}})
	must.Equal(t, strings.Join(g.Features, ", "), "z, log x", "features that were named")
	must.Hold(t, !strings.Contains(strings.Join(g.Others, ""), "x ("), "the column of a logarithm is not used: %q", g.Others)
	must.Equal(t, strings.Join(of(300, skewed, Known{Features: []string{"x", "z"}}).Features, ", "), "x, z", "features that were named")
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 3000, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, columnOf{"x", func(int) string {
		return fmt.Sprint(math.Floor(20 * math.Exp(1.6*r.NormFloat64()) * float64(min(1, r.IntN(20)))))
	}}, columnOf{"log (x + 1)", func(int) string { return number(r.NormFloat64()) }},
		columnOf{"log label", func(int) string { return number(r.NormFloat64()) }},
		columnOf{"label", func(int) string { return []string{"p", "q"}[r.IntN(2)] }})
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Equal(t, strings.Join(g.Features, ", "), "x, log (x + 1), log label", "features with names of logarithms")
	must.Hold(t, !strings.Contains(g.Text(), "# log x"), "%s", g.Text())
	must.Get(Parse("m.yaml", []byte(g.Text())))(t)
}
