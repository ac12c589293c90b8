package report

import (
	"fmt"
	"strconv"

	"github.com/amtrl/amtrl/pipeline"
)

// Plan renders a table of what a schedule asks of each epoch.
func Plan(title string, plans []pipeline.EpochPlan, f Format) string {
	t := Table{
		Title:  title,
		Header: []string{"epoch", "epsilon", "beta", "cost by its end", "floor of each source"},
		Right:  []int{0, 1, 2, 3, 4},
	}
	for _, p := range plans {
		t.Rows = append(t.Rows, []string{strconv.Itoa(p.Epoch), orDash(p.Epsilon), orDash(p.Beta), Count(p.Cost), Count(p.Floor)})
	}
	return t.Render(f)
}

func orDash(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.6g", v)
}
