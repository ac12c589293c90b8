package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// realData returns the folder of real data beside the repository, and skips the test if there is none.
func realData(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.Getwd())(t)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Skip("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	data := filepath.Join(dir, "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skip("real data are not here: ", err)
	}
	return data
}

func describeJSON(t *testing.T, dir string, args ...string) dataset.Description {
	t.Helper()
	return amtrltest.JSON[dataset.Description](t, succeed(t, dir, append([]string{"data", "info", "--json"}, args...)...))
}

// The digits written to a folder are the same data as the embedded digits.
func TestDataDigits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, "data", "digits", "-n", "50", "--data-seed", "3", "--out", "digits", "--threads", "1")
	want := describeJSON(t, dir, "--digits", "50", "--data-seed", "3")
	got := describeJSON(t, dir, "digits")
	if got.SHA256 != want.SHA256 || got.Name != "digits" || want.Name != "embedded digits" || len(got.Tasks) != 160 || len(got.Pools) != 16 {
		t.Errorf("the folder is %s (%s), the embedded data are %s (%s)", got.Name, got.SHA256, want.Name, want.SHA256)
	}
	if other := describeJSON(t, dir, "--digits", "50"); other.SHA256 == want.SHA256 {
		t.Error("two seeds give the same data")
	}
	if p := got.Pools[0]; p.Height != 28 || p.Width != 28 {
		t.Errorf("images of %d by %d, expected 28 by 28", p.Height, p.Width)
	}
	amtrl(t, dir, "data", "info", "digits").Prints(t, 0, "28 by 28")
	again := succeed(t, dir, "data", "digits", "-n", "50", "--data-seed", "3", "--out", "digits", "--quiet")
	if again.Stdout+again.Stderr != "" {
		t.Errorf("--quiet prints %s", again.Stdout+again.Stderr)
	}
	amtrl(t, dir, "data", "digits", "-n", "50", "--out", "digits").ComplainsOnce(t, 1)
}

func TestDataMNISTC(t *testing.T) {
	t.Parallel()
	idx := filepath.Join(realData(t), "mnist_idx")
	dir := t.TempDir()
	succeed(t, dir, "data", "mnistc", "--from", idx, "--out", "a", "--limit", "100", "--seed", "2")
	succeed(t, dir, "data", "mnistc", "--from", idx, "--out", "b", "--limit", "100", "--seed", "2", "--threads", "3", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "b"), filepath.Join(dir, "a"))
	d := describeJSON(t, dir, "a")
	if len(d.Pools) != 16 || len(d.Tasks) != 160 || d.Pools[0].Rows != 100 || d.Pools[0].Test != 20 {
		t.Errorf("unexpected data %+v", d.Pools)
	}
	o := succeed(t, dir, "run", "--data", "a", "--target-samples", "40", "--k", "5", "--iterations", "5", "--epochs", "2",
		"--floor", "2", "--budget", "500")
	o.Prints(t, 0, "target glass_blur_2 of a")
}

// An exclamation mark after a part means that the user asked for this part.
func TestFindIDX(t *testing.T) {
	dir := t.TempDir()
	touch := func(names ...string) {
		for _, n := range names {
			must.Do(t, os.WriteFile(filepath.Join(dir, n), nil, 0o644))
		}
	}
	check := func(part, images, labels string) {
		t.Helper()
		i, l, err := findIDX(dir, strings.TrimSuffix(part, "!"), strings.HasSuffix(part, "!"))
		if err != nil {
			i, l = "error", err.Error()
		}
		if filepath.Base(i) != images || !strings.Contains(filepath.Base(l), labels) {
			t.Errorf("part %s: %s and %s, expected %s and %s", part, i, l, images, labels)
		}
	}
	check("t10k", "error", "found none")
	touch("train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
	check("t10k", "error", `starts with "train-labels", found 0 of t10k-labels-idx1-ubyte.gz`)
	must.Do(t, os.Remove(filepath.Join(dir, "t10k-labels-idx1-ubyte.gz")))
	check("t10k", "error", "*train-labels*idx1*, found none")
	touch("train-labels-idx1-ubyte.gz", "readme")
	check("t10k", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
	check("train!", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
	check("t10k!", "error", `starts with "t10k", found 0 of train-images-idx3-ubyte.gz`)
	touch("t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte")
	check("t10k", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
	check("train", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
	check("t", "error", "found 2 of")
}

// onePool returns a pool of one row.
func onePool(name string, target bool) *dataset.Pool {
	return &dataset.Pool{Name: name, Target: target, Rows: 1, Cols: 1, F32: []float32{0}, Scale: 1}
}

func TestMatchTargets(t *testing.T) {
	set := &dataset.Set{Name: "x", Pools: []*dataset.Pool{onePool("x", false)}}
	for _, pool := range []string{"fog", "glass_blur"} {
		for class := range 3 {
			set.Tasks = append(set.Tasks, dataset.Task{Name: fmt.Sprintf("%s_%d", pool, class)})
		}
	}
	odd := &dataset.Set{Pools: set.Pools, Tasks: []dataset.Task{{Name: "shop [old]"}, {Name: "shop o"}, {Name: "why?"}, {Name: "whys"}}}
	for _, name := range []string{"shop [old]", "why?"} { // names that look like patterns
		got := must.Get(matchTargets(odd, &config{}, name))(t)
		must.Hold(t, slices.Equal(got, []string{name}), "%s: %v", name, got)
	}
	for list, want := range map[string][]string{
		"all":                    {"fog_0", "fog_1", "fog_2", "glass_blur_0", "glass_blur_1", "glass_blur_2"},
		"glass_blur_1,fog_0":     {"fog_0", "glass_blur_1"},
		"fog_*,fog_1":            {"fog_0", "fog_1", "fog_2"},
		"*_[02]":                 {"fog_0", "fog_2", "glass_blur_0", "glass_blur_2"},
		"glass_blur_? , fog_1,,": {"fog_1", "glass_blur_0", "glass_blur_1", "glass_blur_2"},
	} {
		if got, err := matchTargets(set, &config{}, list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, expected %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", ",", "fog", "fog_3", "[", "fog_0,zig_0"} {
		must.Fail(t, list, must.Err(matchTargets(set, &config{}, list)))
	}
	must.Fail(t, "zig*", must.Err(matchTargets(set, &config{}, "zig*")), `that matches "zig*": expected one of fog_0, fog_1, `)
	slashed := &dataset.Set{Pools: set.Pools, Tasks: []dataset.Task{{Name: "news/a"}, {Name: "news/b/c"}, {Name: "web"}}}
	must.EqualSlices(t, must.Get(matchTargets(slashed, &config{}, "news*"))(t), []string{"news/a", "news/b/c"}, "names with slashes")
}

// If pools are marked as targets, nothing else can be one, whether chosen by name, by a pattern or by "all".
func TestMatchMarkedTargets(t *testing.T) {
	set := &dataset.Set{Name: "x", Pools: []*dataset.Pool{onePool("a", false), onePool("b", true)},
		Tasks: []dataset.Task{{Name: "a_0"}, {Name: "b_0", Pool: 1}, {Name: "b_1", Pool: 1}}}
	pools := &config{Sources: pipeline.SourcesPools}
	for _, list := range []string{"all", "*", "?", "b"} {
		must.Hold(t, slices.Equal(must.Get(matchTargets(set, pools, list))(t), []string{"b"}), "%s", list)
	}
	must.Hold(t, slices.Equal(must.Get(matchTargets(set, &config{}, "*_0"))(t), []string{"b_0"}), "a pattern of tasks")
	for list, want := range map[string]string{
		"a":   `x has no target "a": expected one of b; a is a source alone`,
		"b,a": `x has no target "a": expected one of b; a is a source alone`,
		"c":   `x has no target "c": expected one of b`,
		"a*":  `x has no target that matches "a*"`,
	} {
		must.Fail(t, list, must.Err(matchTargets(set, pools, list)), want)
	}
	must.Fail(t, "a task", must.Err(matchTargets(set, &config{}, "a_0")), "expected one of b_0, b_1; a_0 is a source alone")
}

// A target named "all" is chosen in quotes. The bare word is refused, as it may mean this target or every one.
func TestTargetCalledAll(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("shop,label,x,y,z\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "%s,%d,%d,%d,1\n", []string{"all", "b", "c"}[i%3], i%2, i*i%7, i*5%11)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "d.csv"), []byte(rows.String()), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "d.yaml"), []byte("files: d.csv\ncolumns: {source: shop, features: [x, y, z]}\n"+
		"labels: [{column: label, type: binary}]\n"), 0o644))
	sweep := func(args ...string) amtrltest.Outcome {
		return amtrl(t, dir, append([]string{"sweep", "--data", "d.yaml", "--sources", "pools", "--dry-run", "--quiet"}, args...)...)
	}
	amtrl(t, dir, "data", "check", "d.yaml").Prints(t, 0, "\n(all)   1 of 3 features")
	sweep().Prints(t, 0, "all, b, c")
	sweep("--targets", `"all"`).Prints(t, 0, "targets         all\n")
	sweep("--targets", `"all",c`).Prints(t, 0, "all, c\n")
	sweep("--targets", "all").Complains(t, 2, `--targets all: a target has this name: expected '"all"' for it, or no --targets for every one`)
	id := runs.Identity{Targets: []string{"all"}, Seeds: []uint64{1}, Config: must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)}
	id.Data.Tasks = 3
	must.Hold(t, strings.Contains(repeatCommand("sweep", &id, nil).Line, `'"all"'`), "%s", repeatCommand("sweep", &id, nil).Line)
}

// run, sweep and submit refuse a target that is only a source in the manifest.
func TestTargetOfManifest(t *testing.T) {
	c := newCampaign(t, testrand.New(t), false, func(string, int) bool { return true })
	for _, args := range [][]string{{"run", "--target", "shop 1"}, {"sweep", "--targets", "shop 1"}, {"submit", "R", "--targets", "shop 1"}} {
		amtrl(t, c.dir, append(args, "--data", "full.yaml", "--quiet")...).Complains(t, 2, args[len(args)-2]+
			`: full has no target "shop 1": expected one of zoo; shop 1 is a source alone`)
	}
}

// Names that hold commas are given alone or in quotes, and the command that repeats a sweep quotes them.
func TestMatchTargetsWithCommas(t *testing.T) {
	set := &dataset.Set{Name: "x", Pools: []*dataset.Pool{onePool("x", false)},
		Tasks: []dataset.Task{{Name: "a"}, {Name: "b, c"}, {Name: "b, d"}, {Name: "c"}}}
	for list, want := range map[string][]string{
		"b, c": {"b, c"}, `"b, c",a`: {"a", "b, c"}, `a , "b, *"`: {"a", "b, c", "b, d"}, "c": {"c"}, "b*": {"b, c", "b, d"},
	} {
		must.Hold(t, slices.Equal(must.Get(matchTargets(set, &config{}, list))(t), want), "%s: expected %q", list, want)
	}
	for list, want := range map[string]string{
		"a,b, c":   `x has no task "b": expected one of a, "b, c", "b, d", c`,
		`a,"b, c`:  `expected names between commas, "in quotes" those that hold one, found "\"b, c"`,
		`"b, e",a`: `x has no task "b, e"`,
	} {
		must.Fail(t, list, must.Err(matchTargets(set, &config{}, list)), want)
	}
	id := runs.Identity{Targets: []string{"b, c", "a"}, Seeds: []uint64{1}, Config: must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)}
	id.Data.Tasks = 4
	c := repeatCommand("sweep", &id, nil)
	must.Hold(t, strings.Contains(c.Line, ` --targets '"b, c",a' `), "%s", c.Line)
}
