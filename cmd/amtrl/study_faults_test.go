package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs/study"
)

// An incomplete line that a killed writer left is set aside, and changes to the journal or to the files of a round are
// found.
func TestStudyJournalFaults(t *testing.T) {
	rng := testrand.New(t)
	c := newCampaign(t, rng, false, func(s string, i int) bool { return s == "zoo" && i < 20 })
	run := func(args ...string) outcome {
		t.Helper()
		return amtrl(t, c.dir, append([]string{"study"}, args...)...)
	}
	run("new", "S", "--data", "bare.yaml", "--round-budget", "40", "--k", "5").Succeeds(t)
	run("ask", "S", "--out", "a.csv").Succeeds(t)
	list := ids(c.read(t, "a.csv"))
	run("tell", "S", c.answer(t, "half.csv", list[:len(list)/2]...)).Succeeds(t)
	path := filepath.Join(c.dir, "S", "journal.jsonl")
	whole := must.Get(os.ReadFile(path))(t)
	lines := strings.SplitAfter(string(whole), "\n")
	for _, n := range []int{1, 7, len(lines[1]) / 2, len(lines[1]) - 2} {
		must.Do(t, os.WriteFile(path, []byte(string(whole)+lines[1][:n]), 0o644))
		if st := amtrltest.JSON[study.Status](t, run("status", "S", "--json").Succeeds(t)); st.Events != 2 {
			t.Errorf("%d events with a torn line, expected 2", st.Events)
		}
	}
	for _, args := range [][]string{{"status", "S"}, {"verify", "S"}} {
		run(args...).Complains(t, 0, "ends in", "was never finished")
	}
	run("tell", "S", c.answer(t, "rest.csv", list...)).Complains(t, 0, "was never finished", "journal.torn-3")
	torn := must.Get(os.ReadFile(filepath.Join(c.dir, "S", "journal.torn-3")))(t)
	if string(torn) != lines[1][:len(lines[1])-2] {
		t.Errorf("what was set aside is %q", torn)
	}
	run("fit", "S").Succeeds(t)
	run("verify", "S").Succeeds(t)
	good := must.Get(os.ReadFile(path))(t)
	at := strings.Index(string(good), `"labels":[["`) + len(`"labels":[["`)
	for _, test := range []struct{ text, want string }{
		{string(good[:at]) + "X" + string(good[at+1:]), "line 3: expected the hash of line 2"},
		{strings.Join(strings.SplitAfter(string(good), "\n")[1:], ""), "line 1: expected event 1, found 2"},
		{"{}\n" + string(good), "line 1: expected event 1, found 0"},
		{"x\n" + string(good), "line 1: byte"},
	} {
		must.Do(t, os.WriteFile(path, []byte(test.text), 0o644))
		for _, args := range [][]string{{"status", "S"}, {"ask", "S"}, {"tell", "S", "rest.csv"}, {"verify", "S"}} {
			run(args...).ComplainsLast(t, 1, test.want)
		}
	}
	must.Do(t, os.WriteFile(path, good, 0o644))
	model := filepath.Join(c.dir, "S", "rounds", "0001", "relevance.csv")
	raw := must.Get(os.ReadFile(model))(t)
	must.Do(t, os.WriteFile(model, append(raw, '\n'), 0o644))
	run("verify", "S").ComplainsLast(t, 1, "relevance.csv: expected sha256")
	must.Do(t, os.WriteFile(model, raw, 0o644))
	// Other data are refused; the same data in another place are not.
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "copy.csv"), must.Get(os.ReadFile(filepath.Join(c.dir, "bare.csv")))(t), 0o644))
	manifest := string(must.Get(os.ReadFile(filepath.Join(c.dir, "bare.yaml")))(t))
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "copy.yaml"), []byte(strings.Replace(manifest, "bare.csv", "copy.csv", 1)), 0o644))
	run("status", "S", "--data-at", "copy.yaml").Succeeds(t)
	run("status", "S", "--data-at", "full.yaml").ComplainsLast(t, 1, "expected the data of the study")
	// The message has the commands that go on with changed data.
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "bare.yaml"), []byte(manifest+"sources: {exclude: [shop 3]}\n"), 0o644))
	refused := run("status", "S")
	refused.ComplainsLast(t, 1, "expected the data of the study", "by amtrl study new", "then amtrl study tell")
	_, export, _ := strings.Cut(refused.Stderr, "amtrl study ")
	_, export, _ = strings.Cut(export, "amtrl study ")
	export, _, _ = strings.Cut(export, ",")
	run(strings.Fields(export)...).Succeeds(t)
	must.Hold(t, len(c.read(t, "labels.csv")) > 20, "the export has %v", c.read(t, "labels.csv"))
}

// An environment variable that other commands read under the same name changes nothing, and the command line overrides
// the environment.
func TestStudyEnvironment(t *testing.T) {
	c := newCampaign(t, testrand.New(t), false, func(s string, i int) bool { return s == "zoo" && i < 20 })
	run := func(env string, args ...string) outcome {
		t.Helper()
		return under(t, c.dir, strings.Fields(env), append([]string{"study"}, args...)...)
	}
	settings := func(name string) study.Settings {
		t.Helper()
		return must.Get(study.Open(filepath.Join(c.dir, name)))(t).Settings
	}
	run("AMTRL_BUDGET=10000", "new", "S", "--data", "bare.yaml", "--round-budget", "60", "--k", "5").Succeeds(t)
	if s := settings("S"); s.RoundBudget != 60 || s.Config.Schedule.Budget != 60 || s.Config.Schedule.Epochs != 1 {
		t.Errorf("a round budget of 60 became %g, %+v", s.RoundBudget, s.Config.Schedule)
	}
	run("AMTRL_ROUND_BUDGET=60", "new", "T", "--data", "bare.yaml", "--budget", "900", "--epochs", "3", "--k", "5").Succeeds(t)
	if s := settings("T"); s.RoundBudget != 0 || s.Config.Schedule.Budget != 900 {
		t.Errorf("a budget of 900 in all became %g, %+v", s.RoundBudget, s.Config.Schedule)
	}
	run("AMTRL_ROUND_BUDGET=60", "new", "U", "--data", "bare.yaml", "--k", "5").Succeeds(t)
	run("AMTRL_BUDGET=900 AMTRL_ROUND_BUDGET=60", "new", "V", "--data", "bare.yaml").Complains(t, 2, "exclude each other")
	run("", "new", "V", "--data", "bare.yaml", "--round-budget", "60", "--budget", "9").Complains(t, 2, "exclude each other")
	run("", "new", "V", "--data", "bare.yaml", "--round-budget", "60", "--schedule", "theory").Complains(t, 2, "--schedule does nothing with "+
		"--round-budget")
	run("", "new", "V", "--data", "bare.yaml", "--round-budget", "60", "--epochs", "3").Complains(t, 2, "--epochs does nothing with --round")
	for _, hidden := range []string{"--delta", "--include-target"} {
		o := run("", "new", "--help").Succeeds(t)
		must.Hold(t, !strings.Contains(o.Stdout, hidden) && strings.Contains(o.Stdout, "--representation"), "help of a study:\n%s", o.Stdout)
	}
	plan := amtrltest.JSON[study.Plan](t, run("AMTRL_BUDGET=10000", "plan", "S", "--json").Succeeds(t))
	if plan.Budget > 60 {
		t.Errorf("a plan of %g, expected at most 60", plan.Budget)
	}
	asked := amtrltest.JSON[askSummary](t, run("AMTRL_BUDGET=10000 AMTRL_FORMAT=markdown", "ask", "S", "--json").Succeeds(t))
	if asked.Cost > 60 || asked.Rows == 0 {
		t.Errorf("an ask of %d rows for %g, expected at most 60", asked.Rows, asked.Cost)
	}
}
