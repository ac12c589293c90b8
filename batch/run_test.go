package batch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// testPlan returns the plan of a sweep over these targets with two seeds.
func testPlan(t *testing.T, targets ...string) Plan {
	t.Helper()
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	return Plan{Identity: runs.Identity{Version: "v", Config: cfg.Complete(nil).Canonical(), Targets: targets, Seeds: []uint64{0, 1}},
		Flags: []Flag{{"data", "digits"}}, Pack: 1}
}

func create(t *testing.T, dir string, plan Plan) *Run {
	t.Helper()
	r, _ := must.Get2(Create(dir, plan, Environment{}))(t)
	return r
}

// submitLine returns the line that records, before the engine is called, the first part of the first submission.
func submitLine(r *Run, tasks Tasks) jobLine {
	return jobLine{Event: eventSubmit, Engine: "fake", Submission: 1, Part: Part{Key: partKey(r.Plan.ID, 1, 0), File: "1-0.sh", Tasks: tasks}}
}

func TestCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan := testPlan(t, "a", "b", "c")
	plan.Pack = 4
	r := create(t, dir, plan)
	if len(r.Tasks) != 2 || len(r.Tasks[0].Units) != 4 || len(r.Tasks[1].Units) != 2 ||
		r.Tasks[1].Units[1] != (Unit{Target: "c", Seed: 1}) || len(r.Plan.ID) != 12 {
		t.Errorf("%+v", r)
	}
	again, created, err := Create(dir, plan, Environment{})
	if err != nil || created || again.Plan.ID != r.Plan.ID {
		t.Errorf("created %v, %v", created, err)
	}
	for what, change := range map[string]func(*Plan){
		"config.k is 50 there and 7 here":             func(p *Plan) { p.Identity.Config.K = 7 },
		`targets is ["a","b","c"] there`:              func(p *Plan) { p.Identity.Targets = p.Identity.Targets[1:] },
		"pack is 4 there and 1 here":                  func(p *Plan) { p.Pack = 1 },
		`data is "digits" there and "elsewhere" here`: func(p *Plan) { p.Flags = []Flag{{"data", "elsewhere"}} },
	} {
		other := plan
		change(&other)
		must.Fail(t, what, must.Err(Create(dir, other, Environment{})), what)
	}
	must.Do(t, must.Err(Create(t.TempDir()+"/x/../y", plan, Environment{})))
	threads := plan // as plans were that named the number of threads
	threads.Flags = append(slices.Clone(plan.Flags), Flag{"threads", "5"})
	there := create(t, t.TempDir()+"/threads", threads)
	must.Do(t, must.Err(Create(there.Dir, plan, Environment{})))
	full := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(full, "thesis.tex"), nil, 0o644))
	must.Fail(t, "a folder of other files", must.Err(Create(full, plan, Environment{})), "thesis.tex")
}

// Create completes a folder that a killed Create left.
func TestCreateAfterKill(t *testing.T) {
	plan := testPlan(t, "a")
	for _, left := range [][]string{{}, {"log/"}, {"log/", "task/", "submit/", "tasks.jsonl"},
		{"log/", "tasks.jsonl", "env.json", ".plan.json.ABCDEFGHIJKLM.tmp"}} {
		dir := t.TempDir()
		for _, name := range left {
			path := filepath.Join(dir, name)
			if strings.HasSuffix(name, "/") {
				os.Mkdir(path, 0o755)
			} else if err := os.WriteFile(path, []byte("half"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		create(t, dir, plan)
		if r, err := Open(dir); err != nil || len(r.Tasks) != 2 {
			t.Errorf("after %v: %v", left, err)
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestOpenDamaged(t *testing.T) {
	for name, text := range map[string]string{
		"plan.json":   "{}}",
		"tasks.jsonl": `{"task":0,"units":[{"target":"z","seed":0}]}` + "\n",
		"jobs.jsonl":  `{"event":"submitted","key":"nobody"}` + "\n",
	} {
		dir := t.TempDir()
		create(t, dir, testPlan(t, "a"))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		must.Fail(t, name, must.Err(Open(dir)), name)
	}
}

// A line that a killed writer left incomplete is skipped, and the next record begins a line of its own.
func TestHalfLines(t *testing.T) {
	dir := t.TempDir()
	r := create(t, dir, testPlan(t, "a", "b"))
	must.Do(t, r.record(submitLine(r, Tasks{0, 1})))
	path := filepath.Join(dir, jobsFile)
	f := must.Get(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	f.WriteString(`{"event":"submitted","key":"` + partKey(r.Plan.ID, 1, 0) + `","id":"12`)
	f.Close()
	if r = must.Get(Open(dir))(t); len(r.Jobs) != 1 || !r.Jobs[0].Unsure {
		t.Fatalf("%+v", r.Jobs)
	}
	must.Do(t, r.record(jobLine{Event: eventFound, Part: Part{Key: partKey(r.Plan.ID, 1, 0)}, ID: "12"}))
	if r = must.Get(Open(dir))(t); r.Jobs[0].Unsure || r.Jobs[0].ID != "12" {
		t.Errorf("%+v", r.Jobs[0])
	}
}
