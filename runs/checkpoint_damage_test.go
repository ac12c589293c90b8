package runs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// recommending returns settings whose finished methods leave a model and an evaluation each.
func recommending() pipeline.Config {
	cfg := smallConfig()
	cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
	cfg.Methods = []string{pipeline.Active, pipeline.Uniform, pipeline.Target}
	return cfg
}

// A random byte of a random file that an interrupted run left in checkpoint is damaged. The run ends in the same bytes,
// or says which file is damaged, and does so without it.
func TestRunNoticesDamageToCheckpoints(t *testing.T) {
	const tries = 60
	dev := openDevice(t, 1, smallSet(61, 4, 200, 5, false))
	id := identityOf(dev, recommending(), []string{"bytes_2"}, 1)
	clean := t.TempDir()
	var after []map[string]string
	must.Get(Run(t.Context(), dev, id, clean, func(s pipeline.Step) {
		if s.Record != nil && len(foldertest.Read(t, clean)) > 2 {
			after = append(after, foldertest.Read(t, clean))
		}
	}))(t)
	want := foldertest.Read(t, clean)
	unfinished := maps.Clone(want) // killed before the last files
	delete(unfinished, resultFile)
	delete(unfinished, modelFile)
	after = append(after, unfinished)
	rng, refused := testrand.New(t), map[string]int{}
	for range tries {
		files := maps.Clone(after[rng.IntN(len(after))])
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(n string) bool { return !strings.HasPrefix(n, checkpointDir) })
		name := names[rng.IntN(len(names))]
		raw := []byte(files[name])
		at, bit := rng.IntN(len(raw)), byte(1)<<rng.IntN(8)
		raw[at] ^= bit
		files[name] = string(raw)
		dir, what := restored(t, files), fmt.Sprintf("bit %d of byte %d of %d of %s", bit, at, len(raw), name)
		must.Do(t, Anew(func() error { return must.Err(Run(t.Context(), dev, id, dir, quiet)) }, func(d *DamagedCheckpoint) {
			refused[filepath.Ext(name)]++
			must.Hold(t, d.Path == filepath.Join(dir, name) && !strings.Contains(d.Error(), "\n"), "%s: %v", what, d)
		}))
		foldertest.Equal(t, what, foldertest.Read(t, dir), want)
	}
	if refused[".safetensors"] == 0 || refused[".jsonl"] == 0 {
		t.Errorf("of %d damages, these were refused: %v", tries, refused)
	}
}

// Models that a method did not leave so are not saved.
func TestSaveModelsRefusesDamage(t *testing.T) {
	dev := openDevice(t, 1, smallSet(61, 4, 200, 5, false))
	dir := t.TempDir()
	res := mustRun(t, dev, identityOf(dev, smallConfig(), []string{"bytes_2"}, 1), dir)
	path := filepath.Join(dir, checkpointDir, "uniform.safetensors")
	damageFile(t, path, damages["changed"])
	must.Fail(t, "a damaged model", SaveModels(dir, res), path, "remove result.json and the folder checkpoint")
	must.Absent(t, filepath.Join(dir, modelsDir))
}

// A model is used only where it is the one that the run left, as far as the files beside it tell; it may be copied without them.
func TestDamagedModelsPredictNothing(t *testing.T) {
	dev := openDevice(t, 1, smallSet(61, 4, 200, 5, false))
	dir := t.TempDir()
	res := mustRun(t, dev, identityOf(dev, smallConfig(), []string{"bytes_2"}, 1), dir)
	must.Do(t, SaveModels(dir, res))
	q := pipelinetest.NewQueue(t, dev.Device)
	open := func(dir, method string) error {
		p, _, err := OpenMethodPredictor(q, dir, method)
		if err == nil {
			p.Close()
		}
		return err
	}
	kept := filepath.Join(checkpointDir, "uniform.safetensors")
	for _, method := range []string{"", pipeline.Active, pipeline.Uniform} {
		must.Do(t, open(dir, method))
	}
	damageFile(t, filepath.Join(dir, kept), damages["changed"])
	must.Do(t, open(dir, pipeline.Active))
	must.Fail(t, "a damaged model of a method", open(dir, pipeline.Uniform),
		kept+": expected the file that checkpoint/epoch.safetensors lists")
	must.Do(t, os.Remove(filepath.Join(dir, kept)))
	must.Do(t, open(dir, pipeline.Uniform))
	saved := filepath.Join(modelsDir, "uniform.safetensors")
	damageFile(t, filepath.Join(dir, saved), damages["changed"])
	must.Fail(t, "a damaged model that was saved", open(dir, pipeline.Uniform), saved+": expected the file that")

	damageFile(t, filepath.Join(dir, modelFile), damages["changed"])
	for _, method := range []string{"", pipeline.Active} {
		must.Fail(t, "a damaged model", open(dir, method), modelFile+": expected the file that result.json lists")
	}
	must.Fail(t, "a damaged model", must.Err(ReadModel(dir)), "result.json")
	alone := restored(t, map[string]string{modelFile: foldertest.Read(t, dir)[modelFile]})
	must.Do(t, open(alone, ""))
}

// Hashes in a message have as many digits as it takes to tell them apart.
func TestOtherFile(t *testing.T) {
	for _, c := range []struct{ want, found, says string }{
		{"e564552f00", "0564552f00", "(sha256 e564552f), found 0564552f: x"},
		{"e564552f0023", "e564552f0013", "(sha256 e564552f002), found e564552f001: x"},
		{"e564552f00", "", "(sha256 e564552f), found none: x"},
	} {
		must.Fail(t, c.found, otherFile("p", "l", c.want, c.found, "x"), c.says)
	}
}
