package runs

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// Junk after the object is refused, a closing bracket too.
func TestDecodeIdentityRefusesABracket(t *testing.T) {
	js := must.Get(json.Marshal(someIdentity()))(t)
	for _, tail := range []string{"}", "]", " }junk"} {
		must.Fail(t, fmt.Sprintf("%q after the object", tail), must.Err(DecodeIdentity(append(slices.Clone(js), tail...))))
	}
}

// A config.json that was cut short is reported as that, wherever the cut is.
func TestClaimNamesACutFile(t *testing.T) {
	id, dir := someIdentity(), t.TempDir()
	path := filepath.Join(dir, "config.json")
	whole := must.Get(jsonfile.Encode(id))(t)
	for _, n := range []int{0, 1, 2, len(whole) / 2, len(whole) - 2} {
		must.Do(t, os.WriteFile(path, whole[:n], 0o644))
		want := fmt.Sprintf("%s: byte %d: it ends early", path, n)
		if _, err := id.claimLocked(dir, asIs); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// Seeds are uint64: the comparison must not go through float64.
func TestClaimNamesLargeSeeds(t *testing.T) {
	id, dir := someIdentity(), t.TempDir()
	id.Seeds = []uint64{1<<63 + 1}
	must.Do(t, must.Err(id.claimLocked(dir, asIs)))
	id.Seeds = []uint64{1<<63 + 3}
	must.Fail(t, "another seed", must.Err(id.claimLocked(dir, asIs)), "seeds")
}

// Another representation is reported as that, before the settings that come with it.
func TestClaimNamesTheRepresentation(t *testing.T) {
	id, dir := someIdentity(), t.TempDir()
	id.Config.Representation, id.Config.ERM, id.Config.Conv = pipeline.ClassConv, pipeline.ERM{}, pipeline.DefaultConv(pipeline.PresetDefault)
	must.Do(t, must.Err(id.claimLocked(dir, asIs)))
	want := "config.json: representation is conv there and linear here"
	must.Fail(t, "another representation", must.Err(someIdentity().claimLocked(dir, asIs)), want)
}

// A configuration that is not valid claims no folder.
func TestRunValidates(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 3, 100, 4, false))
	for what, change := range map[string]func(*pipeline.Config){
		"k of 0":               func(c *pipeline.Config) { c.K = 0 },
		"no methods":           func(c *pipeline.Config) { c.Methods = nil },
		"NaN lambda":           func(c *pipeline.Config) { c.ERM.Lambda = math.NaN() },
		"theory, no constants": func(c *pipeline.Config) { c.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleTheory, Epochs: 2} },
		"unknown rule":         func(c *pipeline.Config) { c.Allocation.Rule = "" },
		"theory with a mix": func(c *pipeline.Config) {
			c.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleTheory, Epochs: 2}
			c.Schedule.Theory = &pipeline.Theory{Delta: 0.1, R: 1, SigmaMin: 1, Beta: 1}
			c.Allocation.Mix = 0.1
		},
		"no epochs": func(c *pipeline.Config) { c.Schedule.Epochs = -1 },
		"a first round without a sample": func(c *pipeline.Config) {
			c.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 20, Budget: 100}
		},
	} {
		id := identityOf(dev, smallConfig(), []string{"bytes_2"}, 1)
		change(&id.Config)
		dir := t.TempDir()
		must.Fail(t, what, must.Err(Run(t.Context(), dev, id, dir, quiet)))
		if files := foldertest.Read(t, dir); len(files) != 0 {
			t.Errorf("%s: %d files were written", what, len(files))
		}
	}
}

// Data without labels are refused before anything is written.
func TestRunWithoutLabels(t *testing.T) {
	set := smallSet(27, 3, 100, 4, false)
	set.Tasks[1].Labels = nil
	dev, dir := openDevice(t, 1, set), t.TempDir()
	id := identityOf(dev, smallConfig(), []string{"bytes_2"}, 1)
	const want = "expected labels of the output floats_1"
	must.Fail(t, "a run", must.Err(Run(t.Context(), dev, id, dir, quiet)), want)
	must.Fail(t, "a sweep", must.Err(Sweep(t.Context(), dev, id, dir, 1, nil)), want)
	must.Hold(t, len(foldertest.Read(t, dir)) == 0, "files were written")
}

// The list of units must make sense before any is carried out.
func TestSweepValidates(t *testing.T) {
	dev, good := smallSweep(t)
	for what, change := range map[string]func(*Identity){
		"a target twice":    func(i *Identity) { i.Targets = []string{"bytes_2", "bytes_2"} },
		"a seed twice":      func(i *Identity) { i.Seeds = []uint64{1, 1} },
		"a budget twice":    func(i *Identity) { i.Budgets = []float64{100, 100} },
		"no target":         func(i *Identity) { i.Targets = nil },
		"no seed":           func(i *Identity) { i.Seeds = nil },
		"an unknown target": func(i *Identity) { i.Targets = []string{"bytes_2", "bytes_3"} },
		"a negative budget": func(i *Identity) { i.Budgets = []float64{100, -1} },
		"budgets outside the budget schedule": func(i *Identity) {
			i.Config.Schedule = pipeline.Schedule{Kind: pipeline.SchedulePaper, Epochs: 1}
		},
	} {
		id := good
		change(&id)
		done := 0
		_, err := Sweep(t.Context(), dev, id, t.TempDir(), 2, func(SweepStep) { done++ })
		if err == nil || strings.Contains(err.Error(), "NaN") || done > 0 {
			t.Errorf("%s: %v after %d units, want a clear error before the first", what, err, done)
		}
	}
}

// A result file of other work, or without its methods, is refused, and the error names it.
func TestSweepRefusesAForeignResult(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets, id.Seeds, id.Budgets = id.Targets[:1], id.Seeds[:1], id.Budgets[:1]
	name := id.Units()[0].Name() + ".json"
	for what, raw := range map[string]string{
		"empty":      `{}`,
		"no methods": `{"data":"small set","target":"bytes_2","seed":3,"budget":150,"methods":[],"sources":[]}`,
		"other": `{"data":"small set","target":"bytes_0","seed":3,"budget":150,` +
			`"methods":[{"method":"active"},{"method":"uniform"}],"sources":[]}`,
	} {
		dir := restored(t, map[string]string{"results/" + name: raw})
		must.Fail(t, what, must.Err(Sweep(t.Context(), dev, id, dir, 1, func(SweepStep) {})), name)
	}
}

// Data of the same shape as those of the identity but with other content are refused: their results would stand under its hash.
func TestOtherDataThanOfTheIdentity(t *testing.T) {
	dev, other, same := openDevice(t, 1, smallSet(27, 3, 100, 4, false)), openDevice(t, 1, smallSet(28, 3, 100, 4, false)),
		openDevice(t, 1, smallSet(27, 3, 100, 4, false))
	cfg := smallConfig()
	cfg.Methods, cfg.ERM.Iterations = []string{pipeline.Active}, 2
	id, dir := identityOf(dev, cfg, []string{"bytes_2"}, 1), t.TempDir()
	const want = "expected those of the identity"
	must.Fail(t, "a run", must.Err(Run(t.Context(), other, id, dir, quiet)), want)
	must.Fail(t, "a sweep", must.Err(Sweep(t.Context(), other, id, dir, 1, nil)), want)
	must.Fail(t, "a sweep on two devices", must.Err(SweepAcross(t.Context(), []*pipeline.Resident{dev, other}, id, dir, 1, nil, nil)), want)
	must.Hold(t, len(foldertest.Read(t, dir)) == 0, "files were written")
	must.Do(t, must.Err(Run(t.Context(), same, id, t.TempDir(), quiet)))
}
