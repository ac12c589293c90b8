package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Summary renders what a sweep found: the mean of each method and the paired comparisons.
func Summary(s *runs.Summary, f Format) string {
	budgets := slices.ContainsFunc(s.Methods, func(m runs.MethodSummary) bool { return m.Budget > 0 })
	methods := Table{
		Title:  fmt.Sprintf("%s, means over targets and seeds", s.Data),
		Header: []string{"method", pipeline.MetricTitle(s.Metric), "source samples", "runs"},
		Right:  []int{1, 2, 3},
	}
	over := "targets"
	if s.OverSeeds() {
		over = "seeds"
	}
	comparisons := Table{
		Title:  "paired over " + over + ", positive where the first method is better",
		Header: []string{"comparison", "difference", "95 % interval", "same or better", "sign test p"},
		Right:  []int{1, 2, 3, 4},
	}
	for _, m := range s.Methods {
		methods.Rows = append(methods.Rows, []string{m.Method, Score(s.Metric, m.Value), Count(m.Samples), strconv.Itoa(m.Runs)})
	}
	for _, c := range s.Comparisons {
		comparisons.Rows = append(comparisons.Rows, []string{c.A + " over " + c.B, difference(s.Metric, c.Difference),
			interval(s.Metric, c.Comparison), fmt.Sprintf("%d of %d", c.SameOrBetter(), c.SameOrBetter()+c.Worse), fmt.Sprintf("%.3g", c.SignP)})
	}
	if budgets {
		for i, m := range s.Methods {
			methods.lead(i, "budget", Count(m.Budget))
		}
		for i, c := range s.Comparisons {
			comparisons.lead(i, "budget", Count(c.Budget))
		}
	}
	parts := []string{methods.Render(f)}
	if len(comparisons.Rows) > 0 {
		parts = append(parts, comparisons.Render(f))
	}
	return strings.Join(parts, "\n")
}

// lead puts a cell before the others of row i. Called for row 0, it adds the column.
func (t *Table) lead(i int, name, cell string) {
	if i == 0 {
		t.Header = slices.Insert(t.Header, 0, name)
		for j := range t.Right {
			t.Right[j]++
		}
		t.Right = append(t.Right, 0)
	}
	t.Rows[i] = slices.Insert(t.Rows[i], 0, cell)
}

// Needed renders a table of the source samples that each method needs for a mean score.
func Needed(metric string, value float64, needed []runs.Needed, f Format) string {
	t := Table{
		Title:  fmt.Sprintf("source samples needed for a mean %s of %s", pipeline.MetricTitle(metric), Score(metric, value)),
		Header: []string{"method", "samples"},
		Right:  []int{1},
	}
	for _, n := range needed {
		t.Rows = append(t.Rows, []string{n.Method, strings.TrimLeft(n.Bound+" "+Count(n.Samples), " ")})
	}
	return t.Render(f)
}
