package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where most values of a label that is taken for classes are numbers, the manifest says how many are not, with the first of them, however
// many different ones there are and wherever it stands. It does not for classes with numbers for names.
func TestLookAtNumbersAmongClasses(t *testing.T) {
	rng := testrand.New(t)
	const rows = 3000
	float := func(int) string { return fmt.Sprintf("%.4f", 4+5*rng.Float64()) }
	code := func(int) string { return fmt.Sprint(101 + 7*rng.IntN(12)) }
	every := func(n int, word string, cell func(int) string) func(int) string {
		return func(i int) string { return []string{cell(i), word}[b2i(i%n == n-1)] }
	}
	for _, c := range []struct {
		label func(int) string
		says  string
	}{
		{every(5, "<4.50", float), `2,400 of 3,000 labels are numbers; 600 are not, the first "<4.50"`},
		{every(3, "", every(20, "<4.5", float)), `1,900 of 2,000 labels are numbers; 100 are not, the first "<4.5"`},
		{every(rows, ">9", float), `2,999 of 3,000 labels are numbers; 1 is not, the first ">9"`},
		{every(3, "other", code), ""},
		{code, ""},
		{every(2, "low", every(3, "high", float)), ""},
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{"activity", c.label})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"activity"}}))(t)
		says := g.AmongClasses(0)
		must.Hold(t, strings.HasPrefix(says, c.says) && (says != "") == (c.says != ""), "%s: %q, type %s", c.says, says, g.Labels[0].Type)
		must.Equal(t, strings.Contains(g.Text(), "\n    # number? "+says+"\n"), says != "", "the manifest of %s", c.says)
		must.Get(Parse("m.yaml", []byte(g.Text())))(t)
	}
}
