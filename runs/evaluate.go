package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Evaluation compares the predictions for one column of labels with the labels of the rows that have one.
type Evaluation struct {
	// Column is the name of the column of labels.
	Column string `json:"column"`
	// Rows is the number of rows with a label.
	Rows int `json:"rows"`
	// Error is the fraction of these rows whose class is not the predicted one, nil for numbers.
	Error *float64 `json:"error,omitempty"`
	// Classes are the names of the classes. Confusion[i][k] is the number of rows with label i that were predicted as
	// k. Labels for which the model has no class, where there are any, share a last entry of Classes and row of
	// Confusion.
	Classes   []string `json:"classes,omitempty"`
	Confusion [][]int  `json:"confusion,omitempty"`
	// Calibration divides the rows by the score of the predicted class. A well calibrated model is right as often as
	// this score says.
	Calibration []CalibrationBin `json:"calibration,omitempty"`
	// Probabilities is nil where scores are not probabilities, which they are only where the outputs are log-odds.
	*Probabilities
	// Numbers takes the place of the fields above, from Error on, where labels are numbers.
	Numbers *NumberEvaluation `json:"numbers,omitempty"`
	// Unknown counts rows whose label is not a class of the model, or not a number. An unknown class counts as wrong,
	// or as the first class where that stands for several classes of the data. What is not a number is not compared.
	Unknown *UnknownLabels `json:"unknown,omitempty"`

	column   OutputColumn
	sums     numberSums
	bins     [10]CalibrationBin
	probable *probabilitySums // nil where Probabilities is to be nil
}

// UnknownLabels counts rows. First tells for the first of them where it is, what was expected and what was found.
type UnknownLabels struct {
	Rows  int    `json:"rows"`
	First string `json:"first"`
}

// CalibrationBin holds the predictions whose score lies in one tenth of the range from 0 to 1, which begins at From.
type CalibrationBin struct {
	From float64 `json:"from"`
	Rows int     `json:"rows"`
	// Score is the mean of their scores, each clipped to the range from 0 to 1; Right is the fraction that is right.
	Score float64 `json:"score"`
	Right float64 `json:"right"`
}

// NumberEvaluation compares predicted numbers with labels.
type NumberEvaluation struct {
	MSE float64 `json:"mse"`
	// R2 is 1 - MSE / (variance of the labels).
	R2 float64 `json:"r2"`
	// Slope and Intercept are those of the least-squares line from predictions to labels: 1 and 0 for a calibrated
	// model.
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"`
	// Bins divides the rows, in ascending order of their predictions, into parts of equal size. Only the evaluation of
	// a run has them.
	Bins []NumberBin `json:"bins,omitempty"`
}

// NumberBin describes the rows whose predictions lie between From and To.
type NumberBin struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Rows int     `json:"rows"`
	// Predicted and Label are means; Spread is the standard deviation of the labels.
	Predicted float64 `json:"predicted"`
	Label     float64 `json:"label"`
	Spread    float64 `json:"spread"`
}

// numberSums holds, for labels y and predictions p, the running means (y and p), the sums of squares and products about
// these (yy, pp and yp), and the sum of squared differences (square).
type numberSums struct{ y, p, yy, pp, yp, square float64 }

func newEvaluation(c OutputColumn) *Evaluation {
	e := &Evaluation{Column: c.Column, column: c, Classes: slices.Clone(c.Classes)}
	for range c.Classes {
		e.Confusion = append(e.Confusion, make([]int, len(c.Classes)))
	}
	return e
}

// weighProbabilities is called before rows of classes are added whose scores are probabilities.
func (e *Evaluation) weighProbabilities() {
	e.probable = newProbabilitySums(len(e.column.Classes))
}

// add compares the label in cell i of v with the predicted class, given the scores of all classes, or with the
// predicted number, which is passed as the only score, of class 0. It skips missing labels. The error describes a label
// that is not a class of the model, which counts as wrong or as one of the rest, or that is not a number, which is not
// compared.
func (e *Evaluation) add(v *table.Values, i, class int, scores []float32) error {
	if v.Lacks(i) || slices.Contains(e.column.Missing, v.Name(i)) {
		return nil
	}
	name, c, rest := v.Word(i), e.column.Classes, e.column.Rest
	if name == "" {
		return nil
	}
	if len(c) == 0 {
		y, ok := v.Number(i)
		switch {
		case math.IsNaN(y), !ok && text.LooksMissing(name):
			return nil
		case !ok || math.IsInf(y, 0):
			return fmt.Errorf("expected %s, found %q", v.Expected(i), text.OneLine(name, 80))
		case e.column.LogOf != "" && e.column.log().Refuses(y) != "":
			return fmt.Errorf("expected %s, found %q", e.column.log().Refuses(y), text.OneLine(name, 80))
		case e.column.LogOf != "":
			y = e.column.log().Of(y)
		}
		e.addNumber(y, float64(scores[0]))
		return nil
	}
	truth, unknown := text.IndexSame(c, name), false
	switch {
	case truth >= 0:
	case text.IndexSame(rest, name) >= 0:
		truth = 0
	case text.LooksMissing(name): // missing, as files other than the run's may write it
		return nil
	case len(rest) > 0:
		truth, unknown = 0, rest[0] != c[0] // else the classes of the rest are not known
		c = append(slices.Clone(rest), c[1])
	default:
		unknown = true
	}
	e.addClass(truth, class, scores)
	if unknown {
		return fmt.Errorf("expected one of the classes %s, found %q", text.OneLine(strings.Join(c, ", "), 200), text.OneLine(name, 80))
	}
	return nil
}

// addClass adds a row with the label truth, the predicted class and the scores of all classes. truth is below 0 for a
// label that the model has no class for.
func (e *Evaluation) addClass(truth, class int, scores []float32) {
	if e.probable != nil && truth >= 0 {
		e.probable.add(truth, scores)
	}
	if truth < 0 {
		truth = len(e.column.Classes)
		if len(e.Classes) == truth {
			e.Classes = append(e.Classes, "(another)")
			e.Confusion = append(e.Confusion, make([]int, truth))
		}
	}
	e.Rows++
	e.Confusion[truth][class]++
	within := 0.0 // also for NaN
	if score := float64(scores[class]); score > 0 {
		within = min(1, score)
	}
	bin := &e.bins[min(len(e.bins)-1, int(within*float64(len(e.bins))))]
	bin.Rows++
	bin.Score += within
	if truth == class {
		bin.Right++
	}
}

// addNumber adds a row with the label y and the predicted number p.
func (e *Evaluation) addNumber(y, p float64) {
	e.Rows++
	e.sums.add(float64(e.Rows), y, p)
}

func (s *numberSums) add(n, y, p float64) {
	dy, dp := y-s.y, p-s.p
	s.y, s.p = s.y+dy/n, s.p+dp/n
	s.yy, s.pp, s.yp = s.yy+dy*(y-s.y), s.pp+dp*(p-s.p), s.yp+dp*(y-s.y)
	s.square += (y - p) * (y - p)
}

func (e *Evaluation) finish() {
	if e.Rows == 0 {
		return
	}
	n := float64(e.Rows)
	if len(e.column.Classes) == 0 {
		s, out := e.sums, &NumberEvaluation{MSE: e.sums.square / n}
		if s.yy > 0 {
			out.R2 = 1 - s.square/s.yy
		}
		if s.pp > 0 {
			out.Slope = s.yp / s.pp
		}
		out.Intercept = s.y - out.Slope*s.p
		e.Numbers = out
		return
	}
	right := 0
	for i := range e.column.Classes {
		right += e.Confusion[i][i]
	}
	e.Error = new(1 - float64(right)/n)
	if e.probable != nil {
		e.Probabilities = e.probable.finish()
	}
	for i, b := range e.bins {
		if b.Rows == 0 {
			continue
		}
		rows := float64(b.Rows)
		e.Calibration = append(e.Calibration, CalibrationBin{float64(i) / float64(len(e.bins)), b.Rows, b.Score / rows, b.Right / rows})
	}
}
