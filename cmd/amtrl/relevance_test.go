package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
)

func readCSV(t *testing.T, text string) [][]string {
	t.Helper()
	return must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
}

// Without flags the command prints what the run wrote, with the run's costs.
func TestRelevance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "costs.csv"), []byte("source,cost\nfog_2,3\nscale_2,0.5\n"), 0o644))
	succeed(t, dir, tiny("run", "--out", "a", "--allocation", "l1", "--mix", "0.1", "--costs", "costs.csv", "--relevance",
		"ridge", "--tau", "2")...)
	sameRelevance(t, dir, "a")

	o := succeed(t, dir, "relevance", "a", "--relevance", "l1", "--l1", "0.5", "--allocation", "squared", "--mix", "0", "--json")
	res := amtrltest.JSON[runs.Estimate](t, o)
	sum, zeros := 0.0, 0
	for i, s := range res.Sources {
		sum += s.Share
		if s.Nu == 0 {
			zeros++
		}
		if i > 0 && math.Abs(s.Nu) > math.Abs(res.Sources[i-1].Nu) {
			t.Errorf("row %d is out of order", i)
		}
	}
	if math.Abs(sum-1) > 1e-12 || zeros == 0 || res.Relevance.Kind != "l1" || res.Target != "glass_blur_2" {
		t.Errorf("shares sum to %v, %d relevances are 0, kind %s, target %s", sum, zeros, res.Relevance.Kind, res.Target)
	}

	// Flags may come before or after the argument.
	before := succeed(t, dir, "relevance", "--top", "3", "a").Stdout
	if after := succeed(t, dir, "relevance", "a", "--top", "3").Stdout; after != before || lines(after) != 6 {
		t.Errorf("unexpected table:\n%s%s", before, after)
	}
	// A model file that has heads of sources is enough, and the estimate from it equals the run's.
	want := amtrltest.JSON[runs.Estimate](t, succeed(t, dir, "relevance", "a", "--json"))
	heads := func(method string) {
		model := must.Get(os.ReadFile(filepath.Join(dir, "a", "checkpoint", method+".safetensors")))(t)
		must.Do(t, os.Mkdir(filepath.Join(dir, method), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(dir, method, "model.safetensors"), model, 0o644))
	}
	heads("active")
	got := amtrltest.JSON[runs.Estimate](t, succeed(t, dir, "relevance", "active", "--json", "--relevance", "ridge", "--tau", "2"))
	for i, s := range got.Sources {
		if s.Source != want.Sources[i].Source || s.Nu != want.Sources[i].Nu {
			t.Fatalf("source %d: %v from the model, %v of the run", i, s, want.Sources[i])
		}
	}
	heads("target")
	amtrl(t, dir, "relevance", "target").Complains(t, 1, "expected the heads of sources, found the model of method target")
}

// sameRelevance fails the test unless the command prints the source, nu and share columns that the run wrote.
func sameRelevance(t *testing.T, dir, run string) {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join(dir, run, "relevance.csv")))(t)
	want := readCSV(t, string(raw))
	got := readCSV(t, succeed(t, dir, "relevance", run, "--csv").Stdout)
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, expected %d", run, len(got), len(want))
	}
	for i := range got {
		for col, of := range []int{0, 1, 4} { // source, nu, share
			if got[i][col] != want[i][of] {
				t.Fatalf("%s: row %d: %v, the run wrote %v", run, i, got[i], want[i])
			}
		}
	}
}

// The relevance and the shares of mix auto are those of the first method, whichever method is recommended. Another
// estimator is applied to the heads of the first method too.
func TestRelevanceOfFirstMethod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, tiny("run", "--sources", "pools", "--target", "fog", "--methods", "active", "--out", "pools")...)
	sameRelevance(t, dir, "pools")
	for _, target := range must.Some(testrand.New(t), 1, "fog_6", "scale_5") {
		succeed(t, dir, tiny("run", "--target", target, "--methods", "active,uniform", "--out", target)...)
		sameRelevance(t, dir, target)
		other := []string{"relevance", target, "--relevance", "minnorm"}
		amtrl(t, dir, other...).Prints(t, 0, "by method active")
		best := must.Get(runs.ReadRun(filepath.Join(dir, target)))(t).Result.Recommended
		must.Do(t, os.RemoveAll(filepath.Join(dir, target, "checkpoint")))
		if o := amtrl(t, dir, other...); best == "active" {
			o.Prints(t, 0, "by method active")
		} else {
			o.Complains(t, 1, "expected the model of method active in checkpoint")
		}
	}
}
