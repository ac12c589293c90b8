package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Score formats a score: an error in percent, anything else with four digits.
func Score(metric string, value float64) string {
	if metric == pipeline.MetricError {
		return fmt.Sprintf("%.2f %%", 100*value)
	}
	return text.Digits(value)
}

// difference formats a difference of two scores with its sign, errors in points.
func difference(metric string, value float64) string {
	if metric == pipeline.MetricError {
		return fmt.Sprintf("%+.2f points", 100*value)
	}
	return text.Signed(value)
}

// noInterval says why a difference has no interval.
func noInterval(c pipeline.Comparison) string {
	switch {
	case c.Seeds > 1 && c.Rows > 0:
		return ", not each run has one over its rows"
	case c.Targets > 1 || c.Seeds > 1:
		return ", all differences are equal"
	}
	return " from one run"
}

// interval formats the ends of the interval of a difference, and what the interval is over where that is not targets.
func interval(metric string, c pipeline.Comparison) string {
	if c.Interval == nil {
		return "none" + noInterval(c)
	}
	out := text.Signed(c.Interval[0]) + " to " + text.Signed(c.Interval[1])
	if metric == pipeline.MetricError {
		out = fmt.Sprintf("%+.2f to %+.2f", 100*c.Interval[0], 100*c.Interval[1])
	}
	var over []string
	if c.Seeds > 0 {
		over = append(over, fmt.Sprintf("%d seeds", c.Seeds))
	}
	if c.Rows > 0 {
		over = append(over, fmt.Sprintf("%s %s", Count(float64(c.Rows)), text.Form(c.Rows, "row", "rows"))+inGroups(c.Groups))
	}
	if over != nil {
		out += " over " + strings.Join(over, ", ")
	}
	return out
}

// inGroups returns in how many groups rows that belong together are, as " in 12 groups", or "" where each is on its
// own.
func inGroups(groups int) string {
	if groups == 0 {
		return ""
	}
	return " in " + text.Several(groups, "group")
}

// leftOut describes the target's samples that a score is measured on, and how they are left out.
func leftOut(rows, groups int) string {
	if groups == 0 {
		return "the target's samples, each left out in turn"
	}
	return "the target's " + text.Several(rows, "sample") + inGroups(groups) + ", each group left out in turn"
}

// Count formats a number of samples, rounded, in groups of three digits; from 10^15 on in scientific notation.
func Count(v float64) string {
	if !(math.Abs(v) < 1e15) {
		return fmt.Sprintf("%.3g", v)
	}
	return text.Grouped(v)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
