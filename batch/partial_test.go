package batch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// A partial sweep has results for all its units, and says what of the run it lacks.
func TestPartialSweep(t *testing.T) {
	plan := func() Plan {
		p := testPlan(t, "a", "b", "c", "d")
		p.Identity.Config.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 2, Floor: 1, Budget: 100}
		p.Identity.Seeds, p.Identity.Budgets = []uint64{7, 8, 9}, []float64{100, 200}
		return p
	}
	for _, c := range []struct {
		missing func(u Unit) bool
		left    string
		units   int
	}{
		{func(Unit) bool { return false }, "", 24},
		{func(u Unit) bool { return u.Target == "c" && u.Seed == 8 }, "target c", 18},
		{func(u Unit) bool { return u.Seed == 7 }, "seed 7", 16},
		{func(u Unit) bool { return u.Budget == 100 }, "budget 100", 12},
		{func(u Unit) bool { return u.Target == "a" || u.Target == "d" || u.Seed == 9 && u.Target != "b" }, "targets a, d, and seed 9", 8},
		{func(u Unit) bool { return u.Seed > 7 || u.Target == "b" && u.Budget == 200 }, "target b, and seeds 8, 9", 6},
		{func(u Unit) bool { return u.Target != "a" || u.Seed != 8 || u.Budget != 200 }, "targets b, c, d, and seeds 7, 9, and budget 100", 1},
		{func(Unit) bool { return true }, "", 0},
	} {
		r := create(t, filepath.Join(t.TempDir(), "run"), plan())
		left := 0
		for task := range r.Tasks {
			if !c.missing(r.Tasks[task].Units[0]) {
				leave(t, r, task, "one")
				left++
			}
		}
		s, err := r.PartialSweep()
		if c.units == 0 {
			_, unfinished := errors.AsType[*Unfinished](err)
			must.Hold(t, unfinished, "without results: %v", err)
			continue
		}
		must.Do(t, err)
		must.Equal(t, s.Left, c.left, "what is left out where %d of 24 units have results", left)
		out := t.TempDir()
		_, id, _, err := s.Write(out)
		must.Do(t, err)
		must.Equal(t, len(id.Units()), c.units, "units without %s", c.left)
		must.Equal(t, id.Config.Schedule.Budget, id.Budgets[0], "the budget of the settings")
		read, _, err := runs.ReadSweep(out)
		must.Do(t, err)
		must.EqualSlices(t, read.Units(), id.Units(), "units that are written")
	}
	// Whatever is missing or damaged, no unit without a result is written.
	rng := testrand.New(t)
	for range 20 {
		r, most := create(t, filepath.Join(t.TempDir(), "run"), plan()), rng.Float64()
		there := map[Unit]bool{}
		for task := range r.Tasks {
			u := r.Tasks[task].Units[0]
			if there[u] = rng.Float64() > most; there[u] || rng.IntN(2) == 0 {
				leave(t, r, task, "one")
				if !there[u] {
					must.Do(t, os.Truncate(r.resultPath(task), 40))
				}
			}
		}
		s, err := r.PartialSweep()
		if err != nil {
			must.Fail(t, "too little", err, "no result yet")
			continue
		}
		lacks := slices.ContainsFunc(s.Identity.Units(), func(u Unit) bool { return !there[u] })
		must.Hold(t, !lacks && len(s.Identity.Units()) > 0, "%v is to be written, and %v have results", s.Identity.Units(), there)
		must.Equal(t, s.Left == "", len(s.Identity.Units()) == 24, "whether nothing is left out")
	}
}
