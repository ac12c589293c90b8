package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// The status counts what was spent on sources without the target, whose rows it counts apart, those of an ask for
// rows of the target alone too. Ids with blanks around them, as people type them, are accepted.
func TestStudyStatusOfTarget(t *testing.T) {
	c := newCampaign(t, testrand.New(t), false, func(string, int) bool { return false })
	run := func(args ...string) outcome {
		t.Helper()
		return amtrl(t, c.dir, append([]string{"study"}, args...)...)
	}
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "costs.csv"), []byte("source,cost\nzoo,3\n"), 0o644))
	run("new", "S", "--data", "bare.yaml", "--target", "zoo", "--target-samples", "6", "--round-budget", "40", "--k", "5",
		"--costs", "costs.csv").Succeeds(t)
	run("ask", "S", "--out", "a.csv", "--expires", "3x").Complains(t, 2, `--expires is "3x": expected weeks, days, hours, minutes`)
	run("ask", "S", "--out", "a.csv", "--expires", "3d").Succeeds(t)
	for _, row := range c.read(t, "a.csv") {
		must.Hold(t, (row["cost"] == "3") == (row["source"] == "zoo"), "%v", row)
		left := time.Until(must.Get(time.Parse(time.RFC3339, row["expires"]))(t))
		must.Hold(t, left > 71*time.Hour && left <= 72*time.Hour, "%s is left of three days", left)
	}
	lines, sources, target := []string{"id,label"}, 0, 0
	for _, id := range ids(c.read(t, "a.csv")) {
		lines = append(lines, id+" ,"+c.labels[id][0])
		if strings.HasPrefix(id, "zoo/") {
			target++
		} else {
			sources++
		}
	}
	must.Equal(t, target, 6, "rows of the target")
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "blanks.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	run("tell", "S", "blanks.csv").Succeeds(t)
	run("status", "S").Prints(t, 0, fmt.Sprintf("%d rows answered, 0 pending, 0 skipped; of the target 6 answered, 0 pending", sources))
	for _, more := range []string{"--budget=5", "--stop-below=0.1"} {
		run("ask", "S", "--target-rows", "4", more).Complains(t, 2, "--target-rows asks for no row of a source")
	}
	run("ask", "S", "--target-rows", "4", "--out", "b.csv").Prints(t, 0, "zoo        4    12  target sample", "ask 2: 4 rows in b.csv")
	run("tell", "S", c.answer(t, "more.csv", ids(c.read(t, "b.csv"))...)).Succeeds(t)
	run("status", "S").Prints(t, 0, fmt.Sprintf("in 2 asks: %d rows answered", sources), "of the target 10 answered, 0 pending")
	run("status", "S", "--format", "markdown").Prints(t, 0, " |\n\n- spent ", "\n- labels came since: ")
	run("fit", "S").Prints(t, 0, fmt.Sprintf("from %d labels of sources and 10 of the target", sources))
}

// A report does not name a source for the next labels if all its other rows were skipped, even if no round has come
// since.
func TestStudyReportAfterSkips(t *testing.T) {
	c := newCampaign(t, testrand.New(t), false, func(s string, i int) bool { return s == "zoo" && i < 30 })
	// With a fixed mix the shares follow the relevance, even if it carries no information.
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--round-budget", "60", "--k", "5", "--mix", "0")
	succeed(t, c.dir, "study", "ask", "S", "--out", "a.csv")
	asked := ids(c.read(t, "a.csv"))
	succeed(t, c.dir, "study", "tell", "S", c.answer(t, "answers.csv", asked...))
	succeed(t, c.dir, "study", "fit", "S")
	page := func() (sentence, first string) {
		out := succeed(t, c.dir, "report", "S", "--format", "markdown").Stdout
		for _, start := range []string{"Label next: ", "the next labels would go to "} {
			if _, rest, found := strings.Cut(out, start); found {
				first, _, _ = strings.Cut(rest, " (")
			}
		}
		return out, first
	}
	_, best := page()
	lines := []string{"id,label,status"}
	for id := range c.labels {
		if strings.HasPrefix(id, best+"/") && !slices.Contains(asked, id) {
			lines = append(lines, id+",,skip")
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "skips.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	succeed(t, c.dir, "study", "tell", "S", "skips.csv")
	out, next := page()
	must.Hold(t, best != "" && next != "" && next != best, "%q comes first, after %q whose rows were given up", next, best)
	must.Hold(t, strings.Contains(out, "No rows are left of "+best+" ("), "%s is not said to have no rows left:\n%.900s", best, out)
}

// verify opens no device but one of the backend that computed the rounds, and none if there are no rounds.
func TestStudyVerifyDevice(t *testing.T) {
	c := newCampaign(t, testrand.New(t), false, func(string, int) bool { return false })
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--target-samples", "10", "--round-budget", "40", "--k", "5")
	succeed(t, c.dir, "study", "ask", "S", "--out", "a.csv")
	out := succeed(t, c.dir, "study", "verify", "S")
	must.Hold(t, !strings.Contains(out.Stderr, "backend"), "a device for no rounds:\n%s", out.Stderr)
	succeed(t, c.dir, "study", "tell", "S", c.answer(t, "answers.csv", ids(c.read(t, "a.csv"))...))
	succeed(t, c.dir, "study", "fit", "S", "--backend", "cpu")
	out = succeed(t, c.dir, "study", "verify", "S")
	must.Hold(t, strings.Contains(out.Stderr, "backend cpu") && !strings.Contains(out.Stderr, "cuda"), "%s", out.Stderr)
}

// With several columns of labels the status counts each column's labels of the sources and of the target, in text and
// in JSON.
func TestStudyStatusByColumn(t *testing.T) {
	c := newCampaign(t, testrand.New(t), true, func(s string, i int) bool { return s == "zoo" && i < 20 })
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--round-budget", "40", "--k", "2")
	succeed(t, c.dir, "study", "ask", "S", "--out", "a.csv")
	asked, first := ids(c.read(t, "a.csv")), c.read(t, "a.csv")[0]["source"]
	lines := []string{"id,price,age", "zoo/30,1.5,", "zoo/31,,2"}
	ages, lacking := 0, 0 // of the first source
	for i, id := range asked[:9] {
		age := ""
		if i%3 == 0 {
			age = c.labels[id][1]
		}
		if strings.HasPrefix(id, first+"/") {
			if age != "" {
				ages++
			} else {
				lacking++
			}
		}
		lines = append(lines, id+","+c.labels[id][0]+","+age)
	}
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "some.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	succeed(t, c.dir, "study", "tell", "S", "some.csv")
	amtrl(t, c.dir, "study", "status", "S").Prints(t, 0,
		"column  in the data  answered  lacking  target in the data  answered  lacking",
		"price             0         9        0                  20         1        1",
		"age               0         3        6                  20         1        1")
	st := amtrltest.JSON[study.Status](t, succeed(t, c.dir, "study", "status", "S", "--json"))
	must.EqualSlices(t, st.Columns, []study.ColumnStatus{{Column: "price", Known: 20, Answered: 10, Lacking: 1},
		{Column: "age", Known: 20, Answered: 4, Lacking: 7}}, "columns of all sources")
	for _, s := range st.Sources {
		if s.Source == first {
			must.EqualSlices(t, s.Columns, []study.ColumnStatus{{Column: "price", Answered: ages + lacking},
				{Column: "age", Answered: ages, Lacking: lacking}}, "columns of %s", first)
		}
	}
	c = newCampaign(t, testrand.New(t), false, func(s string, i int) bool { return s == "zoo" && i < 20 })
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--round-budget", "40", "--k", "2")
	out := succeed(t, c.dir, "study", "status", "S", "--json").Stdout + succeed(t, c.dir, "study", "status", "S").Stdout
	must.Hold(t, !strings.Contains(out, "column"), "one column is among several: %s", out)
}

// The method of the model is named with the reason, as where another one has the lower error.
func TestReasonOfRecommended(t *testing.T) {
	r := runs.RoundScore{Round: 1, Result: runs.Result{Recommended: "active", Reason: "that of target is better by too little"}}
	for _, m := range []string{"active", "target"} {
		r.Result.Methods = append(r.Result.Methods, runs.MethodResult{Method: m, Score: pipeline.Score{Metric: pipeline.MetricMSE}})
	}
	says := lastRoundText(nil, &study.Status{Last: &r})
	must.Hold(t, strings.Contains(says, "the model is that of active (that of target is better by too little)\n"), "it says %q", says)
}
