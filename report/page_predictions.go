package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report/chart"
	"github.com/amtrl/amtrl/runs"
)

// mostClasses is the number of classes that a map has room for; mostPairs is the largest number of rows that the page
// shows of a table of pairs.
const (
	mostClasses = 15
	mostPairs   = 200
)

// predictions returns the part that compares the predictions of the saved model with the labels.
func (r *runPage) predictions() Part {
	p := Part{ID: "predictions", Title: "What it gets right and wrong", Wide: true}
	m := r.chosen()
	on := "held-out rows of the target"
	if m.Score.LeaveOneOut {
		on = leftOut(m.Rows, m.Groups)
	}
	line := "On the dashed line predictions are right as often as their scores say; the band is the 95 % interval over these rows."
	switch e := r.Evaluations[0]; {
	case e.Numbers != nil:
		line = "On the dashed line labels are as predicted; the band is one standard deviation of the labels to each side."
	case e.Probabilities != nil && len(e.Bins) > 0:
		line = "On the dashed line a class is as frequent as its probability says; the band is the 95 % interval over these rows."
	}
	p.Text = append(p.Text, say("The model that is saved, that of ", m.Method, ", on ", on, ". ", line))
	for i, e := range r.Evaluations {
		of, id := say("Of "), ""
		title := func(s string) string { return s }
		if i > 0 {
			id = "-" + strconv.Itoa(i+1)
		}
		if len(r.Evaluations) > 1 {
			of = say(name(e.Column), ": of ")
			title = func(s string) string { return s + ": " + chart.Isolate(oneLine(e.Column)) }
		}
		of = append(of, several(e.Rows, "row")...)
		if n := e.Numbers; n != nil {
			p.Text = append(p.Text, append(of, say(", the mean squared error is ", score(pipeline.MetricMSE, n.MSE), " and R² ", places(n.R2, 3),
				".")...))
			p.Figures = append(p.Figures, numberFigure("calibration"+id, title("Labels by prediction"), n.Bins))
			continue
		}
		p.Text = append(p.Text, append(of, say(", ", score(pipeline.MetricError, *e.Error), " have another class than predicted.")...))
		if e.Probabilities != nil {
			line := worth(e.Probabilities, len(e.Confusion[0]))
			if len(e.Bins) > 0 {
				line = append(line, say(" The figure by probability is of the class ", name(e.Classes[1]), ".")...)
			}
			p.Text = append(p.Text, line)
		}
		if f := confusionFigure("confusion"+id, title, e); f.Chart != nil {
			p.Figures = append(p.Figures, f)
		}
		if e.Probabilities != nil && len(e.Bins) > 0 {
			p.Figures = append(p.Figures, probabilityFigure("calibration"+id, title("Share of a class by its probability"), e.Bins))
			continue
		}
		p.Figures = append(p.Figures, calibrationFigure("calibration"+id, title("Right by score"), e.Calibration))
	}
	return p
}

// worth returns what probabilities are worth, beside what the shares of the classes would be for all rows.
func worth(p *runs.Probabilities, classes int) Sentence {
	line := say("The log-loss is ", loss(p.LogLoss), " and the Brier score ", loss(p.Brier), "; if all rows had the shares of the classes "+
		"for probabilities, they would be ", loss(p.ConstantLogLoss), " and ", loss(p.ConstantBrier), ".")
	if p.AUC != nil {
		of := "."
		if classes > 2 {
			of = ", a mean over pairs of classes."
		}
		line = append(line, say(" The area under the ROC curve is ", places(*p.AUC, 3), of)...)
	}
	return line
}

// confusionFigure returns a map of the classes. Where there are more than it has room for, it returns the most frequent
// mistakes, without a chart where there are none.
func confusionFigure(id string, title func(string) string, e *runs.Evaluation) Figure {
	all := Sheet{ID: id + "-table", Columns: []string{"label", "predicted", "rows", "of the label's rows"}}
	var names []string
	var mistakes []chart.Bar
	values := make([][]float64, len(e.Classes))
	for i, counts := range e.Confusion {
		rows := 0
		for _, n := range counts {
			rows += n
		}
		names = append(names, fmt.Sprintf("%s (%s)", chart.Isolate(oneLine(e.Classes[i])), Count(float64(rows))))
		for k, n := range counts {
			share := float64(n) / float64(max(1, rows))
			values[i] = append(values[i], share)
			if n > 0 {
				all.Rows = append(all.Rows, row1(name(e.Classes[i]), name(e.Classes[k]), whole(n), part(share)))
			}
			if n > 0 && i != k {
				a, b := oneLine(e.Classes[i]), oneLine(e.Classes[k])
				mistakes = append(mistakes, chart.Bar{Name: chart.Isolate(a) + " → " + chart.Isolate(b), Value: float64(n),
					Short: chart.Isolate(chart.Fit(a, 88)) + " → " + chart.Isolate(chart.Fit(b, 88))})
			}
		}
	}
	frequent := func(a, b Row) int { return cmp.Compare(b.Cells[2].Value, a.Cells[2].Value) }
	if len(e.Classes) > mostClasses {
		all.Title = title("Predicted classes by label, mistakes first")
		right := func(r Row) int {
			if r.Cells[0].Text == r.Cells[1].Text {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(all.Rows, func(a, b Row) int { return cmp.Or(right(a)-right(b), frequent(a, b)) })
	}
	f := Figure{ID: id, Sheet: all}
	if len(all.Rows) > mostPairs {
		f.Full, f.Sheet.Rows = &all, slices.Clone(all.Rows)
		f.Sheet.Note = fmt.Sprintf("The first %d pairs; evaluation.jsonl has all.", mostPairs)
		if len(e.Classes) <= mostClasses {
			slices.SortStableFunc(f.Sheet.Rows, frequent)
			f.Sheet.Note = "The most frequent pairs; evaluation.jsonl has all."
		}
		f.Sheet.Rows = f.Sheet.Rows[:mostPairs]
	}
	if len(e.Classes) <= mostClasses {
		f.Chart = chart.Heat(chart.Map{Title: title("Predicted class by label"),
			Desc: "A map with a row for each class as the label, with its number of rows, and a column for each as the prediction; " +
				"the numbers are percentages of the label's rows.",
			XName: "predicted class", YName: "label (rows)", Columns: oneLines(e.Classes[:len(e.Confusion[0])]), Rows: names, Values: values,
			Legend: "of the label's rows (%)", Text: wholePercent})
		return f
	}
	slices.SortStableFunc(mistakes, func(a, b chart.Bar) int { return cmp.Compare(b.Value, a.Value) })
	if len(mistakes) > 0 {
		f.Chart = chart.Bars(title("The most frequent mistakes"), "Bars of the pairs of a label and another class that was predicted.",
			"label → predicted", countAxis("rows"), mistakes[:min(mostBars, len(mistakes))])
	}
	return f
}

// wholePercent formats a fraction in percent without the percent sign, for small cells.
func wholePercent(v float64) string {
	if v > 0 && v < 0.005 {
		return "<1"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64)
}

// calibrationFigure returns a figure of how often predictions are right, by their score.
func calibrationFigure(id, title string, bins []runs.CalibrationBin) Figure {
	sheet := Sheet{ID: id + "-table", Columns: []string{"score from", "rows", "mean score", "right",
		"95 % interval from", "95 % interval to"}}
	l := chart.Line{Name: "right", Color: 0}
	ends := []float64{1, 0}
	for _, b := range bins {
		i := runs.ScoreInterval(pipeline.Score{Metric: pipeline.MetricError, Value: b.Right}, &pipeline.Losses{Rows: b.Rows}, false)
		l.Points = append(l.Points, point(b.Score, b.Right, i))
		sheet.Rows = append(sheet.Rows, row1(part(b.From), whole(b.Rows), part(b.Score), part(b.Right), part(i[0]), part(i[1])))
		ends = []float64{min(ends[0], b.Score), max(ends[1], b.Score)}
	}
	return Figure{ID: id, Sheet: sheet, Chart: chart.Lines(title,
		"How often predictions are right, for the rows whose score lies in the same tenth, against their mean score.",
		percentAxis("mean score of the predicted class"), percentAxis("right"), []chart.Line{l, equal("as their score says", ends)})}
}

// probabilityFigure returns a figure of how often the second of two classes occurs, by its probability.
func probabilityFigure(id, title string, bins []runs.ProbabilityBin) Figure {
	sheet := Sheet{ID: id + "-table", Columns: []string{"probability from", "to", "rows", "mean probability", "share",
		"95 % interval from", "95 % interval to"}}
	l := chart.Line{Name: "share", Color: 0}
	for _, b := range bins {
		i := runs.ScoreInterval(pipeline.Score{Metric: pipeline.MetricError, Value: b.Share}, &pipeline.Losses{Rows: b.Rows}, false)
		l.Points = append(l.Points, point(b.Probability, b.Share, i))
		sheet.Rows = append(sheet.Rows, row1(part(b.From), part(b.To), whole(b.Rows), part(b.Probability), part(b.Share), part(i[0]), part(i[1])))
	}
	ends := []float64{bins[0].Probability, bins[len(bins)-1].Probability}
	return Figure{ID: id, Sheet: sheet, Chart: chart.Lines(title,
		"The share of the rows that are of the second class, for rows of like probability, against their mean probability.",
		percentAxis("mean probability"), percentAxis("share"), []chart.Line{l, equal("as the probability says", ends)})}
}

// numberFigure returns a figure of the labels by their prediction.
func numberFigure(id, title string, bins []runs.NumberBin) Figure {
	sheet := Sheet{ID: id + "-table", Columns: []string{"predicted from", "to", "rows", "mean prediction", "mean label", "its spread"}}
	l := chart.Line{Name: "mean of the labels", Color: 0}
	axis := scoreAxis("", "")
	write := func(v float64) Cell { return number(v, axis.Text(v)) }
	var ends []float64
	for _, b := range bins {
		l.Points = append(l.Points, point(b.Predicted, b.Label, &[2]float64{b.Label - b.Spread, b.Label + b.Spread}))
		sheet.Rows = append(sheet.Rows, row1(write(b.From), write(b.To), whole(b.Rows), write(b.Predicted), write(b.Label), write(b.Spread)))
		ends = []float64{bins[0].Predicted, b.Predicted}
	}
	x, y := axis, axis
	x.Name, y.Name = "prediction (in units of the label)", "label"
	return Figure{ID: id, Sheet: sheet, Chart: chart.Lines(title,
		"The mean and the standard deviation of the labels, for rows of like predictions, against their mean prediction.", x, y,
		[]chart.Line{l, equal("as predicted", ends)})}
}

// equal returns the line on which both axes have the same value, through ends.
func equal(name string, ends []float64) chart.Line {
	l := chart.Line{Name: name, Color: 3, Guess: true}
	for _, v := range ends {
		l.Points = append(l.Points, chart.Point{X: v, Y: v})
	}
	return l
}
