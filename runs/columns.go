package runs

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// OutputColumn is a column of labels that a model predicts.
type OutputColumn struct {
	// Column is the name of the column, empty where the data have none.
	Column string `json:"column"`
	// Classes are the names of the classes, nil where labels are numbers.
	Classes []string `json:"classes,omitempty"`
	// LogOf is the column whose logarithm the labels are, empty where they are the numbers of Column itself.
	LogOf string `json:"log_of,omitempty"`
	// LogPlus is added to each number before its logarithm is taken.
	LogPlus float64 `json:"log_plus,omitempty"`
	// Missing lists the values that stand for a missing label.
	Missing []string `json:"missing,omitempty"`
	// Rest lists the other classes where the head tells one class, the second of Classes, from all others, which the
	// first stands for. Labels that are in neither list count as the first class too. Where the data do not name the
	// other classes, Rest holds the first class alone. It is empty where the first is the only other class of the data,
	// and nil where no class is told from all others.
	Rest []string `json:"rest,omitzero"`
	// Heads is the number of rows of target.weight that belong to the column: one for each class, or a single one for a
	// number or for two classes. A single head tells the second class from the first at a score of 0.5.
	Heads int `json:"heads"`
}

// outputColumns returns the columns of labels of the target's tasks. Tasks for classes of one column share an entry, as
// do all classes of data without columns; any other task has an entry of its own.
func outputColumns(set *dataset.Set, tasks []int) []OutputColumn {
	var out []OutputColumn
	var labels []dataset.LabelColumn
	if set.Columns != nil {
		labels = set.Columns.Labels
	}
	for _, t := range tasks {
		o := set.Tasks[t].Output
		j := slices.IndexFunc(out, func(c OutputColumn) bool { return o.Class != "" && len(c.Classes) > 0 && c.Column == o.Name })
		if j < 0 {
			c := OutputColumn{Column: o.Name}
			if i := slices.IndexFunc(labels, func(l dataset.LabelColumn) bool { return l.Name == o.Name }); i >= 0 {
				c.LogOf, c.LogPlus, c.Missing = labels[i].LogOf, labels[i].Log.Plus, labels[i].Missing
			}
			if o.Class == "" && set.Binary {
				c.Classes = []string{"0", "1"}
			}
			out, j = append(out, c), len(out)
		}
		out[j].Heads++
		if o.Class != "" {
			out[j].Classes = append(out[j].Classes, o.Class)
		}
	}
	for j := range out {
		c := &out[j]
		if len(c.Classes) != 1 {
			continue
		}
		class, rest := c.Classes[0], []string(nil)
		for _, l := range labels {
			if l.Name == c.Column {
				rest = slices.DeleteFunc(slices.Clone(l.Classes), func(name string) bool { return name == class })
			}
		}
		if len(rest) == 1 {
			c.Classes, c.Rest = []string{rest[0], class}, []string{}
			continue
		}
		c.Classes, c.Rest = []string{"not " + class, class}, rest
		if len(rest) == 0 {
			c.Rest = c.Classes[:1]
		}
	}
	return out
}

// Predicted holds what a model predicts for one column of labels of N rows.
type Predicted struct {
	// Class holds for each row the index of the predicted class among the classes of the column. Scores holds for each
	// class and row the score that `amtrl predict` writes. Both are nil where labels are numbers.
	Class  []int
	Scores [][]float32
	// Numbers holds the predicted number of each row in the units of the labels, which are logarithms where the column
	// has a LogOf. It is nil where labels are classes.
	Numbers []float32
}

// PredictLabels predicts the labels of rows, which are as [pipeline.Predictor.Predict] takes them, for each of the
// columns of labels of p. [OpenPredictor] returns p together with its columns. For a row with a NaN feature, the scores
// and numbers are NaN, and the class is the first. Other features that [dataset.Set.Validate] refuses are an error. There
// may be no rows.
func PredictLabels(p *pipeline.Predictor, columns []OutputColumn, rows *dataset.Pool) ([]Predicted, error) {
	heads := 0
	for _, c := range columns {
		if outputs := max(1, len(c.Classes)); c.Heads != outputs && !(c.Heads == 1 && outputs == 2) {
			return nil, fmt.Errorf("column %q: expected one output for a number or two classes, else one for each class, found %s and %d %s",
				c.Column, text.Several(c.Heads, "output"), len(c.Classes), text.Form(len(c.Classes), "class", "classes"))
		}
		heads += c.Heads
	}
	if heads != p.C {
		return nil, fmt.Errorf("expected the columns of the model, of %s, found those of %d", text.Several(p.C, "output"), heads)
	}
	var y []float32
	if rows != nil {
		if err := rows.CheckFeatures(); err != nil {
			return nil, err
		}
		if rows.Rows == 0 && rows.Cols == p.D {
			return predicted(nil, columns, p.C, p.Classifies()), nil
		}
		y = make([]float32, (len(rows.U8)+len(rows.F16)+len(rows.F32))/p.D*p.C)
	}
	if err := p.Predict(rows, y); err != nil {
		return nil, err
	}
	return predicted(y, columns, p.C, p.Classifies()), nil
}

// predicted splits y, the outputs of a model row after row, into the predictions of each column.
func predicted(y []float32, columns []OutputColumn, outputs int, logOdds bool) []Predicted {
	out, first := make([]Predicted, len(columns)), 0
	for j, c := range columns {
		heads := make([][]float32, c.Heads)
		for k := range heads {
			heads[k] = make([]float32, len(y)/outputs)
			for row := range heads[k] {
				heads[k][row] = y[row*outputs+first+k]
			}
		}
		if first += c.Heads; len(c.Classes) == 0 {
			out[j].Numbers = heads[0]
		} else {
			out[j].Scores, out[j].Class = classify(heads, logOdds)
		}
	}
	return out
}

// classify returns the scores of the classes of a column, by class and row, and the class of each row. There is one
// head for each class, or one for two classes. The heads are log-odds of one class against all others, whose
// probabilities are divided by their sum, or regressions on labels of 0 and 1. The class is chosen by the heads, since
// scores may be equal by rounding where heads are not.
func classify(heads [][]float32, logOdds bool) (scores [][]float32, class []int) {
	rows := len(heads[0])
	scores, class = make([][]float32, max(2, len(heads))), make([]int, rows)
	for k := range scores {
		scores[k] = make([]float32, rows)
	}
	head := make([]float64, len(heads))
	for row := range rows {
		class[row] = pipeline.PredictedClass(heads, row, logOdds)
		for k := range heads {
			head[k] = float64(heads[k][row])
		}
		if logOdds {
			for k, v := range head {
				head[k] = -math.Log1p(math.Exp(-v))
				if v < -30 {
					head[k] = v // the same up to rounding
				}
			}
			if len(heads) > 1 {
				floats.AddConst(-floats.LogSumExp(head), head)
			}
			for k, v := range head {
				head[k] = math.Exp(v)
			}
		}
		if len(heads) == 1 {
			scores[0][row], scores[1][row] = float32(1-head[0]), float32(head[0])
			continue
		}
		for k, v := range head {
			scores[k][row] = float32(v)
		}
	}
	return scores, class
}

// scoresOf overwrites out with the scores of all classes of a row, which lie by class and row, and returns it.
func scoresOf(out []float32, scores [][]float32, row int) []float32 {
	for k := range out {
		out[k] = scores[k][row]
	}
	return out
}

// inUnits returns predicted numbers in the units of the column in the files: where labels are logarithms it inverts
// them.
func (c *OutputColumn) inUnits(numbers []float32) []float32 {
	if c.LogOf == "" {
		return numbers
	}
	out := make([]float32, len(numbers))
	for i, v := range numbers {
		out[i] = float32(c.log().Inverse(float64(v)))
	}
	return out
}

func (c *OutputColumn) log() *table.Log { return &table.Log{Plus: c.LogPlus} }
