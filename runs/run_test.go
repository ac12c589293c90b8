package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

func identityOf(dev *pipeline.Resident, cfg pipeline.Config, targets []string, seeds ...uint64) Identity {
	id := NewIdentity("v0.0.0-test", dev.Set, backend.Choice{Device: dev.Device, Reason: "asked for"}, cfg)
	id.Targets, id.Seeds = targets, seeds
	return id
}

func restore(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)))
	}
}

// restored returns a new folder with the given files.
func restored(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	restore(t, dir, files)
	return dir
}

func quiet(pipeline.Step) {}

func mustRun(t testing.TB, dev *pipeline.Resident, id Identity, dir string) *Result {
	t.Helper()
	return must.Get(Run(t.Context(), dev, id, dir, quiet))(t)
}

// ran carries out a run on a set, and returns its folder and the files in it.
func ran(t testing.TB, set *dataset.Set) (dev *pipeline.Resident, id Identity, dir string, files map[string]string) {
	t.Helper()
	dev, dir = openDevice(t, 1, set), t.TempDir()
	id = identityOf(dev, smallConfig(), []string{"bytes_2"}, 1)
	mustRun(t, dev, id, dir)
	return dev, id, dir, foldertest.Read(t, dir)
}

// interrupted carries a run on, cancels it at the step for which at is true, and returns its error.
func interrupted(t testing.TB, dev *pipeline.Resident, id Identity, dir string, at func(pipeline.Step) bool) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return must.Err(Run(ctx, dev, id, dir, func(s pipeline.Step) {
		if at(s) {
			cancel()
		}
	}))
}

// A run that was stopped after any epoch, in the middle of any epoch, or between any two files that it writes, goes on to the same bytes,
// on any number of threads.
func TestRunResumes(t *testing.T) {
	for _, warm := range []bool{true, false} {
		linear, conv := smallConfig(), smallConvConfig()
		linear.ERM.WarmStart, conv.Conv.WarmStart = warm, warm
		checkResumes(t, smallSet(21, 5, 400, 8, true), linear, warm)
		checkResumes(t, smallImages(21, 5, 300, 6, 7), conv, warm)
	}
}

func checkResumes(t *testing.T, set *dataset.Set, cfg pipeline.Config, warm bool) {
	t.Helper()
	cfg.Methods, cfg.Nu = []string{pipeline.Active, pipeline.Uniform, pipeline.Known}, map[string]float64{set.Tasks[0].Name: 1}
	dev := openDevice(t, 2, set)
	id := identityOf(dev, cfg, []string{set.Tasks[1].Name}, 5)
	clean := t.TempDir()
	var after []map[string]string // the folder after each epoch
	res := must.Get(Run(t.Context(), dev, id, clean, func(s pipeline.Step) {
		if s.Record != nil {
			after = append(after, foldertest.Read(t, clean))
		}
	}))(t)
	want := foldertest.Read(t, clean)
	if len(after) != 5 {
		t.Fatalf("%d epochs, want 5", len(after))
	}
	other := openDevice(t, 1, set)
	for done := range 5 {
		dir := t.TempDir()
		err := interrupted(t, dev, id, dir, func(s pipeline.Step) bool { return s.Record == nil && s.Done == done })
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled in epoch %d: %v", done+1, err)
		}
		must.Absent(t, filepath.Join(dir, "result.json"))
		steps := 0
		again := must.Get(Run(t.Context(), other, id, dir, func(s pipeline.Step) { steps += b2i(s.Record != nil) }))(t)
		what := fmt.Sprintf("%s, warm start %v, resumed after %d epochs", cfg.Representation, warm, done)
		if steps != 5-done {
			t.Errorf("%s: %d epochs were carried out, want %d", what, steps, 5-done)
		}
		if !reflect.DeepEqual(again, res) {
			t.Errorf("%s: %+v, want %+v", what, again, res)
		}
		foldertest.Equal(t, what, foldertest.Read(t, dir), want)
	}
	// Killed between two writes: every file of the epoch is there but the checkpoint, or all files of the end but the last ones.
	checkpoint := filepath.Join("checkpoint", "epoch.safetensors")
	for i, files := range append(after, want) {
		for _, lost := range [][]string{{checkpoint}, {"result.json"}, {"result.json", "relevance.csv", "rows.csv"}} {
			if i == 5 && lost[0] == checkpoint {
				continue // with a result nothing is left to do
			}
			files := maps.Clone(files)
			for _, name := range lost {
				delete(files, name)
				if name == checkpoint && i > 0 {
					files[name] = after[i-1][name]
				}
			}
			dir := restored(t, files)
			mustRun(t, dev, id, dir)
			foldertest.Equal(t, fmt.Sprintf("%s, warm start %v, step %d without %v", cfg.Representation, warm, i, lost),
				foldertest.Read(t, dir), want)
		}
	}
}

// A run that is interrupted in each epoch in turn still ends, with the same bytes.
func TestRunResumesAgainAndAgain(t *testing.T) {
	dev, id, _, want := ran(t, smallSet(22, 4, 200, 5, false))
	dir := t.TempDir()
	for try := 0; ; try++ {
		err := interrupted(t, dev, id, dir, func(s pipeline.Step) bool { return s.Record != nil })
		if err == nil {
			if try != 3 {
				t.Errorf("finished after %d interruptions, want 3", try)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || try > 4 {
			t.Fatal(err)
		}
	}
	foldertest.Equal(t, "after 3 interruptions", foldertest.Read(t, dir), want)
}

// A finished run is read, not repeated, and its files stay.
func TestRunIsIdempotent(t *testing.T) {
	dev := openDevice(t, 1, smallSet(23, 3, 200, 5, false))
	id := identityOf(dev, smallConfig(), []string{"bytes_2"}, 1)
	dir := t.TempDir()
	res := mustRun(t, dev, id, dir)
	want := foldertest.Read(t, dir)
	again, err := Run(t.Context(), dev, id, dir, func(s pipeline.Step) { t.Errorf("it took the step %+v", s) })
	if err != nil || !reflect.DeepEqual(again, res) {
		t.Errorf("%+v, %v, want %+v", again, err, res)
	}
	// The reason for choosing the backend does not belong to the work.
	id.Backend.Reason = "a CUDA device does not work"
	must.Do(t, must.Err(Run(t.Context(), dev, id, dir, quiet)))
	foldertest.Equal(t, "after two more runs", foldertest.Read(t, dir), want)
}

// The seed decides the epochs, in whatever folder they are written.
func TestRunDependsOnTheSeed(t *testing.T) {
	set := smallSet(24, 3, 200, 5, false)
	dev := openDevice(t, 1, set)
	results := map[string]string{}
	for _, seed := range []uint64{1, 2, 1} {
		dir := t.TempDir()
		mustRun(t, dev, identityOf(dev, smallConfig(), []string{"bytes_2"}, seed), dir)
		got := foldertest.Read(t, dir)["epochs.jsonl"]
		key := strconv.FormatUint(seed, 10)
		if was, ok := results[key]; ok && was != got {
			t.Error("the same seed gave other epochs")
		}
		results[key] = got
	}
	if results["1"] == results["2"] {
		t.Error("two seeds gave the same epochs")
	}
}

// SaveModels copies the models of all methods.
func TestSaveModels(t *testing.T) {
	dev := openDevice(t, 1, smallSet(61, 4, 200, 5, false))
	dir := t.TempDir()
	res := mustRun(t, dev, identityOf(dev, smallConfig(), []string{"bytes_2"}, 1), dir)
	must.Do(t, SaveModels(dir, res))
	files := foldertest.Read(t, dir)
	for _, m := range res.Methods {
		if got := must.Get(decodeModel([]byte(files["models/"+m.Method+".safetensors"])))(t); got.Method != m.Method {
			t.Errorf("the model of %s is of %s", m.Method, got.Method)
		}
	}
	if files["models/active.safetensors"] != files["model.safetensors"] {
		t.Error("the model is not that of the first method, where none is recommended")
	}
}

// A run takes the warnings that its identity has, and does not look for them again.
func TestRunTakesWarnings(t *testing.T) {
	dev := openDevice(t, 1, smallSet(61, 4, 200, 5, false))
	id := identityOf(dev, smallConfig(), []string{"bytes_2"}, 1)
	must.Equal(t, len(mustRun(t, dev, id, t.TempDir()).Warnings), 0, "warnings of nothing")
	other := smallSet(61, 4, 200, 5, false)
	other.Columns = &dataset.Columns{Labels: []dataset.LabelColumn{{Name: "digit", Classes: []string{"one", "One"}}}}
	id.Warnings = other.Warnings()
	want := id.Warnings.Oddities(false)
	must.Equal(t, len(want), 1, "warnings of classes that differ in case")
	must.EqualSlices(t, mustRun(t, dev, id, t.TempDir()).Warnings, want, "warnings")
}
