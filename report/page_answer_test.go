package report

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// The headline of a run says that choosing by relevance did not help only where it was tried.
func TestHeadlineWithoutChoice(t *testing.T) {
	page := func(recommended string, methods ...string) *Page {
		f := &runs.Finished{Result: runs.Result{Recommended: recommended}}
		for _, m := range methods {
			f.Result.Methods = append(f.Result.Methods, runs.MethodResult{Method: m})
			f.Epochs = append(f.Epochs, pipeline.Epoch{Method: m})
		}
		f.Result.Sources = []runs.SourceResult{{Source: "fog_2", Share: 1}}
		return RunPage(f, Command{})
	}
	const did, tried, next = "did not help here", "was not tried", "the next labels would go to"
	for _, test := range []struct {
		recommended, says, not string
		methods                []string
	}{
		{"", tried, did, []string{pipeline.Uniform}},
		{pipeline.Pooled, tried, did, []string{pipeline.Uniform, pipeline.Pooled}},
		{pipeline.Uniform, did, tried, []string{pipeline.Active, pipeline.Uniform}},
		{pipeline.Uniform, next, tried, []string{pipeline.Known, pipeline.Uniform}},
		{"", "Label next: fog_2", next, []string{pipeline.Known}},
		{pipeline.Trees, "Label next: fog_2", next, []string{pipeline.Active, pipeline.Trees}},
		{pipeline.Trees, "Is a linear model, averaged with trees where these help, better than boosted trees on the same rows?", next,
			[]string{pipeline.Active, pipeline.Trees}},
		{pipeline.Trees, "a sum of trees on the rows that uniform drew: trees follow jumps", did, []string{pipeline.Uniform, pipeline.Trees}},
		{pipeline.Kernel, "Label next: fog_2", next, []string{pipeline.Active, pipeline.Kernel}},
		{pipeline.Kernel, "averaged with a kernel regression where that helps, better than a kernel regression on the same rows?", next,
			[]string{pipeline.Active, pipeline.Kernel}},
		{pipeline.Kernel, "a kernel regression on rows that uniform drew: a Gaussian kernel predicts by", did,
			[]string{pipeline.Uniform, pipeline.Kernel}},
	} {
		text := page(test.recommended, test.methods...).Markdown()
		must.Hold(t, strings.Contains(text, test.says) && !strings.Contains(text, test.not), "%v: %.400s", test.methods, text)
	}
}

// The headline of a study names the sources that most rows of the ask after its last round are of, not those of the largest shares.
func TestHeadlineOfStudy(t *testing.T) {
	f := &runs.Finished{Result: runs.Result{Methods: []runs.MethodResult{{Method: pipeline.Active}}}, Sources: []string{"a", "b", "c"},
		Epochs: []pipeline.Epoch{{Method: pipeline.Active, Samples: 9, Nu: []float64{1, 1, 1}, Counts: []int{3, 3, 3}}}}
	f.Result.Sources = []runs.SourceResult{{Source: "a", Share: 0.6, Samples: 3}, {Source: "b", Share: 0.3, Samples: 3, Next: 10},
		{Source: "c", Share: 0.1, Samples: 3, Next: 30}}
	text := func() string { return RunPage(f, Command{}).Markdown() }
	has(t, text(), "Label next: c (75.0 %), b (25.0 %) of the 40 rows of an ask after round 1", "| rows of the next ask |")
	for i := range f.Result.Sources {
		f.Result.Sources[i].Next = 7
	}
	has(t, text(), "Spread the next labels evenly: the sources are about equally relevant")
	for i := range f.Result.Sources {
		f.Result.Sources[i].Next = 0
	}
	has(t, text(), "Label next: a (60.0 %), b (30.0 %), c (10.0 %)**")
}

// A curve begins anew where the rounds before were measured on other rows, and only what came since is continued.
func TestPageOfOtherRows(t *testing.T) {
	f := &runs.Finished{Result: runs.Result{Methods: []runs.MethodResult{{Method: pipeline.Active, Epochs: 5}}}}
	for i := range 5 {
		f.Epochs = append(f.Epochs, pipeline.Epoch{Method: pipeline.Active})
		q := runs.RoundResult{Samples: i + 1, Cost: float64(i + 1), Value: 1 / float64(i+1), Rows: 60}
		if i > 2 {
			q.Rows = 0
		}
		f.Result.Methods[0].Rounds = append(f.Result.Methods[0].Rounds, q)
	}
	const says = "Some rounds were measured on other rows of the target than the last"
	text := RunPage(f, Command{}).Markdown()
	has(t, text, says, "| active, on 60 rows | 3 |", "| active | 4 |")
	must.Hold(t, !strings.Contains(text, "extrapolated"), "two rounds are continued: %.3000s", text)
	for i := range 5 {
		f.Result.Methods[0].Rounds[i].Rows = 0
	}
	text = RunPage(f, Command{}).Markdown()
	has(t, text, "| active | 3 |", "extrapolated")
	must.Hold(t, !strings.Contains(text, says), "all rounds have the same rows: %.3000s", text)
}

// The page has the numbers that decided which method was chosen, in the reason and in the table of the methods.
func TestPageSaysWhatDecided(t *testing.T) {
	for _, test := range []struct {
		recommended    string
		by             runs.Criterion
		left           float64 // mean squared error of target; that of uniform is 0.125
		uniform, other float64 // log-losses, 0 for labels that are numbers
		says           []string
	}{
		{pipeline.Pooled, runs.BySquares, 0.25, 39.14, 22.16, []string{"log-loss of their labels, 22.16, decided",
			"squared error chooses is more than 3 above it"}},
		{pipeline.Uniform, runs.BySquares, 0.25, 22.16, 21.5, []string{"mean squared error, 0.125, is the least of all methods but pooled",
			"log-loss of their labels, 22.16", "its own is 21.5"}},
		{pipeline.Uniform, runs.BySquares, 0.25, 0, 0, []string{"mean squared error, 0.125, is the least of all methods."}},
		{pipeline.Uniform, runs.BySquares, 0.1249, 0, 0, []string{"mean squared error, 0.125, is the first method's",
			"That of target, 0.1249, is better by too little"}},
		{pipeline.Pooled, runs.ByLogLoss, 0.25, 39.14, 22.16, []string{"log-loss of the labels, 22.16, is the least of all methods."}},
		{pipeline.Uniform, runs.ByLogLoss, 0.25, 22.16, 21.5, []string{"log-loss of the labels, 22.16, is the first method's",
			"That of pooled, 21.5, is better by too little"}},
	} {
		f := &runs.Finished{Result: runs.Result{Recommended: test.recommended, Criterion: test.by, Reason: "mean squared error"}}
		f.Result.Methods = []runs.MethodResult{{Method: pipeline.Uniform, LeaveOneOut: 0.125, LogLoss: test.uniform},
			{Method: pipeline.Pooled, LeaveOneOut: 0.25, LogLoss: test.other},
			{Method: pipeline.Target, LeaveOneOut: test.left, LogLoss: 2 * test.uniform}}
		for _, m := range f.Result.Methods {
			f.Epochs = append(f.Epochs, pipeline.Epoch{Method: m.Method})
		}
		text := RunPage(f, Command{}).Markdown()
		for _, says := range append(test.says, map[bool]string{true: "| log-loss |"}[test.other > 0]) {
			must.Hold(t, strings.Contains(text, says), "%s: %q is not in %.3000s", test.recommended, says, text)
		}
		must.Hold(t, strings.Contains(text, "log-loss") == (test.other > 0), "%.3000s", text)
	}
}

// The page says how much of the predictions trees have, and how linear models and trees compare.
func TestPageOfTrees(t *testing.T) {
	for _, test := range []struct {
		recommended string
		parts       []float64
		says        string
	}{
		{pipeline.Trees, nil, "The model is a sum of trees on the rows that active drew: trees follow jumps"},
		{pipeline.Active, []float64{0.25}, "Trees have a part of 25.0 % in its predictions: trees follow jumps"},
		{pipeline.Active, []float64{0.5, 0}, "Trees have a part of 0.0 % to 50.0 %, by column, in its predictions: trees follow jumps"},
		{pipeline.Active, nil, ""}, {pipeline.Active, []float64{}, ""},
	} {
		f := &runs.Finished{Result: runs.Result{Recommended: test.recommended, Criterion: runs.ByLogLoss, Reason: "log-loss"}}
		f.Result.Methods = []runs.MethodResult{{Method: pipeline.Active, LogLoss: 30, Trees: test.parts}, {Method: pipeline.Trees, LogLoss: 26}}
		for _, m := range f.Result.Methods {
			f.Epochs = append(f.Epochs, pipeline.Epoch{Method: m.Method})
		}
		text := RunPage(f, Command{}).Markdown()
		must.Hold(t, strings.Contains(text, test.says) && strings.Contains(text, "better than boosted trees on the same rows?"),
			"%q is not in %.3000s", test.says, text)
		must.Equal(t, strings.Contains(text, "trees follow jumps"), test.says != "", "a line on trees")
	}
}

// The page says how much of the predictions a kernel has.
func TestPageOfKernel(t *testing.T) {
	f := &runs.Finished{Result: runs.Result{Recommended: pipeline.Active, Criterion: runs.ByLogLoss, Reason: "log-loss"}}
	f.Result.Methods = []runs.MethodResult{{Method: pipeline.Active, LogLoss: 30, Kernel: []float64{0.5, 0.25}}, {Method: pipeline.Kernel}}
	for _, m := range f.Result.Methods {
		f.Epochs = append(f.Epochs, pipeline.Epoch{Method: m.Method})
	}
	text := RunPage(f, Command{}).Markdown()
	const says = "A kernel regression has a part of 25.0 % to 50.0 %, by column, in its predictions: a Gaussian kernel predicts by"
	must.Hold(t, strings.Contains(text, says), "%q is not in %.3000s", says, text)
}
