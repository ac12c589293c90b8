package runs

import (
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
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
