package runs

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// What is read from a folder is what the run returned, and a file that is not the run's is refused.
func TestReadRun(t *testing.T) {
	set := smallSet(28, 6, 300, 6, true)
	dev := openDevice(t, 1, set)
	cfg := smallConfig()
	id, dir := identityOf(dev, cfg, []string{set.Tasks[1].Name}, 3), t.TempDir()
	must.Fail(t, "an empty folder", must.Err(KindOf(dir)), dir, "expected the folder of a finished run or sweep, or of a study")
	must.Do(t, os.WriteFile(filepath.Join(dir, configFile), []byte("{}"), 0o644))
	must.Fail(t, "a begun folder", must.Err(KindOf(dir)), "is not finished")
	must.Do(t, os.Remove(filepath.Join(dir, configFile)))
	must.Fail(t, "no folder", must.Err(KindOf(filepath.Join(dir, "none"))), "none")
	res := mustRun(t, dev, id, dir)
	if kind, err := KindOf(dir); kind != KindRun || err != nil {
		t.Errorf("the folder of a run is of kind %q, %v", kind, err)
	}
	f := must.Get(ReadRun(dir))(t)
	if !same(t, f.Result, res) || !same(t, f.Identity, id) || f.Seconds <= 0 {
		t.Errorf("read %+v", f)
	}
	p := must.Get(id.problem(set, id.Units()[0]))(t)
	if !reflect.DeepEqual(f.Sources, p.SourceNames()) || len(f.Epochs) != p.Rounds() {
		t.Errorf("%d epochs of the sources %v", len(f.Epochs), f.Sources)
	}
	for i, s := range f.Sources {
		first := f.Epochs[0]
		for _, e := range f.Epochs {
			if e.Method == first.Method {
				first = e
			}
		}
		if f.Available[s] < first.Counts[i] || f.Cost[s] != p.Costs[i]*float64(first.Counts[i]) {
			t.Errorf("%s: %d available, cost %g, %d drawn", s, f.Available[s], f.Cost[s], first.Counts[i])
		}
	}
	for _, name := range []string{epochsFile, modelFile, relevanceFile, rowsFile, configFile} {
		path := filepath.Join(dir, name)
		raw := must.Get(os.ReadFile(path))(t)
		damageFile(t, path, func(s string) (string, bool) { return s + " ", false })
		must.Fail(t, name, must.Err(ReadRun(dir)), path, "expected the file that result.json lists")
		must.Do(t, os.Remove(path))
		if name != configFile {
			must.Fail(t, "without "+name, must.Err(ReadRun(dir)), path, "found none: ")
		}
		must.Do(t, os.WriteFile(path, raw, 0o644))
	}
	// A digit of result.json itself.
	changed := t.TempDir()
	must.Do(t, os.CopyFS(changed, os.DirFS(dir)))
	damageFile(t, filepath.Join(changed, resultFile), func(s string) (string, bool) {
		at := strings.Index(s, `"share": 0.`) + len(`"share": 0.`)
		return s[:at] + string('0'+('9'-s[at])) + s[at+1:], false
	})
	must.Fail(t, "a digit", must.Err(ReadRun(changed)), filepath.Join(changed, resultFile), "it was changed: the command of the run mends it")
	// These files have the hashes that are listed, but hold what no run writes.
	for want, change := range map[string]func(r *Result, i *Identity) (file string, content any){
		"at least one epoch":             func(*Result, *Identity) (string, any) { return epochsFile, nil },
		"found 1 and 0":                  func(_ *Result, i *Identity) (string, any) { i.Seeds = nil; return configFile, i },
		"found 2 and 1":                  func(_ *Result, i *Identity) (string, any) { i.Targets = []string{"", ""}; return configFile, i },
		"results of the methods":         func(r *Result, _ *Identity) (string, any) { r.Methods[0].Method = ""; return "", nil },
		"to be recommended, found \"x\"": func(r *Result, _ *Identity) (string, any) { r.Recommended = "x"; return "", nil },
		"expected the result of":         func(r *Result, _ *Identity) (string, any) { r.Target = "x"; return "", nil },
		"result of at least one method":  func(r *Result, _ *Identity) (string, any) { r.Methods = nil; return "", nil },
	} {
		damaged := t.TempDir()
		must.Do(t, os.CopyFS(damaged, os.DirFS(dir)))
		var r Result
		must.Do(t, jsonfile.Read(filepath.Join(dir, resultFile), maxResult, &r))
		i := must.Get(ReadIdentity(dir))(t)
		if name, v := change(&r, &i); name != "" {
			var raw []byte
			if v != nil {
				raw = must.Get(jsonfile.Encode(v))(t)
			}
			must.Do(t, os.WriteFile(filepath.Join(damaged, name), raw, 0o644))
			r.Files[name] = HashOf(raw)
		}
		must.Do(t, os.WriteFile(filepath.Join(damaged, resultFile), must.Get(r.encode())(t), 0o644))
		must.Fail(t, want, must.Err(ReadRun(damaged)), damaged, want)
	}
	must.Do(t, os.Remove(filepath.Join(dir, timingFile)))
	if f := must.Get(ReadRun(dir))(t); f.Seconds != 0 {
		t.Errorf("without timing the run took %g s", f.Seconds)
	}
}

// same reports whether two values are equal as they are written.
func same(t *testing.T, a, b any) bool {
	t.Helper()
	return bytes.Equal(must.Get(jsonfile.Encode(a))(t), must.Get(jsonfile.Encode(b))(t))
}

func TestReadSweep(t *testing.T) {
	set := smallSet(29, 6, 300, 6, true)
	dev := openDevice(t, 1, set)
	id, dir := identityOf(dev, smallConfig(), []string{set.Tasks[1].Name, set.Tasks[2].Name}, 3), t.TempDir()
	sum := mustSweep(t, dev, id, dir, 1)
	if kind, err := KindOf(dir); kind != KindSweep || err != nil {
		t.Errorf("the folder of a sweep is of kind %q, %v", kind, err)
	}
	gotID, got, err := ReadSweep(dir)
	if err != nil || !same(t, gotID, id) || !same(t, got, sum) {
		t.Errorf("read %+v, %+v, %v", gotID, got, err)
	}
	var targets []string
	each := func(r *Result) error { targets = append(targets, r.Target); return nil }
	if err := EachResult(dir, id, sum, each); err != nil || !reflect.DeepEqual(targets, id.Targets) {
		t.Errorf("the results are of %v, %v", targets, err)
	}
	empty := *sum
	empty.Methods, empty.SHA256 = nil, ""
	must.Do(t, jsonfile.Write(filepath.Join(dir, summaryFile), empty))
	must.Fail(t, "a summary of nothing", must.Err(ReadSweep(dir)), summaryFile, "expected the scores of at least one method")
	must.Do(t, jsonfile.Write(filepath.Join(dir, summaryFile), sum))
	none := id
	none.Targets = nil
	must.Do(t, jsonfile.Write(filepath.Join(dir, configFile), none))
	must.Fail(t, "a sweep of nothing", must.Err(ReadSweep(dir)), configFile, "expected at least one target and one seed")
	path := filepath.Join(dir, resultName(id.Units()[1]))
	damageFile(t, path, func(s string) (string, bool) { return s + "\n", false })
	must.Fail(t, "a changed result", EachResult(dir, id, sum, func(*Result) error { return nil }), path, "the command of the sweep mends it")
}

// A relevance.csv with other columns, or with columns in another order, is refused.
func TestReadRelevanceRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), relevanceFile)
	const header = "source,nu,nu_low,nu_high,share,share_low,share_high,top_five,samples,cost,available\n"
	read := func(text string) (*Finished, error) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		var f Finished
		return &f, f.readRelevance(path)
	}
	f := must.Get(read(header + "a,1,,,1,,,,3,4.5,6\n"))(t)
	must.Hold(t, f.Cost["a"] == 4.5 && f.Available["a"] == 6, "costs %v, available %v", f.Cost, f.Available)
	for _, bad := range []string{"", "a,1,,,1,,,,3,4.5,6\n",
		strings.Replace(header, "cost,available", "available,cost", 1) + "a,1,,,1,,,,3,4,6\n",
		strings.Replace(header, ",available", "", 1) + "a,1,,,1,,,,3,4\n"} {
		must.Fail(t, bad, must.Err(read(bad)), path, "expected the columns source, nu, ")
	}
	must.Fail(t, "no number", must.Err(read(header+"a,1,,,1,,,,3,x,6\n")), path+": line 2: ")
}

// A source can give all its train rows, less the target's samples where it is the target.
func TestAvailable(t *testing.T) {
	set := smallSet(30, 5, 60, 6, true)
	cfg := smallConfig()
	cfg.IncludeTarget = true
	p := must.Get(pipeline.NewProblem(set, cfg, 2))(t)
	for i, n := range p.Available() {
		want := len(set.Tasks[p.Sources[i].Tasks[0]].Train)
		if p.Sources[i].Name == p.Target.Name {
			want -= cfg.TargetSamples
		}
		if n != want {
			t.Errorf("%s: %d rows, expected %d", p.Sources[i].Name, n, want)
		}
	}
}
