package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// writeOrders writes orders of eight shops and a new one, of which one in nine or so came back.
func writeOrders(t *testing.T, dir string) {
	t.Helper()
	rng, like := rand.New(rand.NewPCG(1, 3)), [4]float64{1.2, -0.8, 0.6, 0}
	writeAround(t, filepath.Join(dir, "orders.csv"), "shop", "a,b,c,d,returned", like, rng, func(w [4]float64) (row string) {
		odds := -2.7
		for j := range w {
			z := rng.NormFloat64()
			odds += w[j] * z
			row += fmt.Sprintf("%.3f,", z)
		}
		if rng.Float64() < 1/(1+math.Exp(-odds)) {
			return row + "yes"
		}
		return row + "no"
	})
}

// Predictions of a class that few rows have, of which hardly any row is likely to be, are judged by their probabilities. With least
// squares, scores are no probabilities.
func TestOwnRisks(t *testing.T) {
	dir := ownFolder(t)
	writeOrders(t, dir)
	succeed(t, dir, "data", "init", "orders.csv", "--label", "returned", "--target", "new shop")
	succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "run", "--quiet")
	predict := func(run, method string) (*runs.Evaluation, string) {
		t.Helper()
		o := succeed(t, dir, "predict", run, "fresh.csv", "--method", method, "--out", run+"-"+method+".csv", "--json", "--quiet")
		compiler := jsonschema.NewCompiler()
		of := must.Get(compiler.Compile(filepath.Join(schemaFolder, "evaluation.json")))(t)
		var found []any
		must.Do(t, json.Unmarshal([]byte(o.Stdout), &found))
		must.Do(t, of.Validate(found[0]))
		return &amtrltest.JSON[[]runs.Evaluation](t, o)[0], o.Stdout
	}
	active, raw := predict("run", "active")
	constant, _ := predict("run", "constant")
	for _, name := range []string{"log_loss", "constant_log_loss", "brier", "constant_brier", "auc", "by_probability"} {
		must.Hold(t, strings.Contains(raw, `"`+name+`":`), "no %s in\n%s", name, raw)
	}
	t.Logf("active errs %.3g, constant %.3g: %+v, area %.3g", *active.Error, *constant.Error, *active.Probabilities, *active.AUC)
	must.Hold(t, *constant.Error < 0.2 && *active.Error > 0.8**constant.Error, "it errs %g, constant %g", *active.Error, *constant.Error)
	must.Hold(t, active.LogLoss < 0.9*active.ConstantLogLoss && active.Brier < active.ConstantBrier && *active.AUC > 0.7,
		"%+v", *active.Probabilities)
	must.Hold(t, *constant.AUC == 0.5 && constant.LogLoss > constant.ConstantLogLoss && constant.ConstantLogLoss == active.ConstantLogLoss,
		"%+v", *constant.Probabilities)
	first, last := active.Bins[0], active.Bins[9]
	must.Hold(t, last.To < 1 && max(first.Probability, first.Share) < 0.04 && min(last.Probability, last.Share) > 0.3, "%+v", active.Bins)
	must.Hold(t, len(constant.Bins) == 1 && constant.Bins[0].Rows == 1000, "%+v", constant.Bins)
	amtrl(t, dir, "predict", "run", "fresh.csv", "--out", "text.csv").Prints(t, 0, fmt.Sprintf(
		"\nlog-loss %.4f, Brier score %.4f (%.4f and %.4f if all rows had the shares of the classes), area under the ROC curve %.4f\n",
		active.LogLoss, active.Brier, active.ConstantLogLoss, active.ConstantBrier, *active.AUC), "calibration, by the probability of yes")
	own := must.Get(runs.ReadRun(filepath.Join(dir, "run")))(t).Evaluations[0]
	must.Hold(t, own.Rows == 60 && own.Probabilities != nil && len(own.Bins) == 10, "the run has %+v", own)
	succeed(t, dir, "report", "run", "--format", "markdown", "--out", "page.md", "--quiet")
	page := string(must.Get(os.ReadFile(filepath.Join(dir, "page.md")))(t))
	for _, part := range []string{"The area under the ROC curve is ", "is of the class yes.", "**Share of a class by its probability**"} {
		must.Hold(t, strings.Contains(page, part), "the page lacks %q", part)
	}
	succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "squares", "--quiet", "--head-loss", "squared", "--methods", "uniform")
	squares, raw := predict("squares", "uniform")
	must.Hold(t, squares.Probabilities == nil && !strings.Contains(raw, "log_loss"), "squares: %s", raw)
}
