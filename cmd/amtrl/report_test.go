package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
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
	again := succeed(t, dir, tiny("run", "--out", "a run")...)
	if !strings.Contains(again.Stderr, "already complete") {
		t.Errorf("the folder with its report is no longer complete: %s", again.Stderr)
	}

	amtrl(t, dir, "report", "a run", "--format", "markdown").Prints(t, 0, "# glass_blur", "**Share of the next budget**", "| source |")
	amtrl(t, dir, "report", "a run", "--format", "csv").Prints(t, 0, "table,row,column,value\n", "shares-table,1,source,")
	js := succeed(t, dir, "report", "a run", "--format", "json", "--figures", "figures")
	var v struct{ Kind, Title, Headline string }
	if err := json.Unmarshal([]byte(js.Stdout), &v); err != nil || v.Kind != "run" || v.Title != "glass_blur_2" || v.Headline == "" {
		t.Errorf("%+v, %v", v, err)
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
		var v struct {
			Tables []struct {
				Rows [][]any
			}
		}
		must.Do(t, json.Unmarshal([]byte(page.Stdout), &v))
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
		again := succeed(t, dir, append(words[1:], "--digits", "200", "--out", at)...)
		if !strings.Contains(again.Stderr, "already complete") {
			t.Errorf("%s: %s does other work: %s", at, command, again.Stderr)
		}
	}
}
