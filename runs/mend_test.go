package runs

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
)

// damages holds ways to damage a file: empty it, cut it, change it, or remove it.
var damages = map[string]func(content string) (now string, gone bool){
	"empty":   func(string) (string, bool) { return "", false },
	"cut":     func(s string) (string, bool) { return s[:len(s)/2], false },
	"changed": func(s string) (string, bool) { return s[:len(s)-20] + string(s[len(s)-20]^1) + s[len(s)-19:], false },
	"gone":    func(string) (string, bool) { return "", true },
}

// A run is finished only while every file has its hash. A file that follows from others is written anew. Any other is an error that says
// what to do, and doing so gives the same bytes.
func TestFinishedRunIsMended(t *testing.T) {
	dev := openDevice(t, 1, smallSet(61, 4, 200, 5, false))
	alone := smallConfig()
	alone.Methods = []string{pipeline.Active}
	advised := recommending()
	advised.Methods = []string{pipeline.Active, pipeline.Uniform, pipeline.Target, pipeline.Constant}
	for _, cfg := range []pipeline.Config{smallConfig(), alone, advised} {
		id := identityOf(dev, cfg, []string{"bytes_2"}, 1)
		ref := t.TempDir()
		res := mustRun(t, dev, id, ref)
		want := foldertest.Read(t, ref)
		for name, sum := range res.Files {
			if HashOf([]byte(want[name])) != sum {
				t.Errorf("result.json has another hash of %s", name)
			}
		}
		for name := range want {
			if beside := name == resultFile || strings.HasPrefix(name, checkpointDir); beside == (res.Files[name] != "") {
				t.Errorf("%s: result.json lists %v", name, res.Files)
			}
		}
		if m := must.Get(ReadModel(ref))(t); m.Method != cmp.Or(res.Recommended, cfg.Methods[0]) {
			t.Errorf("the model is of %s, recommended is %q", m.Method, res.Recommended)
		}
		for _, name := range append(slices.Sorted(maps.Keys(res.Files)), resultFile) {
			if name == configFile { // config.json says to which work the folder belongs
				continue
			}
			for how, damage := range damages {
				what := strings.Join(append(cfg.Methods, name, how), " ")
				dir := restored(t, want)
				damageFile(t, filepath.Join(dir, name), damage)
				again, err := Run(t.Context(), dev, id, dir, func(pipeline.Step) { t.Errorf("%s: it computed", what) })
				if err != nil || !reflect.DeepEqual(again.Methods[0], res.Methods[0]) {
					t.Errorf("%s: %+v, %v", what, again, err)
				}
				foldertest.Equal(t, what, foldertest.Read(t, dir), want)
			}
		}
		// Where the model of the method in checkpoint, or the evaluation of that model, is damaged too, the run must be computed again.
		lost := map[string]string{modelFile: ".safetensors"}
		if res.Files[evaluationFile] != "" {
			lost[evaluationFile] = ".jsonl"
		}
		for name, kind := range lost {
			for how, damage := range damages {
				dir := restored(t, want)
				kept := filepath.Join(dir, checkpointDir, cmp.Or(res.Recommended, cfg.Methods[0])+kind)
				damageFile(t, filepath.Join(dir, name), damage)
				damageFile(t, kept, damage)
				hurt := foldertest.Read(t, dir)
				err := must.Err(Run(t.Context(), dev, id, dir, quiet))
				must.Fail(t, how, err, filepath.Join(dir, name), "remove result.json and the folder checkpoint")
				foldertest.Equal(t, how, foldertest.Read(t, dir), hurt)
				must.Do(t, os.Remove(filepath.Join(dir, resultFile)))
				if how != "gone" {
					must.Fail(t, how, must.Err(Run(t.Context(), dev, id, dir, quiet)), kept, "is damaged: expected checksum")
					must.Do(t, os.Remove(kept))
				}
				must.Get(Run(t.Context(), dev, id, dir, quiet))(t)
				foldertest.Equal(t, how, foldertest.Read(t, dir), want)
			}
		}
		// Without a checkpoint relevance.csv still follows from other files, but the evaluation and the epochs do not.
		for name, mended := range map[string]bool{relevanceFile: true, evaluationFile: false, epochsFile: false} {
			if res.Files[name] == "" {
				continue
			}
			dir := restored(t, want)
			damageFile(t, filepath.Join(dir, name), damages["changed"])
			must.Do(t, os.RemoveAll(filepath.Join(dir, checkpointDir)))
			if _, err := Run(t.Context(), dev, id, dir, quiet); (err == nil) != mended {
				t.Errorf("%s changed, no checkpoint: %v", name, err)
			}
		}
	}
}

func damageFile(t *testing.T, path string, damage func(string) (string, bool)) {
	t.Helper()
	raw := must.Get(os.ReadFile(path))(t)
	now, gone := damage(string(raw))
	if gone {
		must.Do(t, os.Remove(path))
	} else {
		must.Do(t, os.WriteFile(path, []byte(now), 0o644))
	}
}

// A number that was changed in result.json is put right.
func TestChangedResultIsNotDone(t *testing.T) {
	dev, id, _, want := ran(t, smallSet(62, 4, 200, 5, false))
	for what, change := range map[string]func(*Result){
		"a score": func(r *Result) { r.Methods[1].Score.Value++ },
		"a nu":    func(r *Result) { r.Sources[0].Nu++ },
	} {
		var res Result
		must.Do(t, json.Unmarshal([]byte(want[resultFile]), &res))
		change(&res)
		for _, checkpoint := range []bool{true, false} {
			dir := restored(t, want)
			must.Do(t, jsonfile.Write(filepath.Join(dir, resultFile), res))
			if !checkpoint {
				must.Do(t, os.RemoveAll(filepath.Join(dir, checkpointDir)))
			}
			mustRun(t, dev, id, dir)
			foldertest.Equal(t, what, foldertest.Read(t, dir), want)
		}
	}
	// The files that result.json lists must be those of a run.
	for what, files := range map[string]Hashes{
		"too few": {configFile: "0"},
		"a path":  {"../x": "0", configFile: "0", epochsFile: "0", modelFile: "0"},
	} {
		var res Result
		must.Do(t, json.Unmarshal([]byte(want[resultFile]), &res))
		res.Files = files
		dir := restored(t, want)
		must.Do(t, os.WriteFile(filepath.Join(dir, resultFile), must.Get(res.encode())(t), 0o644))
		must.Fail(t, what, must.Err(Run(t.Context(), dev, id, dir, quiet)), "result.json: files: expected")
	}
}

// A sweep computes a unit again whose result is not the one that it had, and leaves no checkpoint of a unit with a result.
func TestFinishedSweepIsMended(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets, id.Seeds = id.Targets[:1], id.Seeds[:1]
	ref := t.TempDir()
	sum := mustSweep(t, dev, id, ref, 1)
	want := foldertest.Read(t, ref)
	if len(sum.Files) != len(want)-1 {
		t.Errorf("summary.json lists %v of %d files", sum.Files, len(want))
	}
	for name, hash := range sum.Files {
		if HashOf([]byte(want[filepath.FromSlash(name)])) != hash {
			t.Errorf("summary.json has another hash of %s", name)
		}
	}
	unit := id.Units()[1]
	for _, name := range []string{resultName(unit), resultsFile, summaryFile} {
		for how, damage := range damages {
			dir := restored(t, want)
			damageFile(t, filepath.Join(dir, name), damage)
			restore(t, dir, map[string]string{filepath.Join(checkpointDir, id.Units()[0].Name()+".safetensors"): "left behind"})
			if _, err := Sweep(t.Context(), dev, id, dir, 1, func(s SweepStep) {
				if s.Resumed == (s.Unit == unit && name == resultName(unit)) && name != summaryFile {
					t.Errorf("%s %s: %s was resumed: %v", name, how, s.Unit.Name(), s.Resumed)
				}
			}); err != nil {
				t.Errorf("%s %s: %v", name, how, err)
			}
			foldertest.Equal(t, name+" "+how, foldertest.Read(t, dir), want)
		}
	}
	// A result that a collection left half-written is written again.
	dir := t.TempDir()
	results := make([]Result, len(id.Units()))
	for i, u := range id.Units() {
		must.Do(t, json.Unmarshal([]byte(want[resultName(u)]), &results[i]))
	}
	restore(t, dir, map[string]string{resultName(unit): want[resultName(unit)][:40]})
	must.Do(t, must.Err(WriteSweep(dir, id, results, make([]float64, len(results)))))
	foldertest.Equal(t, "collected", foldertest.Read(t, dir), want)
}

// A line of timing.jsonl that a killed process left unfinished does not spoil the next line.
func TestTimingAfterATornLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "timing.jsonl")
	must.Do(t, os.WriteFile(path, []byte(`{"unit":"a","seconds":1}`+"\n"+`{"unit":"b","sec`), 0o644))
	must.Do(t, (timingLine{Unit: "c", Seconds: 2}).append(dir))
	raw, err := os.ReadFile(path)
	if lines := strings.Split(string(raw), "\n"); err != nil || len(lines) != 4 || lines[2] != `{"unit":"c","seconds":2}` {
		t.Errorf("%q, %v", raw, err)
	}
}

// A model whose representation has too many columns to compute a relevance is refused when it is read.
func TestWideModelIsRefused(t *testing.T) {
	dir := t.TempDir()
	const k = 20_000
	ts := tensors{zeros("representation.weight", k, 1), zeros("sources.weight", 1, k), zeros("target.weight", 1, k)}
	raw := must.Get(safetensors.Encode(ts, map[string]string{"sources": `["a"]`}))(t)
	restore(t, dir, map[string]string{modelFile: string(raw)})
	must.Fail(t, "20000 columns", must.Err(ReadModel(dir)), "expected at most 4096 columns, found 20000")
}
