package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// A study whose asks are all answered, in any order and in any number of files, ends with the samples, the relevance
// and the model of a run on the labelled data.
func TestStudyEqualsRun(t *testing.T) {
	type problem struct {
		name     string
		numbers  bool
		keep     func(string, int) bool
		settings string
	}
	for _, test := range must.Some(testrand.New(t), 1, []problem{
		{"classes without any label", false, func(string, int) bool { return false },
			"--target-samples 25 --budget 350 --epochs 3 --floor 4 --k 6"},
		{"classes, the target labelled", false, func(s string, _ int) bool { return s == "zoo" }, "--budget 500 --epochs 4 --floor 6 --k 5"},
		{"numbers in two columns", true, func(string, int) bool { return false },
			"--target-samples 30 --budget 300 --epochs 2 --floor 3 --k 4 --mix 0.2"},
		{"another allocation and held-out rows", false, func(s string, _ int) bool { return s == "zoo" },
			"--target-samples 20 --budget 300 --epochs 2 --floor 0 --k 6 --allocation l1 --prior sources"},
		{"images", false, func(s string, _ int) bool { return s == "zoo" },
			"--representation conv --channels 8 --batch 16 --budget 400 --epochs 2 --floor 8 --k 4"},
	}...) {
		t.Run(test.name, func(t *testing.T) {
			rng := testrand.New(t)
			c := newCampaign(t, rng, test.numbers, test.keep)
			predict := []string{"predict", "S", "full.csv"}
			if test.name == "images" {
				c.images(t)
				predict = append(predict, "--vectors", "images.npy")
			}
			predict = append(predict, "--out")
			settings := append(strings.Fields(test.settings), "--seed", fmt.Sprint(rng.Uint64N(1000)), "--quiet")
			run := append([]string{"run", "--data", "full.yaml", "--methods", "active,target,constant", "--out", "run"}, settings...)
			succeed(t, c.dir, run...)
			succeed(t, c.dir, append([]string{"study", "new", "S", "--data", "bare.yaml", "--methods", "active,target,constant"}, settings...)...)
			rounds := 0
			for ; ; rounds++ {
				name := fmt.Sprintf("ask%d.csv", rounds)
				o := amtrl(t, c.dir, "study", "ask", "S", "--out", name)
				if o.Code != 0 {
					o.ComplainsLast(t, 3, "the schedule of the study is over after")
					break
				}
				list := ids(c.read(t, name))
				rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				for part := range slices.Chunk(list, 1+len(list)/2) {
					succeed(t, c.dir, "study", "tell", "S", c.answer(t, "answers.csv", part...))
				}
			}
			last := filepath.Join(c.dir, "S", "rounds", fmt.Sprintf("%04d", rounds))
			for _, name := range []string{"rows.csv", "relevance.csv", "model.safetensors"} {
				want := must.Get(os.ReadFile(filepath.Join(c.dir, "run", name)))(t)
				if found := must.Get(os.ReadFile(filepath.Join(last, name)))(t); string(found) != string(want) {
					t.Errorf("%s of round %d is not that of the run: %d and %d bytes", name, rounds, len(found), len(want))
				}
			}
			succeed(t, c.dir, "study", "verify", "S").Prints(t, 0, fmt.Sprintf("%d asks and %d rounds", rounds, rounds))
			succeed(t, c.dir, "report", "S", "--format", "markdown").Prints(t, 0, "target of bare", "amtrl study verify S")
			succeed(t, c.dir, append(predict, "predicted.csv")...)
			if n := len(c.read(t, "predicted.csv")); n != len(c.labels) {
				t.Errorf("%d rows were predicted, expected %d", n, len(c.labels))
			}
			kept := must.Get(runs.ReadModel(last))(t).Method // a round keeps the model of this method alone
			succeed(t, c.dir, append(predict, "kept.csv", "--method", kept)...)
			must.Equal(t, fmt.Sprint(c.read(t, "kept.csv")), fmt.Sprint(c.read(t, "predicted.csv")), "predictions of the method by name")
			other := map[bool]string{true: "target", false: "constant"}[kept == "constant"]
			amtrl(t, c.dir, append(predict, "other.csv", "--method", other)...).ComplainsLast(t, 1,
				fmt.Sprintf("%s: expected a method whose model is there (%s), found %q", filepath.Join("S", "rounds", filepath.Base(last)), kept,
					other))
		})
	}
}

// A study keeps what it was told: requests and answers can be repeated, contradictions change nothing, files are
// accepted whole or not at all, and rows that are skipped or expire give their budget back.
func TestStudyAnswers(t *testing.T) {
	rng := testrand.New(t)
	c := newCampaign(t, rng, false, func(s string, i int) bool { return s == "zoo" && i < 20 })
	run := func(args ...string) outcome {
		t.Helper()
		return amtrl(t, c.dir, append([]string{"study"}, args...)...)
	}
	status := func() study.Status {
		t.Helper()
		return amtrltest.JSON[study.Status](t, run("status", "S", "--json").Succeeds(t))
	}
	journal := func() string { return string(must.Get(os.ReadFile(filepath.Join(c.dir, "S", "journal.jsonl")))(t)) }
	must.Do(t, os.MkdirAll(filepath.Join(c.dir, "S", "asks"), 0o755)) // as a killed command left it
	run("new", "S", "--data", "bare.yaml", "--round-budget", "60", "--k", "5").Succeeds(t)
	must.Do(t, os.Remove(filepath.Join(c.dir, "S", "asks")))
	run("new", "S", "--data", "bare.yaml", "--round-budget", "60", "--k", "5").Succeeds(t)
	run("new", "S", "--data", "bare.yaml", "--round-budget", "61", "--k", "5").ComplainsLast(t, 1, "expected no folder")
	run("new", "T", "--data", "bare.yaml", "--round-budget", "60", "--prior", "sources",
		"--target-samples", "25").ComplainsLast(t, 1, "prior sources: expected residual")
	run("new", "T", "--data", "full.yaml", "--round-budget", "60", "--include-target").ComplainsLast(t, 1, "include target")
	run("new", "T", "--data", "bare.yaml").Complains(t, 2, "no budget: expected --round-budget")
	run("new", "T", "--data", "bare.yaml", "--round-budget", "9", "--methods", "active,uniform").Complains(t, 2, "--methods")
	run("ask", "T").ComplainsLast(t, 1, "T is no study")
	run("ask", "S", "--request", "first", "--out", "a.csv").Succeeds(t)
	before := journal()
	run("ask", "S", "--out", "nowhere/a.csv").ComplainsLast(t, 1, "nothing was asked")
	run("ask", "S", "--out", "a.csv").ComplainsLast(t, 1, "nothing was asked")
	run("ask", "S", "--request", "first", "--out", "a.csv").Succeeds(t)
	run("ask", "S", "--request", "first", "--out", "again.csv").Succeeds(t)
	run("ask", "S", "--request", "first", "--budget", "9").ComplainsLast(t, 4, "request \"first\"")
	a, again := must.Get(os.ReadFile(filepath.Join(c.dir, "a.csv")))(t), must.Get(os.ReadFile(filepath.Join(c.dir, "again.csv")))(t)
	if string(a) != string(again) || journal() != before {
		t.Error("a repeated request has other rows")
	}
	first := ids(c.read(t, "a.csv"))
	if st := status(); st.Spent > 60 || st.Spent < 57 || st.Pending != len(first) {
		t.Errorf("after the first ask: %+v", st)
	}
	sources := map[string]int{}
	for _, r := range c.read(t, "a.csv") {
		sources[r["source"]]++
	}
	if len(sources) != 6 {
		t.Errorf("the first round has rows of %v", slices.Sorted(maps.Keys(sources)))
	}

	run("tell", "S", c.answer(t, "half.csv", first[:len(first)/2]...)).Succeeds(t)
	before = journal()
	run("tell", "S", "half.csv").Prints(t, 0, "0 labels, 0 replaced", fmt.Sprintf("%d unchanged", len(first)/2))
	if journal() != before {
		t.Error("a repeated answer is in the journal")
	}
	wrong := func(label string) string {
		if label == "bad" {
			return "good"
		}
		return "bad"
	}
	write := func(name, text string) string {
		must.Do(t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644))
		return name
	}
	other := first[len(first)-1] + "," + c.labels[first[len(first)-1]][0] + "\n"
	for _, test := range []struct {
		code       int
		text, want string
	}{
		{4, "id,label\n" + other + first[0] + "," + wrong(c.labels[first[0]][0]) + "\n", "1 row has another answer already: " + first[0]},
		{4, "id,label\n" + first[0] + "," + wrong(c.labels[first[0]][0]) + "\n", "nothing was changed; --replace takes the new answers"},
		{4, "id,status,label\n" + first[0] + ",skip,\n", "skipped now); nothing was changed; --replace takes the new answers"},
		{4, "id,label\n" + other + first[len(first)-1] + "," + wrong(c.labels[first[len(first)-1]][0]) + "\n", "is there twice"},
		{4, "id,label\nzoo/0," + wrong(c.labels["zoo/0"][0]) + "\n", "zoo/0"},
		{1, "id,label\n" + other + "nobody,good\n", `wrong.csv: line 3, column id: expected the id of a row of the data, found "nobody"`},
		{1, "id,label\nno one,good\n" + other + "nobody,good\n", `found "no one", and 2 rows of the file have no id of the data`},
		{1, "id,label\n" + other + first[1] + ",excellent\n",
			`line 3, column label: expected one of the classes bad, fair, good, found "excellent"`},
		{1, "id,source,label\n" + other[:strings.Index(other, ",")] + ",moon,good\n", `column source: expected shop`},
		{1, "id,status\n" + first[1] + ",later\n", `column status: expected skip or nothing, found "later"`},
		{1, "id,label,status\n" + first[1] + ",good,skip\n", "found both"},
		{1, "id,lable\n", `expected a column "label", found`},
		{1, "name,label\n", `expected a column "id", found`},
		{1, "id,label\n,good\n", "column id: expected the id of a row, found none"},
	} {
		run("tell", "S", write("wrong.csv", test.text)).ComplainsLast(t, test.code, test.want)
		if journal() != before {
			t.Fatalf("%q changed the journal", test.text)
		}
	}
	run("tell", "S", write("answers.xlsx", "PK")).Complains(t, 1,
		"expected a table, found an Excel workbook (.xlsx): export it to CSV or Parquet")
	run("tell", "S", "--replace", write("wrong.csv", "id,label\n"+first[0]+","+wrong(c.labels[first[0]][0])+"\n")).Prints(t, 0, "1 replaced")
	if !strings.Contains(journal(), before) {
		t.Error("the journal lost what was told before")
	}

	// Skipped rows give their budget back, and other rows are asked for next.
	st := status()
	var rest strings.Builder
	rest.WriteString("id,status\n")
	for _, id := range first[len(first)/2:] {
		fmt.Fprintf(&rest, "%s,skip\n", id)
	}
	run("tell", "S", write("skip.csv", rest.String())).Prints(t, 0, fmt.Sprintf("%d skipped", len(first)-len(first)/2))
	if now := status(); now.Pending != 0 || now.Answered != len(first)/2 || !(now.Spent < st.Spent) {
		t.Errorf("after skipping %+v", now)
	}
	id, label, _ := strings.Cut(unaskedOf(c, first), ",")
	// A spreadsheet writes this where numbers have a decimal comma. It has empty rows and a blank that somebody typed.
	sheet := "\ufeffid;seen by;label\r\n" + id + ";A, B;" + label + " \r\n;;\r\n;C;\r\n"
	run("tell", "S", write("unasked.csv", sheet)).Prints(t, 0, "1 label, ", "1 not asked for")
	run("ask", "S", "--expires", "1s", "--out", "b.csv").Succeeds(t)
	second := ids(c.read(t, "b.csv"))
	for _, id := range second {
		if slices.Contains(first, id) {
			t.Errorf("row %s was asked for again", id)
		}
	}
	// Rows whose time is over may be asked for again, and late answers are accepted.
	for status().Late == 0 {
		time.Sleep(50 * time.Millisecond)
	}
	run("ask", "S", "--out", "c.csv", "--budget", "60").Succeeds(t)
	third := ids(c.read(t, "c.csv"))
	if !slices.Equal(slices.Sorted(slices.Values(second)), slices.Sorted(slices.Values(third))) {
		t.Errorf("after the expiry %d rows were asked for, expected the same %d", len(third), len(second))
	}
	run("tell", "S", c.answer(t, "late.csv", second...)).Succeeds(t)
	run("fit", "S").Prints(t, 0, "round 2")
	run("verify", "S").Prints(t, 0, "3 asks and 2 rounds")
	run("export", "S", "--out", "rows.csv").Succeeds(t)
	if n, want := len(c.read(t, "rows.csv")), 20+len(first)+len(second)+1; n != want {
		t.Errorf("%d rows with a label or given up, expected %d", n, want)
	}
	for _, ending := range []string{"jsonl", "parquet"} {
		other := "of " + ending
		run("new", other, "--data", "bare.yaml", "--round-budget", "60", "--k", "5").Succeeds(t)
		run("ask", other, "--out", "asked."+ending, "--stop-below", "1").Complains(t, 0, "--stop-below did not count")
		run("ask", other).Complains(t, 0, "rows of earlier asks are pending, so this ask is spread as the first: nothing was learned yet")
		sum := amtrltest.JSON[askSummary](t, succeed(t, c.dir, "study", "ask", other, "--json", "--quiet"))
		must.Hold(t, sum.ByRound == 0 && len(sum.Notes) == 1 && strings.Contains(sum.Notes[0], "are pending, so this ask is spread"),
			"the summary of an ask with pending rows: %+v", sum)
		run("export", "S", "--out", "rows."+ending).Complains(t, 0, fmt.Sprintf("labelled rows and %d that were given up to rows.",
			len(first)-len(first)/2))
		run("tell", other, "asked."+ending).ComplainsLast(t, 1, `expected a column "label"`)
		run("tell", other, "rows."+ending).Prints(t, 0, fmt.Sprintf("%d labels", len(first)/2+len(second)+1), "20 unchanged",
			fmt.Sprintf("%d skipped", len(first)-len(first)/2))
	}
	run("ask", "S", "--stop-below", "0.9").ComplainsLast(t, 3, "the next round is expected to lower the error of active by ")
	run("plan", "S", "--budget", "100").Prints(t, 0, "expected to lower the error of active on the target's samples", "twice the labels",
		"Theorem 4.1")
	run("status", "S").Prints(t, 0, "\nthe next round is expected to lower the error of active by ")
	run("relevance", "S").Prints(t, 0, "share after round")
	amtrl(t, c.dir, "relevance", "S").Complains(t, 2, "S is a study: amtrl study relevance S says what its last round found")
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(c.labels)), func(id string) bool { return strings.HasPrefix(id, "zoo") })
	run("tell", "S", "--replace", c.answer(t, "all.csv", all...)).Succeeds(t)
	run("ask", "S", "--budget", "9").ComplainsLast(t, 3, "nothing to ask for: every row is asked for or given up")
}

// unaskedOf returns the line of an answer for a row of a source that is not among asked.
func unaskedOf(c *campaign, asked []string) string {
	for _, id := range slices.Sorted(maps.Keys(c.labels)) {
		if !slices.Contains(asked, id) && !strings.HasPrefix(id, "zoo") {
			return id + "," + c.labels[id][0]
		}
	}
	return ""
}
