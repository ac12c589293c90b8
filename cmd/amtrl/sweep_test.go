package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := tiny("sweep", "--targets", "fog_[12],zigzag_3", "--seeds", "0-1", "--budgets", "1000,2000", "--risk", "0.1")
	o := must(t, dir, args...)
	for _, want := range []string{"means over targets and seeds", "active over uniform", "of 3",
		"source samples needed for a mean error of 10.00 %", "sweep folder: amtrl-sweeps"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("standard output lacks %q:\n%s", want, o.stdout)
		}
	}
	if lines(o.stderr) != 13 {
		t.Errorf("expected the backend and 12 units on standard error:\n%s", o.stderr)
	}
	again := must(t, dir, append(args, "--json")...)
	if !strings.Contains(again.stderr, "already complete") {
		t.Errorf("a complete sweep is not shown as such: %s", again.stderr)
	}
	var res sweepResult
	noError(t, json.Unmarshal([]byte(again.stdout), &res))
	if len(res.Methods) != 4 || len(res.Comparisons) != 2 || res.Comparisons[1].Targets != 3 || len(res.Needed) != 2 {
		t.Errorf("unexpected summary %s", again.stdout)
	}
}

// The number of jobs and of threads does not reach the files.
func TestSweepJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := tiny("sweep", "--targets", "fog_*", "--quiet", "--budgets", "1000")
	must(t, dir, append(args, "--out", "a", "--jobs", "1", "--threads", "2")...)
	must(t, dir, append(args, "--out", "b", "--jobs", "4")...)
	foldertest.Same(t, filepath.Join(dir, "b"), filepath.Join(dir, "a"))
}
