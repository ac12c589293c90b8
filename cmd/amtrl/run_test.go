package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// A budget that is more than all rows cost is said to be, and one that draws nothing with many epochs what to change.
func TestBudgetBeyondAllRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"run", "--digits", "60", "--target-samples", "20", "--floor", "2", "--dry-run", "--budget"}
	const more = "all rows of the sources together cost "
	succeed(t, dir, append(args, "1e7")...).Complains(t, 0, more, "a budget of 10,000,000 buys no more")
	few := succeed(t, dir, append(args, "700")...)
	must.Hold(t, !strings.Contains(few.Stderr, more), "a budget that can be spent: %s", few.Stderr)
	none := []string{"run", "--digits", "60", "--target-samples", "20", "--budget", "700", "--floor", "0", "--epochs", "900", "--out", "none"}
	amtrl(t, dir, none...).Complains(t, 1, "raise the budget or the floor, or have fewer epochs than 900")
}

// What is left of a budget since relevance gives it all to sources without more rows is said, and only then.
func TestBudgetLeft(t *testing.T) {
	t.Parallel()
	dir, rng := t.TempDir(), testrand.New(t)
	var table strings.Builder
	table.WriteString("site,a,b,y\n")
	for site, n := range map[string]int{"like": 30, "other": 300, "third": 300, "mine": 40} {
		for range n {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			y := 3 * a
			if site == "other" || site == "third" {
				y = rng.NormFloat64()
			}
			fmt.Fprintf(&table, "%s,%g,%g,%g\n", site, a, b, y+0.1*rng.NormFloat64())
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(table.String()), 0o644))
	succeed(t, dir, "data", "init", "rows.csv", "--label", "y", "--target", "mine")
	args := []string{"run", "--data", "dataset.yaml", "--methods", "active", "--relevance", "l1", "--l1", "0.9", "--mix"}
	left := succeed(t, dir, append(args, "0", "--floor", "15", "--budget", "300")...)
	left.Complains(t, 0, "active spent ", " of 300: sources that relevance")
	all := succeed(t, dir, append(args, "0.1", "--floor", "15", "--budget", "300")...)
	must.Hold(t, !strings.Contains(all.Stderr, "active spent"), "of a budget that is spent: %s", all.Stderr)
}

// An empty head loss, as labels that are numbers have it, is least squares, and said to be.
func TestEmptyHeadLossIsSquared(t *testing.T) {
	t.Parallel()
	plan := succeed(t, t.TempDir(), "run", "--data", "synthetic:sparse", "--rows", "900", "--sources", "6", "--floor", "5", "--dry-run")
	fields := strings.Fields(plan.Stdout)
	if got := fields[slices.Index(fields, "head-loss")+1]; got != pipeline.LossSquared {
		t.Errorf("the head loss is %s, expected %s", got, pipeline.LossSquared)
	}
	succeed(t, t.TempDir(), "help", "run").Prints(t, 0, "logistic in preset default, squared in preset paper")
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := succeed(t, dir, tiny("run", "--top", "4")...)
	first.Prints(t, 0, "target glass_blur_2 of embedded digits, seed 0", "active ", "uniform ",
		"the 4 most relevant of 159 sources")
	if n := strings.Count(first.Stderr, "iterations"); n != 6 {
		t.Errorf("expected a line for each of 6 epochs, found %d:\n%s", n, first.Stderr)
	}
	_, run, ok := strings.Cut(first.Stdout, "run folder: ")
	if !ok {
		t.Fatalf("the run folder is not named:\n%s", first.Stdout)
	}
	run, _, _ = strings.Cut(run, "\n")
	run = filepath.Join(dir, run)
	for _, name := range []string{
		"config.json", "epochs.jsonl", "timing.jsonl", "relevance.csv", "rows.csv", "model.safetensors", "result.json",
	} {
		must.Do(t, must.Err(os.Stat(filepath.Join(run, name))))
	}

	again := succeed(t, dir, tiny("run", "--top", "4")...)
	if again.Stdout != first.Stdout || !strings.Contains(again.Stderr, "already complete") {
		t.Errorf("a complete folder is not shown as such:\n%s%s", again.Stdout, again.Stderr)
	}

	js := succeed(t, dir, tiny("run", "--json", "--quiet")...)
	res := amtrltest.JSON[runs.Result](t, js)
	if len(res.Methods) != 4 || len(res.Sources) != 159 || res.Target != "glass_blur_2" || js.Stderr != "" {
		t.Errorf("unexpected result of %d methods and %d sources for %s; standard error %q", len(res.Methods),
			len(res.Sources), res.Target, js.Stderr)
	}

	amtrl(t, dir, tiny("run", "--format", "markdown")...).Prints(t, 0, "| method | error |")
}

// One seed gives the same bytes, another seed others, and neither threads nor the way a setting is given matters.
func TestRunIsReproducible(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, tiny("run", "--out", "a", "--seed", "7", "--threads", "1")...)
	succeed(t, dir, tiny("run", "--out", "b", "--seed", "7", "--threads", "3")...)
	foldertest.Same(t, filepath.Join(dir, "b"), filepath.Join(dir, "a"))

	under(t, dir, []string{"AMTRL_SEED=7"}, tiny("run", "--out", "c")...).Prints(t, 0)
	foldertest.Same(t, filepath.Join(dir, "c"), filepath.Join(dir, "a"))

	succeed(t, dir, tiny("run", "--out", "d", "--seed", "8")...)
	if foldertest.Read(t, filepath.Join(dir, "d"))["model.safetensors"] == foldertest.Read(t, filepath.Join(dir, "a"))["model.safetensors"] {
		t.Error("two seeds give one model")
	}
}

// A folder of other work is refused, by --dry-run too; a sweep may add seeds to its own.
func TestRunRefusesAnotherFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sweep := func(more ...string) []string {
		return tiny("sweep", append([]string{"--targets", "fog_1", "--out", "s"}, more...)...)
	}
	succeed(t, dir, tiny("run", "--out", "a")...)
	succeed(t, dir, sweep()...)
	before := foldertest.Read(t, dir)
	for _, more := range [][]string{{}, {"--dry-run"}} {
		amtrl(t, dir, tiny("run", append(more, "--out", "a", "--seed", "1")...)...).Complains(t, 1, "config.seed is 0 there and 1 here")
		amtrl(t, dir, sweep(append(more, "--k", "7")...)...).Complains(t, 1, "config.k is", "use another folder")
	}
	amtrl(t, dir, tiny("run", "--out", "a/config.json/b", "--dry-run")...).Complains(t, 1, "a/config.json", "expected a folder, found a file")
	succeed(t, dir, tiny("run", "--out", "a", "--dry-run")...)
	succeed(t, dir, sweep("--seeds", "0-1", "--dry-run")...)
	foldertest.Equal(t, "after refusals", foldertest.Read(t, dir), before)
}

func TestSettingsArriveInTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	costs := filepath.Join(dir, "costs.csv")
	must.Do(t, os.WriteFile(costs, []byte("source,cost\nfog_1,2.5\n"), 0o644))
	nu := filepath.Join(dir, "nu.csv")
	must.Do(t, os.WriteFile(nu, []byte("source,nu\nfog_1,0.5\n"), 0o644))
	args := []string{"run", "--digits", "700", "--dry-run", "--json", "--preset", "paper", "--methods", "active, known", "--k", "7",
		"--target-samples", "11", "--include-target", "--seed", "5", "--epochs", "3", "--warm-start", "--ridge", "2",
		"--head-rcond", "0.01", "--relevance", "l1", "--l1", "0.5"}
	erm := []string{"--lambda", "0.125", "--iterations", "9", "--tolerance", "0.5", "--history", "4", "--init", "moments",
		"--intercept", "--scaling", "none", "--prior", "sources"}
	plan := func(more ...string) dryRunResult {
		t.Helper()
		return amtrltest.JSON[dryRunResult](t, succeed(t, dir, slices.Concat(args, more)...))
	}
	// The theory schedule allows no other allocation and no costs.
	theory := plan(append(erm, "--sources", "pools", "--schedule", "theory", "--delta", "0.2", "--r", "2",
		"--sigma-min", "0.5", "--beta", "3")...)
	paper := plan(append(erm, "--allocation", "l1", "--mix", "0.25", "--costs", costs, "--nu", nu)...)
	conv := plan("--prior", "residual", "--head-loss", "logistic",
		"--allocation", "l1", "--mix", "0.25", "--costs", costs, "--representation", "conv", "--channels", "4, 5", "--passes", "3",
		"--digits", "700", "--nu", nu, "--batch", "17", "--rate", "0.25", "--decay", "0.5", "--validation", "0.125", "--patience", "2")
	want := pipeline.Config{
		Preset: "paper", Methods: []string{"active", "known"}, Representation: "linear", K: 7, TargetSamples: 11, IncludeTarget: true,
		Intercept: true, Scaling: "none", Seed: 5,
		Schedule:   pipeline.Schedule{Kind: "paper", Epochs: 3, Floor: 50},
		Allocation: pipeline.Allocation{Rule: "l1", Mix: 0.25},
		ERM:        pipeline.ERM{Lambda: 0.125, Iterations: 9, Tolerance: 0.5, History: 4, Init: "moments", WarmStart: true},
		Head:       pipeline.Head{Ridge: 2, Prior: "sources", Rcond: 0.01},
		Relevance:  pipeline.Relevance{Kind: "l1", Rcond: -1, Lambda: 0.5},
		Costs:      map[string]float64{"fog_1": 2.5}, Nu: map[string]float64{"fog_1": 0.5},
	}
	inTheory := want
	inTheory.Schedule.Kind, inTheory.Schedule.Theory = "theory", &pipeline.Theory{Delta: 0.2, R: 2, SigmaMin: 0.5, Beta: 3}
	inTheory.Sources = "pools"
	inTheory.Allocation, inTheory.Costs, inTheory.Nu = pipeline.Allocation{Rule: "squared"}, nil, nil

	inConv := want
	inConv.Representation, inConv.Intercept, inConv.Scaling, inConv.ERM = "conv", false, "", pipeline.ERM{}
	inConv.Head.Prior, inConv.Head.Loss = "residual", "logistic"
	inConv.Nu = map[string]float64{"fog_1": 0.5}
	inConv.Conv = &pipeline.Conv{Channels: []int{4, 5}, Passes: 3, Batch: 17, Rate: 0.25, Decay: 0.5, Validation: 0.125,
		Patience: 2, WarmStart: true}

	// A new setting has to get a flag and come here.
	set := map[string]bool{}
	for _, cfg := range []pipeline.Config{want, inTheory, inConv} {
		for name, v := range leaves("", reflect.ValueOf(cfg)) {
			set[name] = set[name] || v.IsValid() && !v.IsZero()
		}
	}
	for name := range set {
		if !set[name] && !slices.Contains([]string{".Schedule.Budget", ".Schedule.Theory", ".Conv", ".Relevance.Tau"}, name) {
			t.Errorf("%s is not set here", name)
		}
	}
	for _, pair := range []struct {
		got  dryRunResult
		want pipeline.Config
	}{{paper, want}, {theory, inTheory}, {conv, inConv}} {
		got := must.Get(json.Marshal(pair.got.Identity.Config))(t)
		if expected, _ := json.Marshal(pair.want); string(got) != string(expected) {
			t.Errorf("got  %s\nwant %s", got, expected)
		}
	}
	if p := theory.Plans; len(p) != 1 || len(p[0].Epochs) != 3 || p[0].Epochs[0].Beta != 3 || p[0].Epochs[2].Epsilon != 0.125 {
		t.Errorf("unexpected plan %+v", p)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("a dry run left %v", entries)
	}

	// Without flags the configuration is the preset's, for tasks, pixels are measured in one unit, and no costs enter the allocation.
	for _, preset := range pipeline.Presets() {
		res := amtrltest.JSON[dryRunResult](t, succeed(t, dir, "run", "--digits", "700", "--dry-run", "--json", "--preset", preset))
		want := must.Get(pipeline.NewConfig(preset))(t)
		want.Scaling, want.Allocation.Rule = pipeline.ScalingGlobal, pipeline.RuleSquared
		if want.Relevance.Kind == pipeline.RelevanceAuto {
			want.Relevance.Kind = pipeline.Ridge // of tasks
		}
		got, _ := json.Marshal(res.Identity.Config)
		if expected, _ := json.Marshal(want.Complete(nil).Canonical()); string(got) != string(expected) {
			t.Errorf("preset %s: got  %s\nwant %s", preset, got, expected)
		}
	}
}

// A network that the data cannot train is refused in one line, and no folder is left.
func TestConvRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--digits 60 --target-samples 20 --channels 2 --k 400":      "k is 400, expected at most the 392 outputs of the last convolution",
		"--digits 60 --target-samples 20 --batch 9000 --k 5":        "a batch of 9000, expected at most the",
		"--digits 60 --target-samples 20 --channels 2,2,2,2,2":      "5 layers, expected 1 to 4",
		"--data synthetic:random --target-samples 20 --rows 2000":   "comes from a linear model",
		"--digits 60 --target-samples 20 --rate 1e30 --batch 16":    "lower the rate",
		"--digits 60 --target-samples 20 --channels 2000 --batch 8": "2000 channels, expected 1 to 1024",
	} {
		dir := t.TempDir()
		command := append([]string{"run", "--representation", "conv", "--floor", "3", "--quiet"}, strings.Fields(args)...)
		for _, command := range [][]string{command, append(command, "--dry-run")} {
			if slices.Contains(command, "--dry-run") && strings.Contains(want, "rate") {
				continue // which training alone finds
			}
			o := amtrl(t, dir, command...)
			if o.Code == 0 || o.Stdout != "" || !strings.Contains(o.Stderr, want) || strings.Count(strings.TrimSpace(o.Stderr), "\n") > 1 {
				t.Errorf("%v: exit code %d: %s%s", command, o.Code, o.Stdout, o.Stderr)
			}
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 && !strings.Contains(want, "rate") {
			t.Errorf("%s: it left %v", args, entries)
		}
	}
}

// leaves lists the fields of nested structs.
func leaves(path string, v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		v := reflect.Indirect(v)
		if v.Kind() != reflect.Struct {
			yield(path, v)
			return
		}
		for i := range v.NumField() {
			for name, leaf := range leaves(path+"."+v.Type().Field(i).Name, v.Field(i)) {
				if !yield(name, leaf) {
					return
				}
			}
		}
	}
}

func TestRunOnSyntheticData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"run", "--data", "synthetic:sparse", "--dim", "12", "--rank", "3", "--sources", "8", "--rows", "4000",
		"--budget", "4000", "--floor", "10", "--target-samples", "200", "--methods", "active,uniform,known", "--json"}
	res := amtrltest.JSON[runs.Result](t, succeed(t, dir, args...))
	if res.Target != "target" || res.Sources[0].Source != "source_7" || len(res.Methods) != 3 {
		t.Errorf("target %s, first source %s, %d methods", res.Target, res.Sources[0].Source, len(res.Methods))
	}
	if a, u := res.Method("active").Score, res.Method("uniform").Score; a.Metric != pipeline.MetricExcess || a.Value >= u.Value {
		t.Errorf("active %v is no better than uniform %v", a, u)
	}
	amtrl(t, dir, append(args, "--evaluate", "validation")...).ComplainsOnce(t, 1)
}

// Costs change what a budget buys, and validation rows what is measured.
func TestCostsAndValidation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("cost,source\n")
	for _, class := range "0123456789" {
		text.WriteString("4,fog_" + string(class) + "\n")
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "costs.csv"), []byte(text.String()), 0o644))
	o := succeed(t, dir, tiny("run", "--budget", "2000", "--costs", "costs.csv", "--methods", "uniform", "--evaluate", "validation")...)
	o.Prints(t, 0, "cost", "embedded digits (validation rows)")
}

func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := tiny("sweep", "--targets", "fog_[12],zigzag_3", "--seeds", "0-1", "--budgets", "1000,2000", "--risk", "0.1")
	o := succeed(t, dir, args...)
	o.Prints(t, 0, "means over targets and seeds", "active over uniform", "of 3",
		"source samples needed for a mean error of 10.00 %", "sweep folder: amtrl-sweeps")
	if lines(o.Stderr) != 13 {
		t.Errorf("expected the backend and 12 units on standard error:\n%s", o.Stderr)
	}
	again := succeed(t, dir, append(args, "--json")...)
	again.Complains(t, 0, "already complete")
	res := amtrltest.JSON[sweepResult](t, again)
	if len(res.Methods) != 10 || len(res.Comparisons) != 8 || res.Comparisons[1].Targets != 3 || len(res.Needed) != 3 {
		t.Errorf("unexpected summary %s", again.Stdout)
	}
}

// The number of jobs and of threads does not reach the files.
func TestSweepJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := tiny("sweep", "--targets", "fog_*", "--quiet", "--budgets", "1000")
	succeed(t, dir, append(args, "--out", "a", "--jobs", "1", "--threads", "2")...)
	succeed(t, dir, append(args, "--out", "b", "--jobs", "4")...)
	foldertest.Same(t, filepath.Join(dir, "b"), filepath.Join(dir, "a"))
}
