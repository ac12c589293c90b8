package report

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Plan renders a table of what a schedule asks of each epoch, with columns for epsilon and beta where the schedule has them.
func Plan(title string, schedule pipeline.Schedule, epochs []pipeline.EpochPlan, costs []float64, f Format) string {
	t := Table{Title: title, Header: []string{"epoch", "epsilon", "beta", "cost before the floor", "floor of each source"}}
	for _, p := range epochs {
		cost, known := schedule.Spent(p, costs)
		by := Count(cost)
		switch {
		case known:
			t.Header[3], by = "cost by its end", text.Amount(cost)
		case schedule.Kind == pipeline.ScheduleBudget:
			t.Header[3], by = "cost by its end, about", text.Digits(cost)
		}
		t.Rows = append(t.Rows, []string{text.Count(p.Epoch), fmt.Sprintf("%.6g", p.Epsilon), fmt.Sprintf("%.6g", p.Beta), by, Count(p.Floor)})
	}
	for _, column := range []int{2, 1} {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row[column] != "0" }) {
			continue
		}
		t.Header = slices.Delete(t.Header, column, column+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], column, column+1)
		}
	}
	for column := range t.Header {
		t.Right = append(t.Right, column)
	}
	return t.Render(f)
}
