package manifest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// writeCells writes a file of text columns and of columns of numbers, of which NaN is none.
func writeCells(t *testing.T, path string, words map[string][]string, numbers map[string][]float32, names []string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f := must.Get(os.Create(path))(t)
	w := must.Get(table.NewWriter(path, f))(t)
	var cells []table.Cells
	rows := 0
	for _, name := range names {
		cells = append(cells, table.Cells{Name: name, Text: words[name], Numbers: numbers[name]})
		rows = max(len(words[name]), len(numbers[name]))
	}
	must.Do(t, w.Write(rows, cells))
	must.Do(t, w.Close())
	must.Do(t, f.Close())
}

// A table that is split by source into files is guessed like the same rows in one file, in any order of the files, though some columns are
// constant or empty in a file, have a code for none in another, or are known only with the label. Where the files are the sources, the same
// holds of all columns but that of the source.
func TestLookAtSplitTable(t *testing.T) {
	rng := testrand.New(t)
	sources := []string{"north", "east", "south", "west", "coast", "target"}
	for turn := range 6 {
		ending, named := []string{".csv", ".parquet"}[turn%2], turn < 4
		dir := t.TempDir()
		names := []string{"region", "plot", "kind", "year", "dose", "rain", "opinion", "remark", "yield"}
		type cellsOf struct {
			words   map[string][]string
			numbers map[string][]float32
		}
		var all cellsOf
		all.words, all.numbers = map[string][]string{}, map[string][]float32{}
		var files []string
		for i, place := range rng.Perm(len(sources)) {
			own := cellsOf{map[string][]string{}, map[string][]float32{}}
			rows := 150 + rng.IntN(200)
			for row := range rows {
				labelled := sources[place] != "target" || row%3 == 0
				words := map[string]string{"region": sources[place], "plot": fmt.Sprintf("p%d-%d", place, row/7),
					"kind": []string{"a", "b", "c"}[rng.IntN(3)], "opinion": "", "remark": "same"}
				numbers := map[string]float64{"year": float64(2019 + place%4), "dose": rng.NormFloat64(), "rain": 100 + 30*rng.NormFloat64(),
					"yield": math.NaN()}
				if labelled {
					words["opinion"], numbers["yield"] = []string{"good", "bad"}[rng.IntN(2)], rng.NormFloat64()
				}
				if rng.IntN(20) == 0 && i > 0 {
					numbers["rain"] = -9999
				}
				switch i {
				case 0:
					words["kind"], numbers["dose"] = "a", 120
				case 1:
					words["kind"], numbers["dose"] = "", math.NaN()
				}
				for name, word := range words {
					own.words[name], all.words[name] = append(own.words[name], word), append(all.words[name], word)
				}
				for name, x := range numbers {
					own.numbers[name], all.numbers[name] = append(own.numbers[name], float32(x)), append(all.numbers[name], float32(x))
				}
			}
			files = append(files, filepath.Join(dir, "parts", sources[place]+ending))
			of := names
			if !named {
				of = names[1:]
			}
			writeCells(t, files[i], own.words, own.numbers, of)
		}
		if turn%3 > 0 { // the first file has the constant columns in any order, or in a random one
			rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		}
		one := filepath.Join(dir, "all"+ending)
		writeCells(t, one, all.words, all.numbers, names)
		known := Known{Target: "target", Labels: []string{"yield"}}
		want := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), []string{one}, known))(t)
		must.EqualSlices(t, want.Features, []string{"year", "dose", "rain"}, "features of one file")
		must.EqualSlices(t, want.Categories, []string{"kind"}, "categories of one file")
		must.Equal(t, len(want.Codes), 1, "codes of one file")
		g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), files, known))(t)
		source := FromFile
		if named {
			source = want.Source
		}
		must.Equal(t, g.Source, source, "source")
		for _, c := range []struct {
			of        string
			got, want any
		}{
			{"features", g.Features, want.Features}, {"categories", g.Categories, want.Categories}, {"id", g.ID, want.ID},
			{"fill", g.Fill, want.Fill}, {"codes", g.Codes, want.Codes}, {"gaps", g.Gaps, want.Gaps}, {"knots", g.Knots, want.Knots},
			{"products", g.Products, want.Products}, {"labels", g.Labels, want.Labels}, {"target", g.Target, want.Target},
		} {
			must.Equal(t, fmt.Sprint(c.got), fmt.Sprint(c.want), "%s, %s, column of sources %t", ending, c.of, named)
		}
		reasons := func(g *Guess) (out []string) {
			for _, s := range g.Others {
				name := strings.Fields(s)[0]
				if kind := ""; name == "plot" || name == "opinion" || name == "remark" {
					for _, word := range []string{"--group", "known with the label", "the same"} {
						if strings.Contains(s, word) {
							kind = word
						}
					}
					name += ": " + kind
				}
				out = append(out, name)
			}
			return out
		}
		must.EqualSlices(t, reasons(g), []string{"plot: --group", "opinion: known with the label", "remark: the same"}, "reasons, split")
		must.EqualSlices(t, reasons(want), reasons(g), "reasons, one file")
	}
}
