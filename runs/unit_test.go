package runs

import (
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// Names of units with any letters are file names, each different. Names of earlier versions that already were stay as they are.
func TestUnitName(t *testing.T) {
	rng := testrand.New(t)
	dir := t.TempDir()
	seen := map[string]Unit{}
	for range 300 {
		name := strings.Repeat([]string{"a", " ", "%", "ж", "店", "…"}[rng.IntN(6)], rng.IntN(85))
		for _, end := range []string{"x", "y", "#", "店"} {
			for _, u := range []Unit{{name + end, 0, 0}, {name + end, math.MaxUint64, 0}, {name + end, 7, math.SmallestNonzeroFloat64}} {
				file := u.Name()
				if was, there := seen[file]; there && was != u {
					t.Fatalf("%+v and %+v are both %s", was, u, file)
				}
				seen[file] = u
				path := filepath.Join(dir, file+".safetensors")
				must.Do(t, os.WriteFile(path, nil, 0o644))
				must.Do(t, os.Remove(path))
				if _, err := url.PathUnescape(strings.SplitN(file, "#", 2)[0]); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
		}
	}
	for name, want := range map[string]string{
		"fog 2/ж":                "fog%202%2F%D0%B6_seed3_budget1500",
		strings.Repeat("x", 226): strings.Repeat("x", 226) + "_seed3_budget1500",
	} {
		if got := (Unit{name, 3, 1500}).Name(); got != want {
			t.Errorf("%s is called %s, expected %s", name, got, want)
		}
	}
	for _, room := range []int{20, 21, 22, 23, 100} {
		if got := FileName(strings.Repeat("ж", 90), room); len(got) > room || !utf8.ValidString(got) || FileName("ж", room) != "%D0%B6" {
			t.Errorf("of %d bytes: %s", room, got)
		}
	}
}

func TestUnitNames(t *testing.T) {
	seen := map[string]Unit{}
	for _, target := range []string{"glass_blur_2", "a/b", "a%2Fb", "..", "a_seed1", "a", "a b", "ä"} {
		for _, seed := range []uint64{1, 11, 1 << 63} {
			for _, budget := range []float64{0, 1, 1e4, 12345.5} {
				u := Unit{target, seed, budget}
				name := u.Name()
				if was, ok := seen[name]; ok {
					t.Errorf("%+v and %+v share the name %s", was, u, name)
				}
				seen[name] = u
				if filepath.Base(name) != name || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\: `) {
					t.Errorf("%+v has the name %s", u, name)
				}
			}
		}
	}
}

func TestUnitsAreOrdered(t *testing.T) {
	cfg := smallConfig()
	id := Identity{Config: cfg, Targets: []string{"b", "a"}, Seeds: []uint64{2, 1}, Budgets: []float64{7, 5}}
	want := []Unit{{"b", 2, 7}, {"b", 1, 7}, {"b", 2, 5}, {"b", 1, 5}, {"a", 2, 7}, {"a", 1, 7}, {"a", 2, 5}, {"a", 1, 5}}
	if got := id.Units(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := id.unitConfig(want[3]); got.Seed != 1 || got.Schedule.Budget != 5 {
		t.Errorf("the configuration of %+v is %+v", want[3], got)
	}
	id.Budgets = nil
	if got := id.Units(); len(got) != 4 || got[0].Budget != 400 {
		t.Errorf("without budgets: %v", got)
	}
	id.Config.Schedule = pipeline.Schedule{Kind: pipeline.SchedulePaper, Epochs: 4}
	if got := id.Units(); len(got) != 4 || got[0].Budget != 0 || got[0].Name() != "b_seed2" {
		t.Errorf("outside the budget schedule: %v", got)
	}
}
