package main

import (
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
)

// What is odd in the same way about more than three sources is one row of the table, where the first of them is.
func TestOddTable(t *testing.T) {
	rows := oddTable([]dataset.Oddity{{Pool: "a", Found: "f", Advice: "x"}, {Pool: "b", Found: "g", Advice: "x"},
		{Pool: "b", Found: "f", Advice: "x"}, {Pool: "c", Found: "f", Advice: "x"}, {Pool: "c", Found: "g", Advice: "x"},
		{Pool: "d", Found: "f", Advice: "x"}, {Found: "f", Advice: "x"}}).Rows
	want := [][]string{{"a, b, c, ... (4)", "f", "x"}, {"b", "g", "x"}, {"c", "g", "x"}, {"(all)", "f", "x"}}
	must.Equal(t, len(rows), len(want), "rows")
	for i := range want {
		must.EqualSlices(t, rows[i], want[i], "row %d", i)
	}
}
