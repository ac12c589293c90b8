package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
)

// Heads that are all zero say nothing: nu = 0, which allocates uniformly.
func TestRelevanceOfZeroHeads(t *testing.T) {
	b := openCPU(t, 1)
	for _, r := range []Relevance{{Kind: MinNorm, Rcond: -1}, {Kind: Ridge, Tau: 1}, {Kind: L1, Lambda: 0.3}} {
		nu, _, err := relevanceOf(t, b, r, make([]float64, 3*2), []float64{1, 2})
		if err != nil || norm(nu) != 0 {
			t.Errorf("%s: %v, %v, want zeros", r.Kind, nu, err)
		}
	}
}

func TestRelevanceRefusesNaN(t *testing.T) {
	b := openCPU(t, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, r := range []Relevance{{Kind: MinNorm, Rcond: -1}, {Kind: Ridge, Tau: 1}, {Kind: L1, Lambda: 0.3}} {
			for what, c := range map[string]struct{ a, w []float64 }{
				"a source's head":   {[]float64{1, 2, bad, 4}, []float64{1, 2}},
				"the target's head": {[]float64{1, 2, 3, 4}, []float64{1, bad}},
			} {
				nu, _, err := relevanceOf(t, b, r, c.a, c.w)
				if err == nil || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s, %g in %s: %v, %v, want an error of one line", r.Kind, bad, what, nu, err)
				}
			}
		}
	}
}

// Alg. 2, line 4, as it stands: n_m = max(beta nu_m^2 eps^-2, beta eps^-1), with
// nu not normalised and nu_1 = (1/M, ..., 1/M).
func TestTheoryScheduleIsLineFour(t *testing.T) {
	dev := openDevice(t, 1, smallSet(1, 6, 5000, 4, false))
	cfg := smallConfig()
	cfg.Methods, cfg.ERM.Iterations = []string{Active}, 5
	cfg.Schedule = Schedule{Kind: ScheduleTheory, Epochs: 4, Theory: &Theory{Delta: 0.1, R: 1, SigmaMin: 1, Beta: 3}}
	_, st := runUnit(t, dev, cfg, 1)
	nu, have := []float64{0.2, 0.2, 0.2, 0.2, 0.2}, make([]int, 5)
	for i, e := range st.Epochs {
		eps := math.Pow(2, -float64(i+1))
		for m := range have {
			want := min(max(int(math.Ceil(math.Max(3*nu[m]*nu[m]/(eps*eps), 3/eps)-1e-6)), have[m]), 4500)
			if e.Counts[m] != want {
				t.Errorf("epoch %d, source %d: %d samples, want %d (nu %g)", i+1, m, e.Counts[m], want, nu[m])
			}
		}
		nu, have = e.Nu, e.Counts
	}
}

// Junk after the object is refused, a closing bracket too.
func TestDecodeIdentityRefusesABracket(t *testing.T) {
	js, err := json.Marshal(someIdentity())
	if err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"}", "]", " }junk"} {
		if _, err := DecodeIdentity(append(slices.Clone(js), tail...)); err == nil {
			t.Errorf("%q after the object is accepted", tail)
		}
	}
}

// A config.json that was cut short is named as that, wherever the cut is.
func TestClaimNamesACutFile(t *testing.T) {
	id, dir := someIdentity(), t.TempDir()
	path := filepath.Join(dir, "config.json")
	whole, err := marshalIndent(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 2, len(whole) / 2, len(whole) - 2} {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s: byte %d: it ends early", path, n)
		if err := id.claim(dir); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// Seeds are uint64: the comparison must not go through float64.
func TestClaimNamesLargeSeeds(t *testing.T) {
	id, dir := someIdentity(), t.TempDir()
	id.Seeds = []uint64{1<<63 + 1}
	if err := id.claim(dir); err != nil {
		t.Fatal(err)
	}
	id.Seeds = []uint64{1<<63 + 3}
	if err := id.claim(dir); err == nil || !strings.Contains(err.Error(), "seeds") {
		t.Errorf("another seed: %v, want a line that names seeds", err)
	}
}

// Another representation is named as such, before the settings that come with it.
func TestClaimNamesTheRepresentation(t *testing.T) {
	id, dir := someIdentity(), t.TempDir()
	id.Config.Representation, id.Config.ERM, id.Config.Conv = ClassConv, ERM{}, DefaultConv(PresetDefault)
	if err := id.claim(dir); err != nil {
		t.Fatal(err)
	}
	if err := someIdentity().claim(dir); err == nil || !strings.Contains(err.Error(), "config.json: representation is conv there and linear here") {
		t.Errorf("another representation: %v", err)
	}
}

// A configuration that is not valid claims no folder.
func TestRunValidates(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 3, 100, 4, false))
	for what, change := range map[string]func(*Config){
		"k of 0":               func(c *Config) { c.K = 0 },
		"no methods":           func(c *Config) { c.Methods = nil },
		"NaN lambda":           func(c *Config) { c.ERM.Lambda = math.NaN() },
		"theory, no constants": func(c *Config) { c.Schedule = Schedule{Kind: ScheduleTheory, Epochs: 2} },
		"unknown rule":         func(c *Config) { c.Allocation.Rule = "" },
		"theory with a mix": func(c *Config) {
			c.Schedule = Schedule{Kind: ScheduleTheory, Epochs: 2, Theory: &Theory{Delta: 0.1, R: 1, SigmaMin: 1, Beta: 1}}
			c.Allocation.Mix = 0.1
		},
		"no epochs": func(c *Config) { c.Schedule.Epochs = 0 },
	} {
		func() {
			id := identityOf(dev, smallConfig(), []string{"bytes_2"}, 1)
			change(&id.Config)
			dir := t.TempDir()
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic: %v", what, p)
				}
				if files := foldertest.Read(t, dir); len(files) != 0 {
					t.Errorf("%s: %d files were written", what, len(files))
				}
			}()
			if _, err := Run(context.Background(), dev, id, dir, quiet); err == nil {
				t.Errorf("%s: no error", what)
			}
		}()
	}
}

// A cost or a nu of a task that does not exist is a misspelling.
func TestUnknownNamesInCostsAndNu(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 3, 100, 4, false))
	for what, change := range map[string]func(*Config){
		"costs": func(c *Config) { c.Costs = map[string]float64{"bites_0": 2} },
		"nu":    func(c *Config) { c.Methods, c.Nu = []string{Known}, map[string]float64{"bites_0": 2} },
	} {
		cfg := smallConfig()
		change(&cfg)
		u, err := newUnit(dev, &cfg, 2)
		if err == nil {
			u.close()
			t.Errorf("%s of bites_0: no error", what)
		}
	}
}

// The budget is a total: a floor that costs more than it must be refused, not
// overspent.
func TestFloorAboveTheBudget(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 5, 500, 4, false))
	cfg := smallConfig()
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 50, Budget: 100}
	u, err := newUnit(dev, &cfg, 2)
	if err != nil {
		return
	}
	defer u.close()
	st := &state{}
	if err := u.run(context.Background(), st, quiet, func(*state) error { return nil }); err == nil {
		t.Errorf("a budget of 100 was spent as %g", st.Epochs[1].Cost)
	}
}

// The list of units must make sense before any is carried out.
func TestSweepValidates(t *testing.T) {
	dev, good := smallSweep(t)
	for what, change := range map[string]func(*Identity){
		"a target twice":                      func(i *Identity) { i.Targets = []string{"bytes_2", "bytes_2"} },
		"a seed twice":                        func(i *Identity) { i.Seeds = []uint64{1, 1} },
		"a budget twice":                      func(i *Identity) { i.Budgets = []float64{100, 100} },
		"no target":                           func(i *Identity) { i.Targets = nil },
		"no seed":                             func(i *Identity) { i.Seeds = nil },
		"an unknown target":                   func(i *Identity) { i.Targets = []string{"bytes_2", "bytes_3"} },
		"a negative budget":                   func(i *Identity) { i.Budgets = []float64{100, -1} },
		"budgets outside the budget schedule": func(i *Identity) { i.Config.Schedule = Schedule{Kind: SchedulePaper, Epochs: 1} },
	} {
		id := good
		change(&id)
		done := 0
		_, err := Sweep(context.Background(), dev, id, t.TempDir(), 2, func(SweepStep) { done++ })
		if err == nil || strings.Contains(err.Error(), "NaN") || done > 0 {
			t.Errorf("%s: %v after %d units, want a clear error before the first", what, err, done)
		}
	}
}

// A result file of other work, or without its methods, is refused by name.
func TestSweepRefusesAForeignResult(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets, id.Seeds, id.Budgets = id.Targets[:1], id.Seeds[:1], id.Budgets[:1]
	name := id.Units()[0].Name() + ".json"
	for what, raw := range map[string]string{
		"empty":      `{}`,
		"no methods": `{"data":"small set","target":"bytes_2","seed":3,"budget":150,"methods":[],"sources":[]}`,
		"other":      `{"data":"small set","target":"bytes_0","seed":3,"budget":150,"methods":[{"method":"active"},{"method":"uniform"}],"sources":[]}`,
	} {
		func() {
			dir := t.TempDir()
			restore(t, dir, map[string]string{"results/" + name: raw})
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic: %v", what, p)
				}
			}()
			if _, err := Sweep(context.Background(), dev, id, dir, 1, func(SweepStep) {}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v, want a line that names the file", what, err)
			}
		}()
	}
}

// No samples at all is an error that says so.
func TestFitLinearWithoutSamples(t *testing.T) {
	b := openCPU(t, 1)
	r := newRegression(t, b, newRand(t), 3, []int{0, 0})
	_, err := FitLinear(context.Background(), b, r.s, 2, ERM{Iterations: 5, History: 5, Init: InitRandom}, make([]float32, 10), nil)
	if err == nil || strings.Contains(err.Error(), "NaN") {
		t.Errorf("%v, want an error about samples", err)
	}
	r = newRegression(t, b, newRand(t), 3, []int{2, 2})
	if _, err := FitLinear(context.Background(), b, r.s, 0, ERM{Iterations: 5, History: 5, Init: InitRandom}, nil, nil); err == nil {
		t.Error("K = 0 is accepted")
	}
}
