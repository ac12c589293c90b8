package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// A run says if the budget exceeds the cost of all rows, and says what to change if no round draws a row.
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

// A run reports what is left of a budget if relevance gives all of it to sources without further rows, and only then.
func TestBudgetLeft(t *testing.T) {
	t.Parallel()
	dir, rng := t.TempDir(), testrand.New(t)
	var table strings.Builder
	table.WriteString("site,a,b,y\n")
	for site, n := range must.Ordered(map[string]int{"like": 30, "other": 300, "third": 300, "mine": 40}) {
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

	markdown := succeed(t, dir, tiny("run", "--format", "markdown")...)
	markdown.Prints(t, 0, "| method | error |", "\n- recommended, and saved: ", "\n\n- run folder: amtrl-runs/",
		"\n- to look at it: amtrl report ")
	for line := range strings.Lines(markdown.Stdout) {
		if line != "\n" && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "**") {
			t.Errorf("a line of neither a table nor a list: %s", line)
		}
	}
}

// The plan says what a run draws, and has no column without a number.
func TestPlanIsWhatIsDrawn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := tiny("run", "--budget", "1003", "--methods", "active", "--out", "run")
	_, plan, _ := strings.Cut(succeed(t, dir, append(args, "--dry-run")...).Stdout, "\nplan of schedule budget 1,003 ")
	succeed(t, dir, args...)
	want := []string{"epoch", "cost by its end", "floor of each source"}
	rows, drawn := strings.Split(strings.TrimSpace(plan), "\n")[1:], 0
	must.EqualSlices(t, regexp.MustCompile("  +").Split(rows[0], -1), want, "the header")
	for i, line := range strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(filepath.Join(dir, "run", "epochs.jsonl")))(t))), "\n") {
		var e pipeline.Epoch
		must.Do(t, json.Unmarshal([]byte(line), &e))
		must.EqualSlices(t, strings.Fields(rows[2+i]), []string{fmt.Sprint(i + 1), text.Count(e.Samples), "3"}, "an epoch")
		drawn = e.Samples
	}
	must.Equal(t, drawn, 1003, "the samples in all")
}

// The same seed gives the same bytes and another seed gives others. The number of threads and whether a flag or the
// environment sets the seed do not matter.
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

// A folder of other work is refused, also by --dry-run; seeds may be added to a sweep.
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

// Costs enter what a budget buys, and --evaluate validation measures on validation rows.
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

// The files do not depend on the numbers of jobs and threads.
func TestSweepJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	targets := "fog_*"
	if !testing.Verbose() {
		targets = "fog_[0-4]"
	}
	args := tiny("sweep", "--targets", targets, "--quiet", "--budgets", "1000")
	succeed(t, dir, append(args, "--out", "a", "--jobs", "1", "--threads", "2")...)
	succeed(t, dir, append(args, "--out", "b", "--jobs", "4")...)
	foldertest.Same(t, filepath.Join(dir, "b"), filepath.Join(dir, "a"))
}
