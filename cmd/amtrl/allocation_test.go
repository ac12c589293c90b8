package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// filesIn returns the text of every file in a run folder but timing.jsonl.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "timing.jsonl" {
			files[path] = string(must.Get(os.ReadFile(filepath.Join(dir, path)))(t))
		}
		return err
	}))
	return files
}

// Without --allocation a run writes the same bytes as with squared if all costs are equal, and as with priced if they
// differ, which it says. The folder holds the resolved rule, and only a run with that rule can go on in it.
func TestAllocationFollowsTheCosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "same.csv"), []byte("source,cost\nfog_2,1\n"), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "differ.csv"), []byte("source,cost\nfog_2,30\nscale_2,0.5\n"), 0o644))
	for _, c := range []struct{ costs, like, said string }{
		{"", "squared", ""},
		{"same.csv", "squared", ""},
		{"differ.csv", "priced", "chose allocation priced: sources cost between 0.5 and 30"},
	} {
		run := func(out string, more ...string) outcome {
			args := tiny("run", append(more, "--methods", "active,uniform", "--out", c.costs+out)...)
			if c.costs != "" {
				args = append(args, "--costs", c.costs)
			}
			return amtrl(t, dir, args...)
		}
		auto := run("auto").Succeeds(t)
		if got := strings.Contains(auto.Stderr, "chose allocation"); got != (c.said != "") || !strings.Contains(auto.Stderr, c.said) {
			t.Errorf("costs %q: expected %q, found\n%s", c.costs, c.said, auto.Stderr)
		}
		other := run("like", "--allocation", c.like).Succeeds(t)
		if strings.Contains(other.Stderr, "chose allocation") {
			t.Errorf("what was given was chosen:\n%s", other.Stderr)
		}
		got, want := filesIn(t, filepath.Join(dir, c.costs+"auto")), filesIn(t, filepath.Join(dir, c.costs+"like"))
		must.Hold(t, len(got) == len(want) && len(got) > 5, "%d and %d files", len(got), len(want))
		for name, text := range want {
			if got[name] != text {
				t.Errorf("costs %q: %s is another than with --allocation %s", c.costs, name, c.like)
			}
		}
		against := map[string]string{"squared": "priced", "priced": "squared"}[c.like]
		run("auto", "--allocation", against).Complains(t, 1, "config.allocation.rule")
		run("auto").Succeeds(t)
		for name, text := range filesIn(t, filepath.Join(dir, c.costs+"auto")) {
			if got[name] != text {
				t.Errorf("costs %q: %s was changed", c.costs, name)
			}
		}
		for _, rule := range []string{"auto", c.like} {
			res := amtrltest.JSON[runs.Estimate](t, succeed(t, dir, "relevance", c.costs+"auto", "--allocation", rule, "--json"))
			must.Hold(t, res.Allocation.Rule == c.like, "relevance --allocation %s has %s", rule, res.Allocation.Rule)
		}
		sameRelevance(t, dir, c.costs+"auto")
	}
	// Costs that are all 1 leave the drawn rows as they are; costs that differ change them.
	rows := func(name string) string { return filesIn(t, filepath.Join(dir, name))["rows.csv"] }
	if rows("auto") != rows("same.csvauto") || rows("auto") == rows("differ.csvauto") {
		t.Error("expected costs of 1 to change no row that is drawn, and others to change some")
	}
}
