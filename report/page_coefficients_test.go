package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
)

// Of trees the page has the part of each column in what splits gain, whatever the number of outputs.
func TestPageOfGains(t *testing.T) {
	for _, outputs := range []int{1, 2, mostOutputs + 1} {
		of := &runs.Coefficients{Gains: true, Features: []string{"rain", "sun"}, Column: []int{0, 1}}
		for k := range outputs {
			of.Outputs = append(of.Outputs, runs.OutputCoefficients{Column: fmt.Sprint("y", k), Of: []float64{0.25, 0.75}, Part: 1})
		}
		part := coefficientPart(of)
		sheets := part.Sheets
		for _, f := range part.Figures {
			sheets = append(sheets, f.Sheet)
		}
		must.Equal(t, len(sheets), 1, "tables")
		must.Hold(t, sheets[0].Rows[0].Cells[0].Text == "sun" && sheets[0].Rows[0].Cells[1].Text == "75.0 %", "%d outputs: %+v", outputs,
			sheets[0].Rows[0])
		said := fmt.Sprint(part.Text)
		must.Hold(t, strings.Contains(said, "Trees split rows"), "%s", said)
		must.Hold(t, !strings.Contains(said, "means of") && !strings.Contains(said, "coefficient"), "%s", said)
	}
}

// Where predictions are means of those of a linear model and of trees, the page says how much each counts.
func TestPageOfMeans(t *testing.T) {
	of := &runs.Coefficients{Features: []string{"rain"}, Column: []int{0},
		Outputs: []runs.OutputCoefficients{{Of: []float64{1}, Part: 0.25}}}
	for _, c := range []struct {
		gains  bool
		second float64
		want   string
	}{
		{false, 0.25, "The linear model counts 25.0 %."}, {false, 1, "The linear model counts 25.0 % to 100.0 %, by output."},
		{true, 0.25, "trees count 25.0 %."}, {true, 0, "trees count 0.0 % to 25.0 %, by output."},
	} {
		both := *of
		both.Gains = c.gains
		both.Outputs = append(of.Outputs[:1:1], runs.OutputCoefficients{Column: "y", Of: []float64{1}, Part: c.second})
		said := fmt.Sprint(coefficientPart(&both).Text)
		must.Hold(t, strings.Contains(said, c.want), "%s, expected %s", said, c.want)
	}
}

// A page lists all columns, however small their coefficients are, and the 200 largest products. Too many columns are not listed.
func TestPageOfProducts(t *testing.T) {
	rng := testrand.New(t)
	for _, c := range []struct{ columns, products int }{{3, 3}, {20, 190}, {21, 210}, {200, 1000}, {201, 0}} {
		of := &runs.Coefficients{Products: c.products, Outputs: []runs.OutputCoefficients{{Column: "y", Part: 1}}}
		for j := range c.columns + c.products {
			name, size := fmt.Sprint("x", j), 0.1
			if j >= c.columns {
				name, size = fmt.Sprint("p × ", j), 1
			}
			of.Features, of.Column = append(of.Features, name), append(of.Column, j)
			of.Outputs[0].Of = append(of.Outputs[0].Of, size*(0.1+rng.Float64()))
		}
		part := coefficientPart(of)
		if c.columns > 200 {
			must.Hold(t, part == nil, "%d columns are listed", c.columns)
			continue
		}
		sheet := part.Figures[0].Sheet
		columns, products, last := 0, 0, 100.
		for _, row := range sheet.Rows {
			if strings.HasPrefix(row.Cells[0].Text, "x") {
				columns++
				continue
			}
			products++
			must.Hold(t, row.Cells[1].Value <= last, "%g after %g", row.Cells[1].Value, last)
			last = row.Cells[1].Value
		}
		must.Equal(t, columns, c.columns, "columns")
		must.Equal(t, products, min(200, c.products), "products")
		left := map[bool]string{true: fmt.Sprintf("Left out: %d product", c.products-200)}[c.products > 200]
		must.Hold(t, strings.HasPrefix(sheet.Note, left) && (left == "") == (sheet.Note == ""), "%d products: %s", c.products, sheet.Note)
		said := fmt.Sprint(part.Text)
		must.Hold(t, strings.Contains(said, "That of a product (×)"), "%s", said)
	}
}
