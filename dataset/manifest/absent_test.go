package manifest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Files of which some lack columns are guessed like files with blank cells there, whichever file comes first.
func TestLookAtFilesThatLackColumns(t *testing.T) {
	rng := testrand.New(t)
	sources := []string{"north", "east", "south", "west", "coast", "target"}
	names := []string{"plot", "kind", "dose", "rain", "soil", "yield", "fold"}
	for turn := range 6 {
		ending, dir := []string{".csv", ".parquet"}[turn%2], t.TempDir()
		lacks := map[string]string{"kind": sources[rng.IntN(5)], "rain": sources[rng.IntN(5)], "yield": sources[rng.IntN(5)]}
		lacking := func(name, source string) bool {
			return lacks[name] == source || name == "fold" && source != "target" // only the target has rows to test on
		}
		var full, fewer []string
		for place, source := range sources {
			words, numbers := map[string][]string{}, map[string][]float32{}
			for row := range 100 + rng.IntN(100) {
				number := func(name string, x float64) {
					if lacking(name, source) || name == "yield" && source == "target" && row%2 == 0 {
						x = math.NaN()
					}
					numbers[name] = append(numbers[name], float32(x))
				}
				word := func(name, value string) {
					if lacking(name, source) {
						value = ""
					}
					words[name] = append(words[name], value)
				}
				word("plot", fmt.Sprintf("p%d-%d", place, row))
				word("kind", []string{"a", "b", "c"}[rng.IntN(3)])
				word("fold", []string{"train", "test"}[rng.IntN(2)])
				for _, name := range []string{"dose", "rain", "soil", "yield"} {
					number(name, rng.NormFloat64())
				}
			}
			full, fewer = append(full, filepath.Join(dir, "full", source+ending)), append(fewer, filepath.Join(dir, "fewer", source+ending))
			writeCells(t, full[place], words, numbers, names)
			writeCells(t, fewer[place], words, numbers, slices.DeleteFunc(slices.Clone(names), func(name string) bool {
				return lacking(name, source)
			}))
		}
		if turn > 0 {
			for i, j := range rng.Perm(len(full)) {
				full[i], full[j], fewer[i], fewer[j] = full[j], full[i], fewer[j], fewer[i]
			}
		}
		known := Known{Target: "target", Labels: []string{"yield"}}
		want := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), full, known))(t)
		must.EqualSlices(t, want.Features, []string{"dose", "rain", "soil"}, "features of blank cells")
		must.Equal(t, want.Split, "fold", "split of blank cells")
		must.Equal(t, len(want.Absent), 0, "absent columns of blank cells")
		g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), fewer, known))(t)
		for _, c := range []struct {
			of        string
			got, want any
		}{
			{"features", sorted(g.Features), sorted(want.Features)}, {"categories", g.Categories, want.Categories}, {"id", g.ID, want.ID},
			{"source", g.Source, want.Source}, {"split", g.Split, want.Split}, {"fill", g.Fill, want.Fill}, {"knots", g.Knots, want.Knots},
			{"gaps", sorted(g.Gaps), sorted(want.Gaps)}, {"labels", g.Labels, want.Labels}, {"counts", g.SourceCounts, want.SourceCounts},
			{"absent", sorted(g.Absent), "[fold kind rain yield]"}, {"others", g.Others, want.Others},
		} {
			must.Equal(t, fmt.Sprint(c.got), fmt.Sprint(c.want), "%s, %s", ending, c.of)
		}
		for _, said := range g.Lacking {
			file := "5 of 6 files, such as "
			if name := strings.Fields(said)[0]; name != "fold" {
				file = name + " (" + lacks[name] + ending + ")"
			}
			must.Hold(t, strings.Contains(said, file), "%q, expected %q", said, file)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(g.Text()), 0o644))
		must.EqualSlices(t, must.Get(Read(filepath.Join(dir, "m.yaml")))(t).Absent, g.Absent, "absent columns of the file")
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
