package runs

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

func someIdentity() Identity {
	cfg := smallConfig()
	cfg.Costs, cfg.Nu = map[string]float64{"a": 2}, map[string]float64{"b": -1}
	id := Identity{Version: "v1", Config: cfg, Targets: []string{"a"}, Seeds: []uint64{1, 1 << 63}, Budgets: []float64{100, 1e6}}
	id.Data = DataIdentity{"small", "00ff", 3, 2, 5, "aa"}
	id.Backend.Backend, id.Backend.Precision, id.Backend.Reason = "cpu", "float32", "asked for"
	return id
}

func TestIdentityRoundTrip(t *testing.T) {
	id := someIdentity()
	js := must.Get(jsonfile.Encode(id))(t)
	back, err := DecodeIdentity(js)
	if err != nil || !reflect.DeepEqual(back, id) {
		t.Errorf("%+v, %v, want %+v", back, err, id)
	}
}

func TestDecodeIdentityRefuses(t *testing.T) {
	js := must.Get(json.Marshal(someIdentity()))(t)
	good := string(js)
	swap := func(old, new string) string {
		if strings.Count(good, old) != 1 {
			t.Fatalf("%q is %d times in %s", old, strings.Count(good, old), good)
		}
		return strings.Replace(good, old, new, 1)
	}
	for what, raw := range map[string]string{
		"nothing":              "",
		"null":                 "null",
		"an array":             "[]",
		"half":                 good[:len(good)/2],
		"more":                 good + good,
		"unknown field":        swap(`"version":`, `"vision":1,"version":`),
		"unknown nested field": swap(`"lambda":0.001`, `"lambda":0.001,"lambada":1`),
		"NaN":                  swap(`"lambda":0.001`, `"lambda":NaN`),
		"infinite":             swap(`"lambda":0.001`, `"lambda":1e999`),
		"a string for a float": swap(`"lambda":0.001`, `"lambda":"0.001"`),
		"a negative seed":      swap(`"seeds":[1,`, `"seeds":[-1,`),
		"a fractional k":       swap(`"k":3`, `"k":3.5`),
		"k of 0":               swap(`"k":3`, `"k":0`),
		"unknown method":       swap(`["active","uniform"]`, `["active","passive"]`),
		"a method twice":       swap(`["active","uniform"]`, `["active","active"]`),
		"active second":        swap(`["active","uniform"]`, `["uniform","active"]`),
		"no method":            swap(`["active","uniform"]`, `[]`),
		"a cost of 0":          swap(`"costs":{"a":2}`, `"costs":{"a":0}`),
		"a negative lambda":    swap(`"lambda":0.001`, `"lambda":-2`),
		"unknown rule":         swap(`"rule":"squared"`, `"rule":"cubed"`),
		"mix above 1":          swap(`"mix":0`, `"mix":1.5`),
		"unknown schedule":     swap(`"kind":"budget"`, `"kind":"weekly"`),
		"no budget":            swap(`"budget":400`, `"budget":0`),
		"no epochs":            swap(`"epochs":3`, `"epochs":0`),
		"a negative floor":     swap(`"floor":5`, `"floor":-5`),
		"theory without terms": swap(`"kind":"budget"`, `"kind":"theory"`),
		"a negative ridge":     swap(`"ridge":0.01`, `"ridge":-2`),
		"unknown relevance":    swap(`"kind":"minnorm"`, `"kind":"maxnorm"`),
		"ridge without tau":    swap(`"kind":"minnorm"`, `"kind":"ridge"`),
		"l1 without lambda":    swap(`"kind":"minnorm"`, `"kind":"l1"`),
		"no target samples":    swap(`"target_samples":20`, `"target_samples":0`),
	} {
		must.Fail(t, what, must.Err(DecodeIdentity([]byte(raw))))
	}
	if _, err := DecodeIdentity([]byte(good + "\n \n")); err != nil {
		t.Errorf("white space at the end: %v", err)
	}
}

func TestFirstDifference(t *testing.T) {
	parse := func(s string) (v any) {
		must.Do(t, json.Unmarshal([]byte(s), &v))
		return v
	}
	for _, c := range []struct{ a, b, where, was, is string }{
		{`{"a":1}`, `{"a":2}`, "a", "1", "2"},
		{`{"a":1,"b":{"c":2,"d":3}}`, `{"a":1,"b":{"c":2,"d":4}}`, "b.d", "3", "4"},
		{`{"b":{"c":{"d.e":1}},"z":0}`, `{"b":{"c":{"d.e":2}},"z":1}`, "b.c.d.e", "1", "2"},
		{`{"a":1}`, `{}`, "a", "1", "absent"},
		{`{}`, `{"a":"x"}`, "a", "absent", `"x"`},
		{`{"a":{"b":1}}`, `{"a":[1]}`, "a", `{"b":1}`, "[1]"},
		{`{"a":[1,2]}`, `{"a":[1,3]}`, "a", "[1,2]", "[1,3]"},
		{`{"b":1,"a":1}`, `{"b":2,"a":2}`, "a", "1", "2"},
	} {
		where, was, is := firstDifference("", parse(c.a), parse(c.b))
		if where != c.where || compact(was) != c.was || compact(is) != c.is {
			t.Errorf("%s and %s differ at %s: %s and %s, want %s: %s and %s", c.a, c.b, where, compact(was), compact(is), c.where, c.was, c.is)
		}
	}
	if long := compact(strings.Repeat("x", 500)); len(long) > 80 || !strings.HasSuffix(long, "...") {
		t.Errorf("a long value is shown as %s", long)
	}
}

// The digest depends on every setting, but not on the reason for choosing the backend or on the name of the data.
func TestDigest(t *testing.T) {
	digest := func(id Identity) string {
		return must.Get(id.Digest())(t)
	}
	id := someIdentity()
	want := digest(id)
	id.Backend.Reason = "no CUDA"
	if digest(id) != want {
		t.Error("the digest depends on the reason")
	}
	if id.Data.Name = "moved"; digest(id) != want {
		t.Error("the digest depends on the name of the data")
	}
	for what, change := range map[string]func(*Identity){
		"version": func(i *Identity) { i.Version = "v2" },
		"data":    func(i *Identity) { i.Data.SHA256 = "11" },
		"columns": func(i *Identity) { i.Data.Columns = "bb" },
		"backend": func(i *Identity) { i.Backend.Backend = "cuda" },
		"seed":    func(i *Identity) { i.Seeds = []uint64{1, 1<<63 + 1} },
		"budget":  func(i *Identity) { i.Budgets = []float64{100, 1e6 + 1} },
		"target":  func(i *Identity) { i.Targets = []string{"b"} },
		"cost":    func(i *Identity) { i.Config.Costs = map[string]float64{"a": 3} },
		"ridge":   func(i *Identity) { i.Config.Head.Ridge = 0.02 },
	} {
		other := someIdentity()
		change(&other)
		if digest(other) == want {
			t.Errorf("the digest does not depend on the %s", what)
		}
	}
}

// NewIdentity completes the settings in one form, so that settings which mean the same have the same digest.
func TestNewIdentityCompletes(t *testing.T) {
	dev := openDevice(t, 1, smallSet(1, 3, 100, 4, false))
	digest := func(c pipeline.Config) string {
		id := NewIdentity("v", dev.Set, backend.Choice{Device: dev.Device}, c)
		d := must.Get(id.Digest())(t)
		must.Do(t, id.Config.Validate())
		return d
	}
	bare := smallConfig()
	bare.Relevance = pipeline.Relevance{Kind: pipeline.L1}
	spelt := smallConfig()
	spelt.Relevance = pipeline.Relevance{Kind: pipeline.L1, Rcond: 0.5, Tau: 3, Lambda: 0.3}
	spelt.Schedule.Theory = &pipeline.Theory{Delta: 0.5}
	if digest(bare) != digest(spelt) {
		t.Error("two configurations that mean the same have two identities")
	}
	if spelt.Relevance.Lambda = 0.4; digest(bare) == digest(spelt) {
		t.Error("two penalties have one identity")
	}
}

// A run goes on only with tables whose columns and classes have the names that they had.
func TestRunKeepsNames(t *testing.T) {
	set, dir := labelledSet(3), t.TempDir()
	run := func(change func(*dataset.Columns)) (*Result, error) {
		other, columns := *set, *set.Columns
		columns.Features, columns.Labels = slices.Clone(columns.Features), slices.Clone(columns.Labels)
		change(&columns)
		other.Columns = &columns
		dev := openDevice(t, 1, &other)
		return Run(t.Context(), dev, identityOf(dev, smallConfig(), []string{"pool2"}, 1), dir, nil)
	}
	same := func(*dataset.Columns) {}
	must.Get(run(same))(t)
	must.Get(run(same))(t)
	changes := []func(*dataset.Columns){
		func(c *dataset.Columns) { c.Features[0] = "f0" },
		func(c *dataset.Columns) { c.Labels[1].Classes = []string{"never", "yes"} },
	}
	for i, change := range changes {
		must.Fail(t, fmt.Sprint("change ", i), must.Err(run(change)), "names of columns", "expected the same settings to resume")
	}
}

// A run has the seed of the settings, unless the identity lists others.
func TestIdentityHasTheSeedOfTheSettings(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 3, 100, 4, false))
	cfg := smallConfig()
	cfg.Seed = 7
	id := NewIdentity("v1", dev.Set, backend.Choice{Device: dev.Device}, cfg)
	id.Targets = []string{"bytes_2"}
	ran := func() uint64 { return must.Get(Run(t.Context(), dev, id, t.TempDir(), quiet))(t).Seed }
	must.Hold(t, ran() == 7, "the run is not of the seed of the settings")
	id.Seeds = []uint64{3}
	must.Hold(t, ran() == 3, "the run is not of the seed of the identity")
}

// The identity of a set without pools, or of no device, is refused by its check and not by a panic.
func TestIdentityOfNothing(t *testing.T) {
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	set := &dataset.Set{Name: "nothing"}
	must.Fail(t, "a set without pools", NewIdentity("v", set, backend.Choice{}, cfg).Check(set))
}

// A run, or a sweep, on another device than that of its identity is refused, and so is one with another BLAS than the folder's: its bytes
// would differ.
func TestIdentityOfWhatComputes(t *testing.T) {
	set := smallSet(31, 4, 200, 5, true)
	dev, cfg, dir := openDevice(t, 1, set), smallConfig(), t.TempDir()
	id := identityOf(dev, cfg, []string{set.Tasks[0].Name}, 0)
	other := id
	other.Backend.Device = "NVIDIA H100"
	must.Fail(t, "another device", must.Err(Run(t.Context(), dev, other, dir, nil)), "the device that holds the data: backend.device is",
		"NVIDIA H100")
	must.Fail(t, "another device of a sweep", must.Err(Sweep(t.Context(), dev, other, dir, 1, nil)), "NVIDIA H100")
	other = NewIdentity("v0.0.0-test", set, backend.Choice{}, cfg)
	other.Targets = id.Targets
	must.Fail(t, "no device", must.Err(Run(t.Context(), dev, other, dir, nil)), "the device that holds the data: backend.backend is")
	must.Equal(t, len(must.Get(os.ReadDir(dir))(t)), 0, "files of runs that were refused")

	mustRun(t, dev, id, dir)
	before := blas64.Implementation()
	defer blas64.Use(before)
	blas64.Use(struct{ gonum.Implementation }{})
	must.Fail(t, "another BLAS than that of the identity", must.Err(Run(t.Context(), dev, id, dir, nil)), "backend.blas is")
	id = identityOf(dev, cfg, id.Targets, 0)
	must.Fail(t, "another BLAS than the folder's", must.Err(Run(t.Context(), dev, id, dir, nil)), "config.json: backend.blas is",
		"expected the same settings to resume")
	blas64.Use(gonum.Implementation{})
	must.Equal(t, HostBLAS(), "gonum.Implementation", "the name of a BLAS")
	blas64.Use(cpu.BLAS{})
	one := HostBLAS()
	must.Hold(t, one == "cpu.BLAS" || one == "gonum.Implementation", "the name of a BLAS is %s", one) // the latter without AVX2
	blas64.Use(cpu.BLAS{Threads: func() int { return 2 }})
	must.Equal(t, HostBLAS(), one, "the name of a BLAS with threads")
}
