package report

import (
	"math"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

func TestCount(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 33067: "33,067", 1234567.6: "1,234,568", -1500: "-1,500", -0.2: "0",
		1e15: "1e+15", 2.5e20: "2.5e+20", math.Inf(1): "+Inf",
	} {
		must.Equal(t, Count(v), want, "Count(%v)", v)
	}
	must.Equal(t, Count(math.NaN()), "NaN", "Count(NaN)")
}

func TestScore(t *testing.T) {
	for _, test := range []struct {
		metric string
		value  float64
		want   string
	}{
		{pipeline.MetricError, 0.04916, "4.92 %"},
		{pipeline.MetricMSE, 0.0491649, "0.04916"},
		{pipeline.MetricExcess, 1.2e-7, "1.2e-07"},
	} {
		must.Equal(t, Score(test.metric, test.value), test.want, "%s %v", test.metric, test.value)
	}
}

func result(active, uniform, cost float64) *runs.Result {
	return &runs.Result{
		Data: "embedded digits", Target: "fog_2", Seed: 3,
		Methods: []runs.MethodResult{
			{Method: "active", Samples: 33000, Cost: cost, Epochs: 4, Iterations: 600,
				Score: pipeline.Score{Metric: pipeline.MetricError, Value: active}},
			{Method: "uniform", Samples: 33000, Cost: 33000, Epochs: 1, Iterations: 150,
				Score: pipeline.Score{Metric: pipeline.MetricError, Value: uniform}},
		},
		Sources: []runs.SourceResult{{Source: "fog_1", Nu: -0.5, Share: 0.75, Samples: 1200},
			{Source: "fog_3", Nu: 0.25, Share: 0.25, Samples: 50}},
	}
}

// has fails the test for each of the parts that a text lacks.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		must.Hold(t, strings.Contains(text, p), "expected %q in\n%.10000s", p, text)
	}
}

func TestResult(t *testing.T) {
	for _, test := range []struct {
		active, uniform, cost float64
		top                   int
		want, avoid           []string
	}{
		{0.04, 0.05, 33000, 1, []string{"fog_2 of embedded digits, seed 3", "active is 1.00 points better than uniform",
			"the 1 most relevant of 2 sources (active)", "-0.5000", "75.0 %", "1,200"}, []string{"cost", "fog_3"}},
		{0.05, 0.04, 40000, 9, []string{"active is 1.00 points worse than uniform", "cost", "40,000", "fog_3"}, nil},
		{0.05, 0.05, 33000, 0, []string{"active and uniform are equal (no interval from one run)"}, []string{"most relevant"}},
	} {
		got := Result(result(test.active, test.uniform, test.cost), test.top, Text)
		has(t, got, test.want...)
		for _, w := range test.avoid {
			if strings.Contains(got, w) {
				t.Errorf("unexpected %q in\n%s", w, got)
			}
		}
	}
}

// Intervals are shown where there are any, with the signs that fit the words before them.
func TestResultWithIntervals(t *testing.T) {
	r := result(0.05, 0.048, 33000)
	r.Comparisons = []pipeline.Comparison{{A: "active", B: "uniform", Difference: -0.002, Interval: &[2]float64{-0.008, 0.004}, Rows: 1000}}
	r.Sources[0].SourceIntervals = &runs.SourceIntervals{NuLow: -0.6, NuHigh: -0.4, ShareLow: 0.7, ShareHigh: 0.814, TopFive: 0.995}
	r.Methods[0].Interval = &[2]float64{0.041, 0.0609}
	got := Result(r, 2, Text)
	has(t, got, "method    error   95 % interval  source samples", "5.00 %  4.10 to 6.09 %          33,000",
		"active is 0.20 points worse than uniform (95 % interval -0.40 to +0.80 over 1,000 rows)",
		"share   90 % interval  samples", "75.0 %  70.0 to 81.4 %", "The intervals are for these numbers of samples.")
	s := &runs.Summary{Metric: pipeline.MetricError}
	seeds := pipeline.Comparison{A: "a", B: "c", Targets: 1, Seeds: 5, Interval: &[2]float64{0, 0.01}}
	unknown := pipeline.Comparison{A: "a", B: "d", Targets: 1, Seeds: 5, Rows: 40}
	for _, c := range []pipeline.Comparison{{A: "a", B: "b", Targets: 1}, seeds, unknown} {
		s.Comparisons = append(s.Comparisons, runs.BudgetComparison{Comparison: c})
	}
	got = Summary(s, Text)
	has(t, got, "none from one run", "+0.00 to +1.00 over 5 seeds", "none, not each run has one over its rows")
}

// What contradicts the recommended method has a line, in the text and on the page.
func TestContradiction(t *testing.T) {
	r := result(0.4, 0.24, 33000)
	r.Recommended, r.Reason = "active", "mean squared error of the target's samples, each left out of its head: active 0.1, uniform 0.2"
	must.Hold(t, !strings.Contains(Result(r, 1, Text), "test rows"), "nothing contradicts")
	r.Contradicted = &pipeline.Comparison{A: "uniform", B: "active", Difference: 0.16, Interval: &[2]float64{0.017, 0.301}, Rows: 44}
	has(t, Result(r, 1, Text),
		"but over the 44 test rows uniform is 16.00 points better than active (95 % interval +1.70 to +30.10)\n")
	page := &runPage{Finished: &runs.Finished{Result: *r}, metric: pipeline.MetricError}
	answer := ""
	for _, l := range page.answer().Lines {
		answer += l.String() + "\n"
	}
	has(t, answer, "It was chosen by the target's samples",
		"But over the 44 test rows uniform is 16.00 points better (95 % interval +1.70 to +30.10).")
	doubt := "active errs no less than constant: the target's rows do not show that its labels can be predicted"
	r.Doubt, page.Result.Doubt = doubt, doubt
	has(t, Result(r, 1, Text), "\nbut "+doubt+"\n")
	must.Equal(t, page.answer().Lines[3].String(), "But "+doubt+".", "the page")
	earlier := "round 2 of active, of 1,500 samples, made the target's samples much likelier than the last one, of 33,000 (mean squared " +
		"error, each left out, 0.2 for 0.5): more samples may not have helped"
	r.Earlier, r.Methods[0].LeaveOneOut = &runs.EarlierRound{Round: 2, Samples: 1500, LeaveOneOut: 0.2}, 0.5
	has(t, Result(r, 1, Text), "\nnote: "+earlier+"\n")
	page.Result.Earlier, page.Result.Methods[0].LeaveOneOut = r.Earlier, 0.5
	must.Equal(t, page.answer().Lines[4].String(), "But "+earlier+".", "the page")
	missed := pipeline.Overlooked{Column: "kind", Class: "owl", Samples: 1, Sources: 1400, Rows: 300, Found: 1, Others: 0.916}
	r.Overlooked, page.Result.Overlooked = []pipeline.Overlooked{missed}, []pipeline.Overlooked{missed}
	rare := `class "owl" of kind is hardly ever predicted: the target has 1 sample of it and the sources have 1,400 rows; of 300 rows of it ` +
		"drawn from sources, 1 is predicted to be of it, and of those of other classes 92 % are predicted right: have rows of the target " +
		"labelled, first those with its highest scores by amtrl predict"
	has(t, Result(r, 1, Text), "\nbut "+rare+"\n")
	must.Equal(t, page.answer().Lines[4].String(), "But "+rare+".", "the page")
	for _, name := range []string{"bat", "emu", "fox", "yak"} {
		missed.Class = name
		r.Overlooked = append(r.Overlooked, missed)
	}
	has(t, Result(r, 1, Text), "\nbut "+rare+"\nbut class \"bat\" of kind is", "\nbut class \"emu\" of kind is",
		"\nbut 2 more classes are hardly ever predicted either, with next to no samples of the target: \"fox\" of kind, \"yak\" of kind\n")
	must.Hold(t, strings.Count(Result(r, 1, Text), "drawn from sources") == 3, "%s", Result(r, 1, Text))
	page.Result.Reason, page.Result.TooFew = "the first method: 2 target samples tell nothing of which is best, expected at least 5", true
	answer = page.answer().Lines[1].String()
	must.Equal(t, answer, "It is the first method: 2 target samples tell nothing of which is best, expected at least 5.", "the page")
}

// The answer has the first warnings about the data that make results wrong, and says how many more there are.
func TestPageWarns(t *testing.T) {
	page := &runPage{Finished: &runs.Finished{Result: *result(0.04, 0.24, 500)}, metric: pipeline.MetricError}
	lines := func() (out string) {
		for _, l := range page.answer().Lines {
			out += l.String() + "\n"
		}
		return out
	}
	must.Hold(t, !strings.Contains(lines(), "Of the data"), "there are none: %s", lines())
	for i := range 6 {
		page.Result.Warnings = append(page.Result.Warnings, dataset.Oddity{Pool: "plant " + string(rune('a'+i)), Found: "copies", Advice: "out"})
	}
	has(t, lines(), "Of the data: plant a: copies: out.\n",
		"Of the data: plant d: copies: out.\nAnd 2 more warnings, which amtrl data check has.\n")
	must.Hold(t, !strings.Contains(lines(), "plant e"), "%s", lines())
}

// A source of which every row is drawn gets nothing of the next budget, and the others get its share.
func TestNextShares(t *testing.T) {
	r := result(0.04, 0.24, 33000)
	r.Recommended, r.Sources = "active", []runs.SourceResult{{Source: "fog_1", Nu: 1, Share: 0.5, AllDrawn: true},
		{Source: "fog_3", Nu: 0.5, Share: 0.4}, {Source: "fog_4", Nu: 0.25, Share: 0.1}, {Source: "fog_5"}}
	table := strings.Join(strings.Fields(Result(r, 4, Text)), " ")
	has(t, table, "50.0 % 0 all drawn fog_3", "40.0 % 0 ████████████ fog_4", "10.0 % 0 ███ fog_5")
	page := &runPage{Finished: &runs.Finished{Result: *r}, metric: pipeline.MetricError}
	a := page.answer()
	must.Equal(t, a.Headline.String(), "Label next: fog_3 (80.0 %), fog_4 (20.0 %)", "the headline")
	must.Equal(t, a.Lines[2].String(),
		"No rows are left of fog_1 (50.0 %), to which relevance alone would give these parts of the next budget.", "the line below it")
	// A row of fog_3 that costs eight times as much gets half as many rows from four times the share.
	for i := range r.Sources {
		r.Sources[i].Samples = 10
	}
	page.Cost = map[string]float64{"fog_1": 10, "fog_3": 80, "fog_4": 10, "fog_5": 10}
	page.Result = *r
	must.Equal(t, page.answer().Headline.String(), "Label next: fog_4 (66.7 %), fog_3 (33.3 %) of the rows", "the headline with costs")
	must.Hold(t, strings.Contains(page.sources().Text[0].String(), "part of the cost"), "%s", page.sources().Text[0])
	f := page.sources().Figures[0]
	must.Equal(t, f.Sheet.Columns[10], "of the next budget", "the last column")
	for i, want := range []float64{0, 0.8, 0.2, 0} {
		must.Hold(t, math.Abs(f.Sheet.Rows[i].Cells[10].Value-want) < 1e-12, "row %d: %v", i, f.Sheet.Rows[i].Cells[10])
	}
	const none = "Label no more by relevance: no relevant source has rows left"
	r.Sources[0].Share, r.Sources[1].Share, r.Sources[1].AllDrawn, r.Sources[2].Share = 0.6, 0.36, true, 0.04
	must.Equal(t, page.answer().Headline.String(), none, "with rows of a source that hardly matters")
	has(t, strings.Join(strings.Fields(Result(r, 4, Text)), " "), none)
	for i := range r.Sources {
		r.Sources[i].AllDrawn = true
	}
	must.Equal(t, page.answer().Headline.String(), none, "without any row left")
	must.Hold(t, !strings.Contains(Result(r, 4, Text), "next budget"), "no bar of nothing")
}

func TestBar(t *testing.T) {
	for part, want := range map[float64]string{0: "", 1: strings.Repeat("█", 12), 0.5: strings.Repeat("█", 6), 1e-9: "▏", 1.0 / 12: "█",
		7: strings.Repeat("█", 12), -1: "", 0.0625: "▊", 0.3: "███▋"} {
		must.Equal(t, bar(part), want, "%g drawn", part)
	}
	r := result(0.04, 0.05, 33000)
	if got := Result(r, 2, Text); !strings.Contains(got, "████████████\n") || strings.Contains(Result(r, 2, Markdown), "█") {
		t.Errorf("bars are for the terminal:\n%s", got)
	}
}

func TestSummary(t *testing.T) {
	s := &runs.Summary{
		Data: "mnist_c", Metric: pipeline.MetricError,
		Methods: []runs.MethodSummary{{Method: "active", Runs: 160, Samples: 33000, Value: 0.05},
			{Method: "uniform", Runs: 160, Samples: 33000, Value: 0.06}},
		Comparisons: []runs.BudgetComparison{{Comparison: pipeline.Comparison{A: "active", B: "uniform", Targets: 160,
			Difference: 0.01, Interval: &[2]float64{-0.002, 0.022}, Better: 130, Same: 6, Worse: 24, SignP: 1e-9}}},
	}
	if got, want := Summary(s, Markdown), `**mnist_c, means over targets and seeds**

| method | error | source samples | runs |
| --- | ---:| ---:| ---:|
| active | 5.00 % | 33,000 | 160 |
| uniform | 6.00 % | 33,000 | 160 |

**paired over targets, positive where the first method is better**

| comparison | difference | 95 % interval | same or better | sign test p |
| --- | ---:| ---:| ---:| ---:|
| active over uniform | +1.00 points | -0.20 to +2.20 | 136 of 160 | 1e-09 |
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.Metric = pipeline.MetricExcess
	for i := range s.Methods {
		s.Methods[i].Budget = 5000
	}
	s.Comparisons[0].Budget = 5000
	got := Summary(s, Text)
	has(t, got, "budget  method   excess risk", " 5,000  active          0.05", "budget  comparison", "-0.002 to +0.022")
}

func TestNeededAndPlan(t *testing.T) {
	got := Needed(pipeline.MetricExcess, 0.05, []runs.Needed{{Method: "active", Samples: 1234},
		{Method: "uniform", Samples: 9000, Bound: "more than"}}, Markdown)
	has(t, got, "mean excess risk of 0.05", "| active | 1,234 |", "| uniform | more than 9,000 |")
	paper := pipeline.Schedule{Kind: pipeline.SchedulePaper}
	got = Plan("p", paper, []pipeline.EpochPlan{{Epoch: 1, Epsilon: 0.5, Beta: 9.87672e12, Cost: 3.95e13, Floor: 50}},
		[]float64{1, 1}, Markdown)
	has(t, got, "| epoch | epsilon | beta | cost before the floor |", "| 1 | 0.5 | 9.87672e+12 | 39,500,000,000,000 | 50 |")
	budget, epochs := pipeline.Schedule{Kind: pipeline.ScheduleBudget, Budget: 2000}, []pipeline.EpochPlan{{Epoch: 1, Cost: 1234.5, Floor: 3}}
	has(t, Plan("p", budget, epochs, []float64{1, 1}, Markdown), "| epoch | cost by its end | floor", "| 1 | 1,234 | 3 |")
	has(t, Plan("p", budget, epochs, []float64{1, 2}, Markdown), "| epoch | cost by its end, about | floor", "| 1 | 1,234 | 3 |")
}

// Several columns of labels have an error each.
func TestByColumn(t *testing.T) {
	kind := &runs.Evaluation{Column: "kind", Rows: 40, Error: new(0.3)}
	size := &runs.Evaluation{Column: "size", Rows: 40, Numbers: &runs.NumberEvaluation{MSE: 2.5, R2: 0.75}}
	must.Equal(t, ByColumn("active", []*runs.Evaluation{kind, size}),
		"active by column: kind 30.00 %, size mean squared error 2.5 (R^2 0.750)\n", "two columns")
	must.Equal(t, ByColumn("active", []*runs.Evaluation{kind}), "", "one column")
	kind.Probabilities = &runs.Probabilities{LogLoss: 0.25, ConstantLogLoss: 0.5}
	shape := &runs.Evaluation{Column: "shape", Rows: 40, Error: new(0.05)}
	shape.Probabilities = &runs.Probabilities{LogLoss: 0.1, ConstantLogLoss: 0.2}
	must.Equal(t, ByColumn("active", []*runs.Evaluation{kind, shape}), "active by column: kind 30.00 %, shape 5.00 %\n"+
		"log-loss (in brackets if all rows had the shares of the classes): kind 0.250 (0.500), shape 0.100 (0.200)\n", "two columns of classes")
}
