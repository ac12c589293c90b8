package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// unseen reports whether the guess does not look at row i of a CSV file of unseenRows rows.
func unseen(i int) bool { return i >= inspectRows && (i-inspectRows)%64 >= runRows }

const unseenRows = inspectRows + 5000

// A file whose rows are in the order of the source or of the label is guessed as in any other order.
func TestLookAtRowsInOrder(t *testing.T) {
	rng := testrand.New(t)
	for _, ending := range []string{".csv", ".parquet"} {
		rows := 3*inspectRows + rng.IntN(9000)
		file := filepath.Join(t.TempDir(), "rows"+ending)
		cell := func(known Known, cohort, label func(i int) string) *Guess {
			f := must.Get(os.Create(file))(t)
			w := must.Get(table.NewWriter(file, f))(t)
			var columns [3][]string
			numbers := make([]float32, rows)
			for i := range rows {
				columns[0] = append(columns[0], fmt.Sprint("r", rng.Uint64()))
				columns[1], columns[2] = append(columns[1], cohort(i)), append(columns[2], label(i))
				numbers[i] = float32(rng.NormFloat64())
			}
			must.Do(t, w.Write(rows, []table.Cells{{Name: "id", Text: columns[0]}, {Name: "cohort", Text: columns[1]},
				{Name: "label", Text: columns[2]}, {Name: "x", Numbers: numbers}}))
			must.Do(t, w.Close())
			must.Do(t, f.Close())
			return must.Get(Look(t.Context(), "m.yaml", []string{file}, known))(t)
		}
		random := func(words ...string) func(int) string { return func(int) string { return words[rng.IntN(len(words))] } }
		ordered := func(words ...string) func(int) string {
			return func(i int) string { return words[i*len(words)/rows] }
		}
		for _, g := range []*Guess{
			cell(Known{}, random("a", "b", "c"), ordered("no", "yes")),
			cell(Known{}, ordered("a", "b", "c"), random("no", "yes")),
			cell(Known{Target: "c"}, ordered("a", "b", "c"), random("no", "yes")),
		} {
			must.Hold(t, g.Source == "cohort" && g.Labels[0].Column == "label" && g.Labels[0].Type == Binary && g.ID == "id" &&
				len(g.Others) == 0 && len(g.SourceCounts) == 3, "%s, %d rows: %+v, not used %v", ending, rows, g.Manifest, g.Others)
		}
	}
}

// Runs of rows begin equally far apart, and there are as many as there should be.
func TestSpread(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		rows := int64(inspectRows + 1 + rng.IntN(1<<uint(4+rng.IntN(16))))
		s := spread{every: runRows, at: fileRows{first: inspectRows, from: inspectRows}}
		for b := (table.Batch{Scalars: make([]table.Values, 1)}); ; b.First++ {
			if b.First = s.next(b.First); b.First >= rows {
				break
			}
			if b.Scalars[0].Ints = []int64{b.First}; b.First >= inspectRows {
				s.add(&b)
			}
		}
		most := (rows - inspectRows + s.every - 1) / s.every
		must.Hold(t, int64(len(s.runs)) == most && most <= 2*fewestRuns && (s.every == runRows || most > fewestRuns),
			"%d runs of %d rows, every %d", len(s.runs), rows, s.every)
		for i, run := range s.runs {
			first := inspectRows + int64(i)*s.every
			for j, row := range run.values[0].Ints {
				must.Equal(t, row, first+int64(j), "row %d of run %d of %d rows", j, i, rows)
			}
			must.Equal(t, int64(len(run.values[0].Ints)), min(runRows, rows-first), "rows of run %d of %d rows", i, rows)
		}
	}
}
