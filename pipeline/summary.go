package pipeline

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"gonum.org/v1/gonum/stat"
)

// Summary is the outcome of a sweep.
type Summary struct {
	Data   string `json:"data"`
	Metric string `json:"metric"`
	// Methods has one row a budget and method, Comparisons one a budget and
	// method after the first, which each is compared with.
	Methods     []MethodSummary    `json:"methods"`
	Comparisons []BudgetComparison `json:"comparisons"`
}

// BudgetComparison is a comparison at one budget, 0 outside the budget schedule.
type BudgetComparison struct {
	Budget float64 `json:"budget,omitempty"`
	Comparison
}

// summarise condenses the results of a sweep, which come in unit order.
func summarise(id Identity, results []Result) Summary {
	s := Summary{Data: id.Data.Name}
	methods := id.Config.Methods
	for _, budget := range id.budgets() {
		scores := make([][]float64, len(methods))
		for i, m := range methods {
			var values, samples []float64
			for _, target := range id.Targets {
				var mean []float64
				for k := range results {
					r := &results[k]
					if r.Target != target || r.Budget != budget {
						continue
					}
					mr := r.Method(m)
					s.Metric = mr.Score.Metric
					mean = append(mean, mr.Score.Value)
					samples = append(samples, float64(mr.Samples))
				}
				values = append(values, mean...)
				scores[i] = append(scores[i], stat.Mean(mean, nil))
			}
			s.Methods = append(s.Methods, MethodSummary{m, budget, len(values), stat.Mean(samples, nil), stat.Mean(values, nil)})
		}
		for i := 1; i < len(methods); i++ {
			s.Comparisons = append(s.Comparisons, BudgetComparison{budget, compare(methods[0], methods[i], scores[0], scores[i])})
		}
	}
	return s
}

// encodeResults is results.csv: one row a unit and method.
func encodeResults(results []Result) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	rows := [][]string{{"target", "seed", "budget", "method", "samples", "cost", "iterations", "objective", "target_loss", "metric", "value"}}
	for _, r := range results {
		for _, m := range r.Methods {
			rows = append(rows, []string{r.Target, strconv.FormatUint(r.Seed, 10), num(r.Budget), m.Method, strconv.Itoa(m.Samples), num(m.Cost),
				strconv.Itoa(m.Iterations), num(m.Objective), num(m.TargetLoss), m.Score.Metric, num(m.Score.Value)})
		}
	}
	err := w.WriteAll(rows)
	return out.Bytes(), err
}
