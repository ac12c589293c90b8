package report

import (
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
