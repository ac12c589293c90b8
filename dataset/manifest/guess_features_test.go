package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Columns have knots unless they are a vector in columns, are very many, or have only two values. A few columns have products, unless rows
// belong together.
func TestLookAtKnots(t *testing.T) {
	for name, c := range map[string]struct {
		column func(j int) string
		values string
		knots  [6]int // knots where there are 1, 2, 20, 31, 40 and 201 columns
	}{
		"numbered": {func(j int) string { return fmt.Sprint("e", j) }, "%d", [6]int{5, 5, 5, 5, 0, 0}},
		"named":    {func(j int) string { return fmt.Sprintf("%c%c", 'a'+j/26, 'a'+j%26) }, "0.%d", [6]int{5, 5, 5, 5, 5, 0}},
		"binary":   {func(j int) string { return fmt.Sprintf("%c%c", 'a'+j/26, 'a'+j%26) }, "", [6]int{}},
	} {
		for i, n := range []int{1, 2, 20, 31, 40, 201} {
			columns := []columnOf{{"shop", func(i int) string { return fmt.Sprint("s", i%3) }},
				{"label", func(i int) string { return []string{"p", "q"}[i%2] }}, {"visitor", func(i int) string { return fmt.Sprint("v", i/2) }}}
			for j := range n {
				columns = append(columns, columnOf{c.column(j), func(i int) string {
					if c.values == "" {
						return fmt.Sprint(i / 5 % 2)
					}
					return fmt.Sprintf(c.values, 10+(7*i+j)%23)
				}})
			}
			file := filepath.Join(t.TempDir(), "rows.csv")
			writeTable(t, file, 60, columns...)
			for _, known := range []Known{{}, {Features: []string{"[ae]*"}}, {Group: "visitor"}} {
				if name != "numbered" && known.Features != nil || name == "binary" && known.Group != "" {
					continue
				}
				g := must.Get(Look(t.Context(), "m.yaml", []string{file}, known))(t)
				must.Equal(t, g.Knots, c.knots[i], "knots of %d %s columns, %v", n, name, known)
				must.Equal(t, g.Products, n > 1 && n <= 20 && known.Group == "", "products of %d %s columns, %v", n, name, known)
				must.Equal(t, strings.Contains(g.Text(), "\n  products: true  #"), g.Products, "the manifest:\n%s", g.Text())
				must.Equal(t, strings.Contains(g.Text(), "\n  # knots: 5  #"), name == "numbered" && n == 40, "the manifest:\n%s", g.Text())
			}
		}
	}
}

// Columns of two values do not count: beside them, however many and numbered, a few numbers have knots and missing indicators, and numbered
// numbers remain a vector.
func TestLookAtKnotsBesideBits(t *testing.T) {
	for name, c := range map[string]struct {
		bits, numbers int
		number        string
		knots         int
		fill          string
	}{
		"fingerprint":       {240, 3, "%cmass", 5, FillIndicator},
		"fingerprint alone": {240, 0, "", 0, ""},
		"embedding":         {240, 40, "%[2]d", 0, FillMean},
	} {
		columns := []columnOf{{"shop", func(i int) string { return fmt.Sprint("s", i%3) }},
			{"label", func(i int) string { return []string{"p", "q"}[i%2] }}}
		for j := range c.bits {
			columns = append(columns, columnOf{fmt.Sprint("fp", j), func(i int) string { return fmt.Sprint((i + j) / 5 % 2) }})
		}
		for j := range c.numbers {
			columns = append(columns, columnOf{fmt.Sprintf("x"+c.number, 'a'+j, j), func(i int) string {
				return []string{fmt.Sprint(0.1 * float64(10+(7*i+j)%23)), ""}[b2i(i%9 == 0)]
			}})
		}
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 60, columns...)
		known := Known{Features: []string{"fp*", "x*"}[:1+b2i(c.numbers > 0)]}
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, known))(t)
		must.Hold(t, g.Knots == c.knots && g.Fill == c.fill && !g.Products, "%s: knots %d, fill %q, products %v", name, g.Knots, g.Fill,
			g.Products)
		must.Equal(t, g.Numbered, name == "embedding", "%s is taken for a vector", name)
	}
}
