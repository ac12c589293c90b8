package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Evaluation compares predictions with labels that are there.
type Evaluation struct {
	// Column is that of the label.
	Column string `json:"column"`
	// Rows are the rows with a label.
	Rows int `json:"rows"`
	// Error is the fraction of them with another class than predicted, nil for numbers.
	Error *float64 `json:"error,omitempty"`
	// Classes are the classes, and Confusion has for each as the label how often each was predicted. The last class is
	// what the model knows no class for, where such labels are there.
	Classes   []string `json:"classes,omitempty"`
	Confusion [][]int  `json:"confusion,omitempty"`
	// Calibration is by the score of the predicted class, which a well calibrated model is as often right as.
	Calibration []CalibrationBin `json:"calibration,omitempty"`
	// Numbers replaces the above where labels are numbers.
	Numbers *NumberEvaluation `json:"numbers,omitempty"`
	// Unknown are rows whose label is no class of the model, which counts as wrong, or as the first class where that stands for
	// several of the data, or no number, which is not compared.
	Unknown *UnknownLabels `json:"unknown,omitempty"`

	column OutputColumn
	sums   numberSums
	bins   [10]CalibrationBin
}

// UnknownLabels counts rows, and says of the first where it is, what was expected and what was found.
type UnknownLabels struct {
	Rows  int    `json:"rows"`
	First string `json:"first"`
}

// CalibrationBin are predictions whose score lies between two tenths.
type CalibrationBin struct {
	From float64 `json:"from"`
	Rows int     `json:"rows"`
	// Score is their mean score, within 0 and 1, Right the fraction that is right.
	Score float64 `json:"score"`
	Right float64 `json:"right"`
}

// NumberEvaluation compares numbers.
type NumberEvaluation struct {
	MSE float64 `json:"mse"`
	// R2 is 1 less MSE over the variance of the labels.
	R2 float64 `json:"r2"`
	// Slope and Intercept are of the line of least squares from predictions to labels: 1 and 0 where they are calibrated.
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"`
	// Bins are of the rows in ascending order of their predictions, as many in each, where a run was evaluated.
	Bins []NumberBin `json:"bins,omitempty"`
}

// NumberBin are rows whose predictions lie in an interval.
type NumberBin struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Rows int     `json:"rows"`
	// Predicted and Label are means, Spread is the standard deviation of the labels.
	Predicted float64 `json:"predicted"`
	Label     float64 `json:"label"`
	Spread    float64 `json:"spread"`
}

// numberSums are running means and sums of squares about them, of labels y and predictions p.
type numberSums struct{ y, p, yy, pp, yp, square float64 }

func newEvaluation(c OutputColumn) *Evaluation {
	e := &Evaluation{Column: c.Column, column: c, Classes: slices.Clone(c.Classes)}
	for range c.Classes {
		e.Confusion = append(e.Confusion, make([]int, len(c.Classes)))
	}
	return e
}

// add compares row i of the labels with the class that was predicted, at a score, or the number that the score is. It returns
// what is wrong with a label that is no class of the model, which counts as wrong or as one of the rest, or no number, which is
// not compared.
func (e *Evaluation) add(v *table.Values, i, class int, score float32) error {
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
			return fmt.Errorf("expected %s, found %q", table.PlainNumber(name), text.OneLine(name, 80))
		case e.column.LogOf != "" && e.column.log().Refuses(y) != "":
			return fmt.Errorf("expected %s, found %q", e.column.log().Refuses(y), text.OneLine(name, 80))
		case e.column.LogOf != "":
			y = e.column.log().Of(y)
		}
		e.addNumber(y, float64(score))
		return nil
	}
	truth, unknown := text.IndexSame(c, name), false
	switch {
	case truth >= 0:
	case text.IndexSame(rest, name) >= 0:
		truth = 0
	case text.LooksMissing(name): // as other files than those of the run write it
		return nil
	case len(rest) > 0:
		truth, unknown = 0, rest[0] != c[0] // else nobody knows of which classes the rest are
		c = append(slices.Clone(rest), c[1])
	default:
		unknown = true
	}
	e.addClass(truth, class, float64(score))
	if unknown {
		return fmt.Errorf("expected one of the classes %s, found %q", text.OneLine(strings.Join(c, ", "), 200), text.OneLine(name, 80))
	}
	return nil
}

// addClass adds a row whose label is the class truth, below 0 for one that the model does not know.
func (e *Evaluation) addClass(truth, class int, score float64) {
	if truth < 0 {
		truth = len(e.column.Classes)
		if len(e.Classes) == truth {
			e.Classes = append(e.Classes, "(another)")
			e.Confusion = append(e.Confusion, make([]int, truth))
		}
	}
	e.Rows++
	e.Confusion[truth][class]++
	within := 0.0 // also of a score that is no number
	if score > 0 {
		within = min(1, score)
	}
	bin := &e.bins[min(len(e.bins)-1, int(within*float64(len(e.bins))))]
	bin.Rows++
	bin.Score += within
	if truth == class {
		bin.Right++
	}
}

// addNumber adds a row whose label is y.
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
	for i, b := range e.bins {
		if b.Rows == 0 {
			continue
		}
		rows := float64(b.Rows)
		e.Calibration = append(e.Calibration, CalibrationBin{float64(i) / float64(len(e.bins)), b.Rows, b.Score / rows, b.Right / rows})
	}
}
