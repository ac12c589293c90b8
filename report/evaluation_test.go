package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// What probabilities are worth stands on a line between the counts and the calibration, without an area where there is none.
func TestEvaluationOfProbabilities(t *testing.T) {
	e := &runs.Evaluation{Rows: 4, Error: new(0.25), Classes: []string{"no", "yes"}, Confusion: [][]int{{3, 0}, {1, 0}},
		Probabilities: &runs.Probabilities{LogLoss: 0.25, ConstantLogLoss: 0.5623, Brier: 0.125, ConstantBrier: 0.1875}}
	const losses = "\n\nlog-loss 0.2500, Brier score 0.1250 (0.5623 and 0.1875 if all rows had the shares of the classes)"
	has(t, Evaluation(e, Text), losses+"\n\n")
	e.AUC = new(0.75)
	has(t, Evaluation(e, Text), losses+", area under the ROC curve 0.7500\n\n")
	e.Classes, e.Confusion = []string{"no", "perhaps", "yes"}, [][]int{{3, 0, 0}, {1, 0, 0}, {0, 0, 0}}
	has(t, Evaluation(e, Text), losses+", mean area under the ROC curve 0.7500\n\n")
}

// For two classes the calibration is by the probability of the second, also where this is small.
func TestEvaluationByProbability(t *testing.T) {
	e := &runs.Evaluation{Rows: 20, Error: new(0.25), Classes: []string{"no", "yes"}, Confusion: [][]int{{15, 0}, {5, 0}},
		Calibration: []runs.CalibrationBin{{From: 0.5, Rows: 20, Score: 0.5, Right: 0.75}},
		Probabilities: &runs.Probabilities{Bins: []runs.ProbabilityBin{{From: 0.00012345, To: 0.01, Rows: 10, Probability: 0.009},
			{From: 0.09, To: 1, Rows: 10, Probability: 0.25, Share: 0.5}}}}
	got := Evaluation(e, Markdown)
	has(t, got, `**calibration, by the probability of yes**

| probability | rows | mean | share of yes |
| --- | ---:| ---:| ---:|
| 0.0123 to 1.00 % | 10 | 0.900 % | 0.00 % |
| 9.00 to 100 % | 10 | 25.0 % | 50.0 % |
`)
	must.Hold(t, !strings.Contains(got, "predicted class"), "two calibrations:\n%s", got)
	e.Bins = nil
	has(t, Evaluation(e, Markdown), "calibration, by the score of the predicted class", "| 0.5 to 0.6 | 20 | 0.500 | 75.0 % |")
}

func TestEvaluationOfNumbers(t *testing.T) {
	for want, intercept := range map[string]float64{"2 x + 0.5": 0.5, "2 x - 0.5": -0.5, "2 x + 0": 0} {
		e := &runs.Evaluation{Rows: 3, Numbers: &runs.NumberEvaluation{MSE: 1, Slope: 2, Intercept: intercept}}
		if got := Evaluation(e, Text); !strings.Contains(got, want) {
			t.Errorf("an intercept of %g:\n%s", intercept, got)
		}
	}
}

// Where there are many classes, each class with rows has a line with their number and the classes that they are most often taken for.
func TestEvaluationOfManyClasses(t *testing.T) {
	e := &runs.Evaluation{Rows: 14, Error: new(0.)}
	for i := range mostClasses + 2 {
		e.Classes = append(e.Classes, fmt.Sprint("class", i))
		e.Confusion = append(e.Confusion, make([]int, mostClasses+2))
	}
	copy(e.Confusion[1], []int{1, 5, 0, 2, 1, 1})
	e.Confusion[mostClasses+1][mostClasses+1] = 4
	_, got, _ := strings.Cut(Evaluation(e, Markdown), "\n\n")
	got, _, _ = strings.Cut(got, "\n\n")
	must.Equal(t, got, `| label | rows | right | most often taken for |
| --- | ---:| ---:| --- |
| class1 | 10 | 50.0 % | class3 (2), class0 (1), class4 (1) |
| class16 | 4 | 100.0 % |  |`, "the table")
}

// Labels that the model does not know are reported, even where there are no others.
func TestEvaluationOfUnknownLabels(t *testing.T) {
	first := &runs.UnknownLabels{Rows: 2, First: "rows.csv: line 3"}
	for want, e := range map[string]*runs.Evaluation{
		"labels that are not compared: 2, the first at rows.csv: line 3\n": {Unknown: first},
		"\n\nlabels that count as wrong: 2, the first at rows.csv: line 3\n": {Rows: 2, Error: new(1.), Classes: []string{"a", "(another)"},
			Confusion: [][]int{{0}, {2}}, Unknown: first},
		"\n\nlabels that count as not a: 2, the first at rows.csv: line 3\n": {Rows: 2, Error: new(0.), Classes: []string{"not a", "a"},
			Confusion: [][]int{{2, 0}, {0, 0}}, Unknown: first},
	} {
		got := Evaluation(e, Text)
		must.Hold(t, strings.Contains(got, want), "%q is not in\n%s", want, got)
	}
}
