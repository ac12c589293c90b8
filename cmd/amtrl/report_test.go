package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs/study"
)

// A run names the command that makes a page of it, and that command works, in each format.
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

// The command that a report names gives the same settings.
func TestReportRepeats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{
		tiny("run", "--out", "a"),
		tiny("run", "--out", "b", "--target", "fog_6", "--seed", "7", "--preset", "paper", "--relevance", "l1", "--mix", "0.25"),
		tiny("run", "--out", "c", "--sources", "pools", "--methods", "active,uniform"),
		{"run", "--digits", "200", "--target-samples", "60", "--k", "6", "--epochs", "2", "--out", "d", "--budget", "900", "--floor", "2"},
	} {
		succeed(t, dir, args...)
		at := args[len(args)-1]
		for i, a := range args {
			if a == "--out" {
				at = args[i+1]
			}
		}
		page := succeed(t, dir, "report", at, "--format", "json")
		v := amtrltest.JSON[struct{ Tables []struct{ Rows [][]any } }](t, page)
		command := ""
		for _, table := range v.Tables {
			for _, row := range table.Rows {
				if row[0] == "command that repeats it" {
					command = row[1].(string)
				}
			}
		}
		words := strings.Fields(strings.ReplaceAll(command, "'", ""))
		if len(words) < 3 || words[0] != "amtrl" {
			t.Fatalf("%s: the command is %q", at, command)
		}
		// The number of digits is of the data, which the report names by their hash.
		amtrl(t, dir, append(words[1:], "--digits", "200", "--out", at)...).Complains(t, 0, "already complete")
	}
}

// A study has a page from its first round on, of what its rounds found.
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
	for _, want := range []string{"amtrl study", "This is a study: ", "Share of the next budget", "zoo"} {
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

// The figures of README are those of the run that make figures carries out.
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
		if f.IsDir() { // those of docs/results.md
			continue
		}
		now := must.Get(os.ReadFile(filepath.Join(dir, "figures", f.Name())))(t)
		if was := must.Get(os.ReadFile(filepath.Join("../../docs/figures", f.Name())))(t); !bytes.Equal(now, was) {
			t.Errorf("docs/figures/%s is not the run's: make figures draws it anew", f.Name())
		}
	}
}
