package main

import (
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// An empty head loss, which labels that are numbers have, means least squares, and is printed as squared.
func TestEmptyHeadLossIsSquared(t *testing.T) {
	t.Parallel()
	plan := succeed(t, t.TempDir(), "run", "--data", "synthetic:sparse", "--rows", "900", "--sources", "6", "--floor", "5", "--dry-run")
	fields := strings.Fields(plan.Stdout)
	if got := fields[slices.Index(fields, "head-loss")+1]; got != pipeline.LossSquared {
		t.Errorf("the head loss is %s, expected %s", got, pipeline.LossSquared)
	}
	succeed(t, t.TempDir(), "help", "run").Prints(t, 0, "logistic in preset default, squared in preset paper")
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
		"--relevance", "l1", "--l1", "0.5"}
	erm := []string{"--lambda", "0.125", "--iterations", "9", "--tolerance", "0.5", "--history", "4", "--init", "moments",
		"--intercept", "--scaling", "none", "--centring", "source", "--prior", "sources", "--head-rcond", "0.01"}
	plan := func(more ...string) dryRunResult {
		t.Helper()
		return amtrltest.JSON[dryRunResult](t, succeed(t, dir, slices.Concat(args, more)...))
	}
	// The theory schedule allows neither another allocation nor costs. Its plan is shown where a run would be refused, too.
	refused := amtrl(t, dir, slices.Concat(args, erm, []string{"--sources", "pools", "--schedule", "theory", "--delta", "0.2", "--r", "2",
		"--sigma-min", "0.5", "--beta", "3"})...)
	said := strings.HasPrefix(lastLine(refused.Stderr), "amtrl: a run would be refused: method known")
	must.Hold(t, refused.Code == 1 && said, "exit code %d: %s", refused.Code, refused.Stderr)
	theory := amtrltest.JSON[dryRunResult](t, refused)
	paper := plan(append(erm, "--allocation", "l1", "--mix", "0.25", "--costs", costs, "--nu", nu)...)
	conv := plan("--prior", "residual", "--head-loss", "logistic",
		"--allocation", "l1", "--mix", "0.25", "--costs", costs, "--representation", "conv", "--channels", "4, 5", "--passes", "3",
		"--digits", "700", "--nu", nu, "--batch", "17", "--rate", "0.25", "--decay", "0.5", "--validation", "0.125", "--patience", "2")
	want := pipeline.Config{
		Preset: "paper", Methods: []string{"active", "known"}, Representation: "linear", K: 7, TargetSamples: 11, IncludeTarget: true,
		Intercept: true, Scaling: "none", Centring: "source", Seed: 5,
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
	inConv.Representation, inConv.Intercept, inConv.Scaling, inConv.Centring, inConv.ERM = "conv", false, "", "", pipeline.ERM{}
	inConv.Head.Prior, inConv.Head.Loss, inConv.Head.Rcond = "residual", "logistic", -1
	inConv.Nu = map[string]float64{"fog_1": 0.5}
	inConv.Conv = &pipeline.Conv{Channels: []int{4, 5}, Passes: 3, Batch: 17, Rate: 0.25, Decay: 0.5, Validation: 0.125,
		Patience: 2, WarmStart: true}

	// A new setting needs a flag, and a value other than zero in this test.
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

	// Without flags the configuration is the preset's for tasks. The digits' pixels share one unit, and without costs
	// the allocation is squared.
	for _, preset := range pipeline.Presets() {
		res := amtrltest.JSON[dryRunResult](t, succeed(t, dir, "run", "--digits", "700", "--dry-run", "--json", "--preset", preset))
		want := must.Get(pipeline.NewConfig(preset))(t)
		want.Scaling, want.Centring, want.Allocation.Rule = pipeline.ScalingGlobal, pipeline.CentringGlobal, pipeline.RuleSquared
		if want.Relevance.Kind == pipeline.RelevanceAuto {
			want.Relevance.Kind = pipeline.Ridge // the choice for tasks
		}
		got, _ := json.Marshal(res.Identity.Config)
		if expected, _ := json.Marshal(want.Complete(nil).Canonical()); string(got) != string(expected) {
			t.Errorf("preset %s: got  %s\nwant %s", preset, got, expected)
		}
	}
}

// A network that cannot be trained on the data is refused in one line, and no folder is left.
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
				continue // only training finds this
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

// leaves yields the path and the value of every field that is no struct, within nested structs.
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
