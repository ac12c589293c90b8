package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Evaluation renders how predictions compare with labels: the error, which classes were taken for which, what the
// probabilities are worth, and how often predictions of a score are right, or how often a class of some probability
// occurs. It also counts the labels for which the model has no class or number.
func Evaluation(e *runs.Evaluation, f Format) string {
	var parts []string
	if e.Rows > 0 {
		parts = append(parts, comparison(e, f))
	}
	if u := e.Unknown; u != nil {
		what := "count as wrong"
		switch {
		case len(e.Classes) == 0:
			what = "are not compared"
		case len(e.Confusion) == len(e.Confusion[0]): // they are among the classes that the first stands for
			what = "count as " + e.Classes[0]
		}
		parts = append(parts, fmt.Sprintf("labels that %s: %d, the first at %s\n", what, u.Rows, u.First))
	}
	return strings.Join(parts, "\n")
}

// ByColumn returns a line with the error of the method's predictions for each column of labels, or the mean squared error of numbers with
// R^2, and one with the log-loss of each column, where there are probabilities. It returns "" for fewer than two columns.
func ByColumn(method string, columns []*runs.Evaluation) string {
	if len(columns) < 2 {
		return ""
	}
	var each, losses []string
	for _, e := range columns {
		name := text.OneLine(e.Column, 80)
		if n := e.Numbers; n != nil {
			each = append(each, fmt.Sprintf("%s mean squared error %s (R^2 %.3f)", name, Score(pipeline.MetricMSE, n.MSE), n.R2))
		} else {
			each = append(each, name+" "+Score(pipeline.MetricError, *e.Error))
		}
		if p := e.Probabilities; p != nil {
			losses = append(losses, fmt.Sprintf("%s %.3f (%.3f)", name, p.LogLoss, p.ConstantLogLoss))
		}
	}
	out := fmt.Sprintf("%s by column: %s\n", method, strings.Join(each, ", "))
	if len(losses) == len(columns) {
		out += fmt.Sprintf("log-loss (in brackets if all rows had the shares of the classes): %s\n", strings.Join(losses, ", "))
	}
	return out
}

// comparison renders the rows of e with labels, at least one.
func comparison(e *runs.Evaluation, f Format) string {
	name := cmp.Or(e.Column, "label")
	if n := e.Numbers; n != nil {
		sign := "+"
		if n.Intercept < 0 {
			sign = "-"
		}
		line := fmt.Sprintf("%.4g x %s %s", n.Slope, sign, text.Digits(math.Abs(n.Intercept)))
		t := Table{
			Title:  fmt.Sprintf("%s: %s with a number", name, text.Several(e.Rows, "row")),
			Header: []string{"mean squared error", "R^2", "label by prediction"},
			Right:  []int{0, 1},
			Rows:   [][]string{{text.Digits(n.MSE), fmt.Sprintf("%.4f", n.R2), line}},
		}
		if e.Rows < 3 { // which a line goes through
			t.Header, t.Rows[0] = t.Header[:1], t.Rows[0][:1]
		}
		return t.Render(f)
	}
	confusion := wholeConfusion(e)
	if len(e.Classes) > mostClasses {
		confusion = shortConfusion(e)
	}
	confusion.Title = fmt.Sprintf("%s: %s with a label, error %.2f %%", name, text.Several(e.Rows, "row"), 100**e.Error)
	parts := []string{confusion.Render(f), calibration(e).Render(f)}
	if p := e.Probabilities; p != nil {
		parts = slices.Insert(parts, 1, probabilities(p, len(e.Confusion[0])))
	}
	return strings.Join(parts, "\n")
}

// calibration returns a table of how often the second of two classes occurs, by its probability, or, where there are more classes or scores
// are not probabilities, how often the predicted class is right, by its score.
func calibration(e *runs.Evaluation) Table {
	if e.Probabilities == nil || len(e.Bins) == 0 {
		t := Table{Title: "calibration, by the score of the predicted class", Header: []string{"score", "rows", "mean score", "right"},
			Right: []int{1, 2, 3}}
		for _, b := range e.Calibration {
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%.1f to %.1f", b.From, b.From+0.1), strconv.Itoa(b.Rows),
				fmt.Sprintf("%.3f", b.Score), fmt.Sprintf("%.1f %%", 100*b.Right)})
		}
		return t
	}
	class := text.OneLine(e.Classes[1], 40)
	t := Table{Title: "calibration, by the probability of " + class, Header: []string{"probability", "rows", "mean", "share of " + class},
		Right: []int{1, 2, 3}}
	for _, b := range e.Bins {
		t.Rows = append(t.Rows, []string{inPercent(b.From) + " to " + inPercent(b.To) + " %", strconv.Itoa(b.Rows),
			inPercent(b.Probability) + " %", inPercent(b.Share) + " %"})
	}
	return t
}

// inPercent formats a probability, which may be small, in percent without the sign, with three digits.
func inPercent(p float64) string { return strings.TrimSuffix(fmt.Sprintf("%#.3g", 100*p), ".") }

// probabilities returns a line with what predicted probabilities are worth, beside what the shares of the classes would be for all rows.
func probabilities(p *runs.Probabilities, classes int) string {
	line := fmt.Sprintf("log-loss %.4f, Brier score %.4f (%.4f and %.4f if all rows had the shares of the classes)", p.LogLoss, p.Brier,
		p.ConstantLogLoss, p.ConstantBrier)
	if p.AUC != nil {
		of := ", area"
		if classes > 2 {
			of = ", mean area" // of all pairs of them
		}
		line += fmt.Sprintf("%s under the ROC curve %.4f", of, *p.AUC)
	}
	return line + "\n"
}

// wholeConfusion returns a table with a row for each class as the label and a column for each as the prediction.
func wholeConfusion(e *runs.Evaluation) Table {
	confusion := Table{Header: []string{"label"}}
	for i, c := range e.Classes[:len(e.Confusion[0])] {
		confusion.Header = append(confusion.Header, "predicted "+c)
		confusion.Right = append(confusion.Right, i+1)
	}
	for i, c := range e.Classes {
		row := []string{c}
		for _, n := range e.Confusion[i] {
			row = append(row, strconv.Itoa(n))
		}
		confusion.Rows = append(confusion.Rows, row)
	}
	return confusion
}

// shortConfusion returns a table with a row for each class that labels have, and the classes that it is most often
// taken for.
func shortConfusion(e *runs.Evaluation) Table {
	const most = 3
	t := Table{Header: []string{"label", "rows", "right", "most often taken for"}, Right: []int{1, 2}}
	for i, c := range e.Classes {
		rows, right := 0, 0
		var others []int
		for k, n := range e.Confusion[i] {
			rows += n
			switch {
			case k == i:
				right = n
			case n > 0:
				others = append(others, k)
			}
		}
		if rows == 0 {
			continue
		}
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(e.Confusion[i][b], e.Confusion[i][a]) })
		var taken []string
		for _, k := range others[:min(most, len(others))] {
			taken = append(taken, fmt.Sprintf("%s (%d)", e.Classes[k], e.Confusion[i][k]))
		}
		t.Rows = append(t.Rows, []string{c, strconv.Itoa(rows), fmt.Sprintf("%.1f %%", 100*float64(right)/float64(rows)),
			strings.Join(taken, ", ")})
	}
	return t
}
