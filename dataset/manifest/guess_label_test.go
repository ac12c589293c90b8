package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Of labels that are numbers in few values the manifest says what else they can be, and of no others.
func TestLookAtRatings(t *testing.T) {
	rng := testrand.New(t)
	for cells, ordered := range map[string]bool{"1,2,3,4,5": true, "1.0,2.0,5.0": true, "0,1": false, "a,b,c": false, "1,2,many": false} {
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

// A name that features have too makes a column the label where it lacks values or comes last, else one that lacks values does, and the last
// column is said to be another guess.
func TestLookForLabels(t *testing.T) {
	rng := testrand.New(t)
	words := func(of ...string) func(int) string { return func(int) string { return of[rng.IntN(len(of))] } }
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	site := columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}
	for want, columns := range map[string][]columnOf{
		"churned []":      {site, {"is_business", words("true", "false")}, {"x", number}, {"churned", words("yes", "no", "")}},
		"rating []":       {site, {"category", words("a", "b")}, {"x", number}, {"rating", words("1", "2", "")}},
		"rooms [price]":   {site, {"rooms", words("1", "2", "3", "")}, {"x", number}, {"price", number}},
		"is_late [delay]": {site, {"is_late", words("true", "false")}, {"x", number}, {"delay", number}},
		"label []":        {site, {"label", words("a", "b")}, {"x", number}, {"price", number}},
		"kind []":         {{"x", number}, {"kind", words("a", "b", "")}, site},
		"sort []":         {site, {"sort", words("a", "b", "")}, {"x1", number}, {"x2", number}},
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 200, columns...)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, fmt.Sprint(g.Labels[0].Column, " ", g.Maybe), want, "label, and what else it could be")
		must.Get(Parse("m.yaml", []byte(g.Text())))(t)
	}
}
