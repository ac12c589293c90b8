package runs

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Summary is the outcome of a sweep.
type Summary struct {
	Data   string `json:"data"`
	Metric string `json:"metric"`
	// Methods has one entry per budget and method. Comparisons has one per budget and method after the first, which the
	// first is compared with. Where each unit recommends a method, Methods has an entry for [Recommended], and
	// Comparisons one of it with Target.
	Methods     []MethodSummary    `json:"methods"`
	Comparisons []BudgetComparison `json:"comparisons"`
	// Files holds the SHA-256 of config.json, results.csv and each file of results in the folder of the sweep.
	Files Hashes `json:"files,omitempty"`
	// SHA256 is the checksum of summary.json, with zeros in its own place.
	SHA256 string `json:"sha256,omitempty"`
}

// OverSeeds reports whether the comparisons pair the seeds of one target, and not targets.
func (s *Summary) OverSeeds() bool {
	return slices.ContainsFunc(s.Comparisons, func(c BudgetComparison) bool { return c.Seeds > 0 })
}

// BudgetComparison is a comparison at one budget, 0 outside the budget schedule.
type BudgetComparison struct {
	Budget float64 `json:"budget,omitempty"`
	pipeline.Comparison
}

// average condenses the results of a sweep, which are in unit order.
func average(id Identity, results []Result) Summary {
	s := Summary{Data: id.Data.Name, Metric: results[0].Methods[0].Score.Metric}
	methods, atBudget := id.Config.Methods, byTarget(id, results)
	for _, budget := range id.budgets() {
		of := atBudget[budget]
		scores, mean := make([][][]float64, len(methods)), MethodSummary{}
		for i, m := range methods {
			scores[i], mean = averageOf(m, of, budget, func(r *Result) string { return m })
			s.Methods = append(s.Methods, mean)
		}
		for i := 1; i < len(methods); i++ {
			c := pipeline.Compare(methods[0], methods[i], scores[0], scores[i])
			if len(id.Targets) == 1 {
				c = overRows(c, of[0], func(*Result) string { return c.A })
			}
			s.Comparisons = append(s.Comparisons, BudgetComparison{budget, c})
		}
		best, mean := averageOf(Recommended, of, budget, func(r *Result) string { return r.Recommended })
		if best != nil {
			s.Methods = append(s.Methods, mean)
			if i := slices.Index(methods, pipeline.Target); i >= 0 {
				c := pipeline.Compare(Recommended, methods[i], best, scores[i])
				if len(id.Targets) == 1 {
					c = overRows(c, of[0], func(r *Result) string { return r.Recommended })
				}
				s.Comparisons = append(s.Comparisons, BudgetComparison{budget, c})
			}
		}
	}
	return s
}

// byTarget divides results by their budgets and then by their targets, in the order of the sweep's targets.
func byTarget(id Identity, results []Result) map[float64][][]*Result {
	at := make(map[string]int, len(id.Targets))
	for t, target := range id.Targets {
		at[target] = t
	}
	out := map[float64][][]*Result{}
	for i := range results {
		r := &results[i]
		if out[r.Budget] == nil {
			out[r.Budget] = make([][]*Result, len(id.Targets))
		}
		of := &out[r.Budget][at[r.Target]]
		*of = append(*of, r)
	}
	return out
}

// overRows returns c, a comparison in results of one target of the method that chosen names for each, with an interval for
// other rows too. Several results with held-out rows leave c as it is: a difference over seeds is for these rows. Where
// the samples are left out and a result does not compare the two methods, there is no interval: one over seeds alone would
// be too narrow.
func overRows(c pipeline.Comparison, results []*Result, chosen func(*Result) string) pipeline.Comparison {
	m := &results[0].Methods[0]
	if len(results) > 1 && !m.Score.LeaveOneOut {
		return c
	}
	var runs []pipeline.Comparison
	for _, r := range results {
		first := chosen(r)
		for _, known := range r.Comparisons {
			if known.A == first && known.B == c.B {
				runs = append(runs, known)
			}
		}
		if first == c.B { // a method differs from itself by 0
			runs = append(runs, pipeline.Comparison{Interval: new([2]float64), Rows: m.Rows, Groups: m.Groups})
		}
	}
	over := c.OverRows(runs)
	if over.Rows == 0 && over.Interval != nil {
		over.Interval, over.Rows, over.Groups = nil, m.Rows, m.Groups
	}
	return over
}

// Recommended is what a summary calls the method that each unit recommends.
const Recommended = "recommended"

// averageOf averages, in the results of each target at one budget, the scores of the method that chosen names for each
// result: by target and seed, and in all. scores is nil where a result lacks the method.
func averageOf(name string, of [][]*Result, budget float64, chosen func(*Result) string) (scores [][]float64, all MethodSummary) {
	var values, samples []float64
	for _, results := range of {
		var own []float64
		for _, r := range results {
			m := r.Method(chosen(r))
			if m == nil {
				return nil, all
			}
			own, samples = append(own, m.Score.Value), append(samples, float64(m.Samples))
		}
		scores, values = append(scores, own), append(values, own...)
	}
	return scores, MethodSummary{name, budget, len(values), stat.Mean(samples, nil), stat.Mean(values, nil)}
}

// encodeResults returns the content of results.csv: one row per unit and method.
func encodeResults(results []Result) ([]byte, error) {
	rows := [][]string{{"target", "seed", "budget", "method", "samples", "cost", "iterations", "objective", "target_loss", "metric", "value"}}
	for _, r := range results {
		for _, m := range r.Methods {
			rows = append(rows, []string{r.Target, strconv.FormatUint(r.Seed, 10), text.Number(r.Budget), m.Method, strconv.Itoa(m.Samples),
				text.Number(m.Cost), strconv.Itoa(m.Iterations), text.Number(m.Objective), text.Number(m.TargetLoss), m.Score.Metric,
				text.Number(m.Score.Value)})
		}
	}
	return EncodeCSV(rows)
}

// MethodSummary is the mean of a method over targets and seeds.
type MethodSummary struct {
	Method string `json:"method"`
	// Budget is the budget of the budget schedule, or 0.
	Budget float64 `json:"budget,omitempty"`
	// Runs is the number of results; Samples and Value are means over these.
	Runs    int     `json:"runs"`
	Samples float64 `json:"samples"`
	Value   float64 `json:"value"`
}

// Needed is the number of samples at which a method reaches a score.
type Needed struct {
	Method string `json:"method"`
	// Samples is interpolated between budgets, linearly in the logarithms.
	Samples float64 `json:"samples"`
	// Bound is "" for an interpolated number, "at most" where the smallest budget
	// already reaches the score, "more than" where the largest does not.
	Bound string `json:"bound,omitempty"`
}

// SamplesNeeded returns how many samples each method of a sweep over budgets needs for a mean score of value: the first
// crossing in order of samples. A method that takes no samples at some budget, such as a baseline without sources, is
// not listed.
func (s *Summary) SamplesNeeded(value float64) []Needed {
	var out []Needed
	for i, m := range s.Methods {
		name := m.Method
		same := func(m MethodSummary) bool { return m.Method == name }
		rows := slices.DeleteFunc(slices.Clone(s.Methods), func(m MethodSummary) bool { return !same(m) })
		slices.SortStableFunc(rows, func(a, b MethodSummary) int { return cmp.Compare(a.Samples, b.Samples) })
		if slices.ContainsFunc(s.Methods[:i], same) || rows[0].Samples == 0 {
			continue
		}
		need := Needed{name, rows[len(rows)-1].Samples, "more than"}
		for i, r := range rows {
			if r.Value > value {
				continue
			}
			if i == 0 {
				need = Needed{name, r.Samples, "at most"}
				break
			}
			p := rows[i-1]
			f := 1.0 // a score that falls to 0 has no logarithm
			if r.Value > 0 && value > 0 {
				f = math.Log(p.Value/value) / math.Log(p.Value/r.Value)
			}
			need = Needed{name, p.Samples * math.Pow(r.Samples/p.Samples, f), ""}
			break
		}
		out = append(out, need)
	}
	return out
}
