package runs

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// Seeds and budgets that are added leave what a sweep of all leaves, and keep what is there as it is.
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

// A checkpoint of a unit holds whatever else the sweep has.
func TestSweepGrowsWhileBegun(t *testing.T) {
	dev, id := smallSweep(t)
	u := id.Units()[0]
	less := with(id, id.Budgets, u.Seed)
	path := filepath.Join(t.TempDir(), "unit.safetensors")
	want := must.Get(RunUnit(context.Background(), dev, id, u, path, func(pipeline.Step) {}))(t)
	if got := must.Get(RunUnit(context.Background(), dev, less, u, path, func(pipeline.Step) {}))(t); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
