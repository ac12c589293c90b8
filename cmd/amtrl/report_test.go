package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// A run prints the command that makes its page, and that command works in each format.
func TestReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := succeed(t, dir, tiny("run", "--out", "a run")...)
	out.Prints(t, 0, "to look at it: amtrl report 'a run'\n")
	succeed(t, dir, "report", "a run")
	page := string(must.Get(os.ReadFile(filepath.Join(dir, "a run", "report.html")))(t))
	if !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.Contains(page, "glass_blur_2") {
		t.Errorf("the page is %.200s", page)
	}
	succeed(t, dir, "report", "--out", "x.html", "a run")
	if other := string(must.Get(os.ReadFile(filepath.Join(dir, "x.html")))(t)); other != page {
		t.Error("--out gives another page")
	}
	amtrl(t, dir, tiny("run", "--out", "a run")...).Complains(t, 0, "already complete")

	amtrl(t, dir, "report", "a run", "--format", "markdown").Prints(t, 0, "# glass_blur", "**Share of the next budget**", "| source |")
	amtrl(t, dir, "report", "a run", "--format", "csv").Prints(t, 0, "table,row,column,value\n", "shares-table,1,source,")
	js := succeed(t, dir, "report", "a run", "--format", "json", "--figures", "figures")
	v := amtrltest.JSON[struct{ Kind, Title, Headline string }](t, js)
	if v.Kind != "run" || v.Title != "glass_blur_2" || v.Headline == "" {
		t.Errorf("%+v", v)
	}
	for _, name := range []string{"spend.svg", "spend.csv", "shares.svg", "shares.csv", "labels.svg", "ranks.csv"} {
		must.Do(t, must.Err(os.Stat(filepath.Join(dir, "figures", name))))
	}

	amtrl(t, dir, "report").Complains(t, 2, "expected one argument")
	amtrl(t, dir, "report", "a run", "--format", "pdf").Complains(t, 2, "pdf")
	amtrl(t, dir, "report", "figures").Complains(t, 1, "expected the folder of a finished run")
}

// The command that a report names as repeating the work finds it complete.
func TestReportRepeats(t *testing.T) {
	rng := testrand.New(t)
	dir := newCampaign(t, rng, false, func(string, int) bool { return true }).dir
	must.Do(t, os.WriteFile(filepath.Join(dir, "some costs.csv"), []byte("source,cost\nfog_2,3\nscale_2,0.5\n"), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "nu.csv"), []byte("source,nu\nsource_1,0.5\n"), 0o644))
	synthetic := []string{"--data", "synthetic:sparse", "--dim", "8", "--rank", "3", "--sigma", "0.5", "--rows", "400", "--sources", "6",
		"--target-samples", "40", "--floor", "5", "--iterations", "15", "--data-seed", "3"}
	commands := map[string][]string{
		"b": tiny("run", "--target", "fog_6", "--seed", "7", "--preset", "paper", "--relevance", "l1", "--mix", "0.25"),
		"c": tiny("run", "--sources", "pools", "--methods", "active,uniform", "--data-seed", "2"),
		"e": tiny("run", "--budget", "900", "--costs", "some costs.csv", "--evaluate", "validation"),
		"f": append([]string{"run", "--budget", "200", "--k", "50", "--nu", "nu.csv", "--methods", "active,known"}, synthetic...),
		"g": append([]string{"sweep", "--budgets", "100,200", "--targets", "target"}, synthetic...),
		"j": {"run", "--digits", "200", "--target-samples", "60", "--k", "6", "--iterations", "9", "--floor", "3", "--budget", "900",
			"--epochs", "4"},
		"h": {"run", "--data", "full.yaml", "--floor", "30", "--iterations", "10"},
		"i": {"sweep", "--data", "full.yaml", "--iterations", "10", "--methods", "active"},
	}
	for _, out := range must.Some(rng, 3, slices.Sorted(maps.Keys(commands))...) {
		succeed(t, dir, append(commands[out], "--out", out)...)
		page := succeed(t, dir, "report", out, "--format", "json")
		v := amtrltest.JSON[struct{ Tables []struct{ Rows [][]any } }](t, page)
		command := ""
		for _, table := range v.Tables {
			for _, row := range table.Rows {
				switch row[0] {
				case "command that repeats it":
					command = row[1].(string)
				case "what the command lacks":
					t.Errorf("%s: %s", out, row[1])
				}
			}
		}
		words := shellWords(command)
		if len(words) < 3 || words[0] != "amtrl" {
			t.Fatalf("%s: the command is %q", out, command)
		}
		if o := amtrl(t, dir, append(words[1:], "--out", out)...); o.Code != 0 || !strings.Contains(o.Stderr, "already complete") {
			t.Errorf("%s: %s: exit code %d, expected the work to be complete:\n%s", out, command, o.Code, o.Stderr)
		}
	}
}

// shellWords splits a command into words. Single quotes must not be nested.
func shellWords(command string) (words []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// The command that repeats a run lacks the data if the run recorded no flags, or flags that no command of this program
// writes.
func TestReportNamesWhatItLacks(t *testing.T) {
	id := runs.Identity{Targets: []string{"a"}, Seeds: []uint64{1}, Config: must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)}
	id.Data.Name = "reviews (validation rows)"
	for _, words := range [][]string{nil, {"--out=/etc/passwd", "data", "--", "-q"}} {
		c := repeatCommand("run", &id, words)
		if !strings.Contains(c.Line, " --data DATA ") || strings.Contains(c.Line, "passwd") ||
			!strings.Contains(c.Lacks, `"reviews (validation rows)"`) {
			t.Errorf("%q: %+v", words, c)
		}
	}
	if c := repeatCommand("run", &id, []string{"--data=reviews"}); !strings.Contains(c.Line, " --data=reviews ") || c.Lacks != "" {
		t.Errorf("%+v", c)
	}
}

// A study has a page from its first round on, which shows what the rounds found.
func TestReportStudy(t *testing.T) {
	c := newCampaign(t, testrand.New(t), false, func(source string, i int) bool { return source == "zoo" && i < 20 })
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--k", "3", "--floor", "2", "--epochs", "3", "--budget", "120")
	amtrl(t, c.dir, "report", "S").Complains(t, 1, "has learned nothing yet")
	for round := range 3 {
		ask := fmt.Sprintf("ask%d.csv", round)
		succeed(t, c.dir, "study", "ask", "S", "--out", ask)
		succeed(t, c.dir, "study", "tell", "S", c.answer(t, "answers.csv", ids(c.read(t, ask))...))
		succeed(t, c.dir, "study", "fit", "S")
	}
	succeed(t, c.dir, "report", "S", "--figures", "figures")
	page := string(must.Get(os.ReadFile(filepath.Join(c.dir, "S", "report.html")))(t))
	for _, want := range []string{"amtrl study", "This is a study: ", "Share of the cost of all rows", "rows of the next ask", "zoo"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the study lacks %q", want)
		}
	}
	labels := readTable(t, filepath.Join(c.dir, "figures", "labels.csv"))
	status := amtrltest.JSON[study.Status](t, succeed(t, c.dir, "study", "status", "S", "--json"))
	for _, src := range status.Sources {
		for _, row := range labels[1:] {
			if row[0] == src.Source && row[len(row)-3] != fmt.Sprint(src.Answered+src.Known) {
				t.Errorf("%s: the page has %v, the study %+v", src.Source, row, src)
			}
		}
	}
	succeed(t, c.dir, "study", "verify", "S")
	if dir := os.Getenv("AMTRL_REPORT_SHOTS"); dir != "" {
		must.Do(t, os.WriteFile(filepath.Join(dir, "study.html"), []byte(page), 0o644))
	}
}

// The figures of the README equal those of the run that make figures carries out.
func TestReadmeFigures(t *testing.T) {
	t.Parallel()
	switch {
	case testing.Short():
		t.Skip("a run of some seconds")
	case runtime.GOARCH != "amd64":
		t.Skip("floating-point arithmetic is fused here: the bytes of the run are others")
	}
	makefile := string(must.Get(os.ReadFile("../../Makefile"))(t))
	flags := regexp.MustCompile(`(?m)^FIGURE_RUN := (.*)$`).FindStringSubmatch(makefile)
	if flags == nil {
		t.Fatal("the Makefile has no FIGURE_RUN")
	}
	dir := t.TempDir()
	args := append(append([]string{"run"}, strings.Fields(flags[1])...), "--backend", "cpu", "--out", "run")
	under(t, dir, []string{"AMTRL_CPU=generic"}, args...).Succeeds(t)
	succeed(t, dir, "report", "run", "--figures", "figures")
	committed := must.Get(os.ReadDir("../../docs/figures"))(t)
	if len(committed) == 0 {
		t.Error("docs/figures is empty")
	}
	for _, f := range committed {
		if f.IsDir() { // the figures of docs/results.md
			continue
		}
		now := must.Get(os.ReadFile(filepath.Join(dir, "figures", f.Name())))(t)
		if was := must.Get(os.ReadFile(filepath.Join("../../docs/figures", f.Name())))(t); !bytes.Equal(now, was) {
			t.Errorf("docs/figures/%s is not the run's: make figures draws it anew", f.Name())
		}
	}
}

// A run or sweep of many images with the linear class recommends a network, below the table and on the page.
func TestConvAdvice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const advice = "These are images: with this many source samples a network, "
	for budget, want := range map[string]bool{"4900": false, "5000": true} {
		args := []string{"--methods", "uniform,constant", "--epochs", "1", "--iterations", "5"}
		run, sweep := "run "+budget, "sweep "+budget
		o := succeed(t, dir, tiny("run", append(args, "--out", run, "--budget", budget)...)...)
		must.Equal(t, strings.Contains(o.Stdout, advice+"--representation conv, usually errs"), want, "a run of %s says\n%s", budget, o.Stdout)
		must.Hold(t, !strings.Contains(o.Stderr, "--representation"), "standard error has %s", o.Stderr)
		succeed(t, dir, tiny("sweep", append(args, "--out", sweep, "--targets", "fog_1", "--budgets", budget)...)...)
		for _, folder := range []string{run, sweep} {
			page := succeed(t, dir, "report", folder, "--format", "markdown").Stdout
			must.Equal(t, strings.Contains(page, advice), want, "the page of %s", folder)
		}
	}
}
