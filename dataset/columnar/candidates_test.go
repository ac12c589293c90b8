package columnar

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where all rows have labels, the candidates have the tasks, the splits and the names of the set itself, and as many known labels. Where
// the same rows have no labels, the candidates have all but the labels, since the manifest names the classes.
func TestCandidatesOfLabelledRows(t *testing.T) {
	for _, kind := range []string{"{column: y, classes: [a, b, c]}", "{column: y, type: binary, classes: [a, b]}",
		"{column: y, type: number}"} {
		for _, split := range []bool{true, false} {
			rng := testrand.New(t)
			dir := t.TempDir()
			number := strings.Contains(kind, "number")
			write := func(name string, labelled bool) string {
				var text strings.Builder
				text.WriteString("id,source,split,y,x0,x1\n")
				for i := range 300 {
					class, part := []string{"a", "b", "c"}[i/5%3], "train"
					if strings.Contains(kind, "binary") {
						class = []string{"a", "b"}[i/5%2]
					}
					if number {
						class = fmt.Sprint(i)
					}
					if split && i%7 == 0 {
						part = "test"
					}
					if !labelled {
						class = ""
					}
					fmt.Fprintf(&text, "%s%d,s%d,%s,%s,%.3f,%.3f\n", name, i, i%5, part, class, float64(i%11), float64(i%13))
				}
				must.Do(t, os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text.String()), 0o644))
				out := filepath.Join(dir, name)
				m := parse(t, dir, "files: "+name+".csv\ncolumns: {id: id, source: source, split: split, features: [x0, x1]}\nlabels: ["+kind+
					"]\ntarget: {source: s4, folds: 3}\n")
				must.Do(t, Import(t.Context(), m, out, nil))
				return out
			}
			full, bare := write("full", true), write("bare", false)
			want := must.Get(Open(full))(t)
			samples := 1 + rng.IntN(20)
			for folder, known := range map[string]int{full: 300, bare: 0} {
				c := must.Get(OpenCandidates(folder, "", samples))(t)
				same := func(a, b dataset.Task) bool {
					return a.Name == b.Name && a.Pool == b.Pool && a.Output == b.Output && slices.Equal(a.Train, b.Train) && slices.Equal(a.Test, b.Test)
				}
				if !slices.EqualFunc(c.Set.Tasks, want.Tasks, same) {
					t.Errorf("%s: tasks %v, expected %v", kind, names(c.Set), names(want))
				}
				found := 0
				for _, k := range c.Known {
					found += len(k.Rows)
				}
				if found != known || c.AskTarget != (known == 0) || c.Target != 4 {
					t.Errorf("%s: %d known labels, expected %d; ask for the target: %v", kind, found, known, c.AskTarget)
				}
				at := 0
				must.Do(t, c.ScanIDs(func(pool, row int, id []byte) bool {
					if want, _, err := c.Set.Pools[pool].Origin.Find(row); err != nil || want != string(id) {
						t.Errorf("the id of row %d of pool %d is %q, expected %q, %v", row, pool, id, want, err)
					}
					at++
					return true
				}))
				must.Equal(t, at, 300, "ids")
			}
			must.Fail(t, "a target without labels", must.Err(OpenCandidates(bare, "", 0)), "ask for with --target-samples")
			if a, b := must.Get(Digest(full))(t), must.Get(Digest(bare))(t); a == b || len(a) != 64 {
				t.Errorf("digests %s and %s", a, b)
			}
		}
	}
}

func names(set *dataset.Set) (out []string) {
	for _, task := range set.Tasks {
		out = append(out, fmt.Sprintf("%s (%d, %d)", task.Name, len(task.Train), len(task.Test)))
	}
	return out
}

// The name of the column of sources is not part of the digest of the rows: a study goes on with folders of versions that did not keep it.
func TestDigestOfRenamedSources(t *testing.T) {
	var digests []string
	for _, name := range []string{"shop", "store"} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(name+",y,x\na,1,1\nb,2,2\na,3,3\n"), 0o644))
		m := must.Get(manifest.Parse(filepath.Join(dir, "m.yaml"), []byte("files: rows.csv\ncolumns: {source: "+name+
			", features: x}\nlabels: [{column: y, type: number}]\n")))(t)
		out := filepath.Join(dir, "out")
		must.Do(t, Import(t.Context(), m, out, nil))
		must.Equal(t, must.Get(Open(out))(t).Columns.Source, name, "the column of the sources")
		digests = append(digests, must.Get(Digest(out))(t))
	}
	must.Equal(t, digests[1], digests[0], "the digest")
}

// The digest tells apart the rows that a study would take for others: other held-out rows, and, without a column of ids, other numbers of
// the rows. With ids the order in which sources alternate does not matter.
func TestDigestOfRows(t *testing.T) {
	header := "id,source,split,y,x\n"
	mixed := header + "1,a,train,1,1\n2,b,train,2,2\n3,a,test,3,3\n4,b,train,4,4\n"
	sorted := header + "1,a,train,1,1\n3,a,test,3,3\n2,b,train,2,2\n4,b,train,4,4\n"
	held := header + "1,a,test,1,1\n2,b,train,2,2\n3,a,train,3,3\n4,b,train,4,4\n"
	digest := func(rows, columns string) string {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
		m := parse(t, dir, "files: rows.csv\ncolumns: {source: source, split: split, features: x"+columns+
			", scale: none}\nlabels: [{column: y, type: number}]\n")
		out := filepath.Join(dir, "out")
		must.Do(t, Import(t.Context(), m, out, nil))
		return must.Get(Digest(out))(t)
	}
	for _, columns := range []string{"", ", id: id"} {
		same := digest(mixed, columns)
		must.Equal(t, digest(mixed, columns), same, "the digest of the same rows")
		must.Equal(t, digest(sorted, columns) == same, columns != "", "sorted by source%s: the same digest", columns)
		must.Hold(t, digest(held, columns) != same, "other held-out rows%s: the same digest", columns)
	}
}
