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
)

func readCSV(t *testing.T, text string) [][]string {
	t.Helper()
	return must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
}

// Without flags the command finds what the run wrote, costs and all.
func TestRelevance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "costs.csv"), []byte("source,cost\nfog_2,3\nscale_2,0.5\n"), 0o644))
	succeed(t, dir, tiny("run", "--out", "a", "--allocation", "l1", "--mix", "0.1", "--costs", "costs.csv", "--relevance",
		"ridge", "--tau", "2")...)
	raw := must.Get(os.ReadFile(filepath.Join(dir, "a", "relevance.csv")))(t)
	want := readCSV(t, string(raw))
	got := readCSV(t, succeed(t, dir, "relevance", "a", "--csv").Stdout)
	if len(got) != len(want) {
		t.Fatalf("%d rows, expected %d", len(got), len(want))
	}
	for i := range got {
		for col, of := range []int{0, 1, 4} { // source, nu, share
			if got[i][col] != want[i][of] {
				t.Fatalf("row %d: %v, the run wrote %v", i, got[i], want[i])
			}
		}
	}

	o := succeed(t, dir, "relevance", "a", "--relevance", "l1", "--l1", "0.5", "--allocation", "squared", "--mix", "0", "--json")
	res := amtrltest.JSON[relevanceResult](t, o)
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

	// Flags may follow the argument or come before it.
	before := succeed(t, dir, "relevance", "--top", "3", "a").Stdout
	if after := succeed(t, dir, "relevance", "a", "--top", "3").Stdout; after != before || lines(after) != 6 {
		t.Errorf("unexpected table:\n%s%s", before, after)
	}
	// A model alone will do.
	must.Do(t, os.Remove(filepath.Join(dir, "a", "config.json")))
	succeed(t, dir, "relevance", "a")
}
