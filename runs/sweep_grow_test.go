package runs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// A sweep to which seeds and budgets are added ends with the files of a sweep of all of them, and keeps the results that it had.
func TestSweepGrows(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets = id.Targets[:1]
	id = with(id, id.Budgets, id.Seeds...)
	whole := t.TempDir()
	mustSweep(t, dev, id, whole, 1)
	want := foldertest.Read(t, whole)
	for name, steps := range map[string][]Identity{
		"a seed, then all":  {with(id, id.Budgets[:1], 3), with(id, id.Budgets[:1], 4), with(id, id.Budgets, 3, 4)},
		"budgets, then all": {with(id, id.Budgets[1:], 3, 4), with(id, id.Budgets, 3, 4)},
		"apart":             {with(id, id.Budgets[:1], 3), with(id, id.Budgets[1:], 3), with(id, id.Budgets[1:], 4)},
	} {
		dir := t.TempDir()
		var before map[string]string
		for _, step := range steps {
			sum := mustSweep(t, dev, step, dir, 1)
			now := foldertest.Read(t, dir)
			for file, content := range before {
				if strings.HasPrefix(file, resultsDir+"/") && now[file] != content {
					t.Errorf("%s: %s has changed", name, file)
				}
			}
			before = now
			if n := len(must.Get(ReadIdentity(dir))(t).Units()); n*len(id.Config.Methods) != strings.Count(now[resultsFile], "\n")-1 ||
				len(sum.Files) != n+2 {
				t.Errorf("%s: %d units, %d files in the summary", name, n, len(sum.Files))
			}
		}
		foldertest.Equal(t, name, before, want)
		steps[0].Backend.Reason = "another"
		mustSweep(t, dev, steps[0], dir, 1)
		foldertest.Equal(t, name+", the first again", foldertest.Read(t, dir), want)
	}
}

func with(id Identity, budgets []float64, seeds ...uint64) Identity {
	id.Budgets, id.Seeds, id.Config = budgets, seeds, cloneConfig(id.Config)
	id.Config.Schedule.Budget = budgets[0]
	return id
}

// The checkpoint of a unit stays valid whatever other units the sweep has.
func TestSweepGrowsWhileBegun(t *testing.T) {
	dev, id := smallSweep(t)
	u := id.Units()[0]
	less := with(id, id.Budgets, u.Seed)
	path := filepath.Join(t.TempDir(), "unit.safetensors")
	want := must.Get(RunUnit(t.Context(), dev, id, u, path, func(pipeline.Step) {}))(t)
	if got := must.Get(RunUnit(t.Context(), dev, less, u, path, func(pipeline.Step) {}))(t); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Units that are carried out apart, each stopped after every epoch and resumed, are put together to the files of the sweep.
func TestUnitsApartAreTheSweep(t *testing.T) {
	dev, id := smallSweep(t)
	whole, apart := t.TempDir(), t.TempDir()
	want := mustSweep(t, dev, id, whole, 2)
	var results []Result
	var seconds []float64
	for i, s := range id.Units() {
		checkpoint := filepath.Join(t.TempDir(), "deep", "unit.safetensors")
		var res *Result
		stops := 0
		for res == nil {
			ctx, stop := context.WithCancel(context.Background())
			begun := false
			var err error
			res, err = RunUnit(ctx, dev, id, s, checkpoint, func(step pipeline.Step) {
				if step.Record != nil && step.Done < step.Total {
					begun = true
					stop()
				}
			})
			stop()
			if err != nil && (!errors.Is(err, context.Canceled) || !begun) {
				t.Fatal(err)
			}
			if err != nil {
				stops++
			}
		}
		if stops != 2 {
			t.Errorf("%s was stopped %d times, expected 2 stops in 3 epochs", s.Name(), stops)
		}
		results, seconds = append(results, *res), append(seconds, float64(i))
	}
	for range 2 {
		got := must.Get(WriteSweep(apart, id, results, seconds))(t)
		foldertest.Equal(t, "apart", foldertest.Read(t, apart), foldertest.Read(t, whole))
		if !reflect.DeepEqual(got.Methods[0], want.Methods[0]) {
			t.Errorf("the summary is %+v, want %+v", got, want)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(apart, "timing.jsonl")); err != nil || strings.Count(string(raw), "\n") != len(results) {
		t.Errorf("timing.jsonl: %v: %s", err, raw)
	}

	// A sweep over the folder finds nothing left to do.
	must.Get(Sweep(t.Context(), dev, id, apart, 1, func(s SweepStep) {
		if !s.Resumed {
			t.Errorf("%s was computed again", s.Unit.Name())
		}
	}))(t)

	results[1].Methods[0].Score.Value++
	must.Fail(t, "another result", must.Err(WriteSweep(apart, id, results, seconds)), "expected the result that the task left")
	results[0], results[1] = results[1], results[0]
	must.Fail(t, "results out of order", must.Err(WriteSweep(t.TempDir(), id, results, seconds)))
	must.Fail(t, "a result too few", must.Err(WriteSweep(t.TempDir(), id, results[1:], seconds)))
}
