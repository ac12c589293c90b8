package columnar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A label is the class that a manifest names with or without zero decimals, which pandas writes for integers where some are missing.
func TestClassesWithZeroDecimals(t *testing.T) {
	dir := t.TempDir()
	rows := "id,domain,kind,f0\n0,a,0.0,1\n1,a,,2\n2,a,1.0,3\n3,a,2,4\n4,b,1,5\n5,b,0,6\n6,b,2.00,7\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
	out := filepath.Join(dir, "out")
	must.Do(t, Import(t.Context(), parse(t, dir, `{files: rows.csv, columns: {id: id, source: domain, features: f0}, target: {source: b},
		labels: [{column: kind, classes: [2.0, 0, 1]}]}`), out, nil))
	set := must.Get(Open(out))(t)
	for name, want := range map[string][]float32{"a_0": {1, 0, 0, 0}, "a_1": {0, 0, 1, 0}, "a_2.0": {0, 0, 0, 1},
		"b_0": {0, 1, 0}, "b_1": {1, 0, 0}, "b_2.0": {0, 0, 1}} {
		i := slices.IndexFunc(set.Tasks, func(t dataset.Task) bool { return t.Name == name })
		if i < 0 || !slices.Equal(set.Tasks[i].Labels, want) {
			t.Errorf("task %s is %v, expected the labels %v", name, set.Tasks[max(0, i)], want)
		}
	}
	must.Equal(t, len(set.Tasks), 6, "tasks")
}

// A boolean is the class that a manifest names, also in the spelling of pandas, R and spreadsheets.
func TestClassesOfBooleans(t *testing.T) {
	for _, c := range []struct{ classes, no, yes string }{
		{"[false, true]", "False", "True"}, {"[false, true]", "false", "TRUE"}, {"['FALSE', 'True']", "false", "true"},
	} {
		dir := t.TempDir()
		rows := fmt.Sprintf("domain,kept,f0\na,%[1]s,1\na,%[2]s,2\na,%[2]s,3\nb,%[2]s,4\nb,%[1]s,5\nb,%[2]s,6\n", c.no, c.yes)
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
		out := filepath.Join(dir, "out")
		m := parse(t, dir, "{files: rows.csv, columns: {source: domain, features: f0}, target: {source: b}, labels: [{column: kept, classes: "+
			c.classes+"}]}")
		must.Do(t, Import(t.Context(), m, out, nil))
		set := must.Get(Open(out))(t)
		must.Equal(t, len(set.Tasks), 4, "tasks of %s", c.classes)
		must.EqualSlices(t, set.Tasks[1].Labels, []float32{0, 1, 1}, "%s as %s, task %s", c.classes, c.yes, set.Tasks[1].Name)
	}
}

// Labels whose differences float32 does not hold are refused. Labels that are all equal are not, nor are labels in a large or small unit.
func TestLabelsBeyondFloat32(t *testing.T) {
	for _, c := range []struct{ add, unit, want string }{
		{"1600000000", "", "labels: y: expected numbers that float32 can tell apart, found 1.6e+09 to 1.600000005e+09: measure them from"},
		{"16000000", "", ""}, {"0.1", "e-30", ""}, {"-1", "e17", ""}, {"0", "e-46", "float32 can tell apart"},
	} {
		dir := t.TempDir()
		rows := "shop,y,f0\n"
		for i := range 6 {
			y := must.Get(strconv.ParseFloat(c.add, 64))(t) + float64(i)
			rows += fmt.Sprintf("s%d,%s%s,%d\n", i%2, strconv.FormatFloat(y, 'f', -1, 64), c.unit, i)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
		m := parse(t, dir, "{files: rows.csv, columns: {source: shop, features: f0}, labels: [{column: y, type: number}]}")
		if err := Import(t.Context(), m, filepath.Join(dir, "out"), nil); c.want == "" {
			must.Do(t, err)
		} else {
			must.Fail(t, c.add+c.unit, err, c.want)
		}
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("shop,y,f0\na,0.1,1\na,0.1,2\nb,0.1,3\n"), 0o644))
	m := parse(t, dir, "{files: rows.csv, columns: {source: shop, features: f0}, labels: [{column: y, type: number}]}")
	must.Do(t, Import(t.Context(), m, filepath.Join(dir, "out"), nil))
}

// A data folder as Hugging Face lays it out, with two columns of labels: the names of the files are the splits, and each column of labels
// has tasks of the rows that it labels.
func TestSeveralOutputsOfSplitFiles(t *testing.T) {
	type record struct {
		ID        string    `parquet:"id"`
		Domain    string    `parquet:"domain"`
		Kind      *string   `parquet:"kind,optional"`
		Urgent    *bool     `parquet:"urgent,optional"`
		Embedding []float32 `parquet:"embedding,list"`
	}
	type count struct{ train, test, ones int }
	rng := testrand.New(t)
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "default"), 0o755))
	want := map[string]count{}
	for file, name := range []string{"test-00000-of-00001", "train-00000-of-00002", "train-00001-of-00002"} {
		var rows []record
		for i := range 300 {
			r := record{ID: fmt.Sprintf("%d/%d", file, i), Domain: fmt.Sprintf("d%d", rng.IntN(4)), Embedding: make([]float32, 3)}
			for j := range r.Embedding {
				r.Embedding[j] = rng.Float32()
			}
			add := func(task string, one bool) {
				c := want[task]
				if file == 0 {
					c.test++
				} else {
					c.train++
				}
				if one {
					c.ones++
				}
				want[task] = c
			}
			if rng.IntN(3) > 0 {
				kind := []string{"bug", "praise", "spam"}[rng.IntN(3)]
				r.Kind = &kind
				for _, k := range []string{"bug", "praise", "spam"} {
					add(r.Domain+"_kind_"+k, k == kind)
				}
			}
			if rng.IntN(2) > 0 {
				urgent := rng.IntN(2) > 0
				r.Urgent = &urgent
				add(r.Domain+"_urgent", urgent)
			}
			rows = append(rows, r)
		}
		must.Do(t, parquet.WriteFile(filepath.Join(dir, "default", name+".parquet"), rows))
	}
	m := parse(t, dir, "files: default/*.parquet\ncolumns: {id: id, source: domain, features: embedding, split: (file)}\n"+
		"labels: [{column: kind}, {column: urgent, type: binary}]\ntarget: {source: d1}\n")
	out := filepath.Join(dir, "out")
	must.Do(t, Import(t.Context(), m, out, nil))
	set := must.Get(Open(out))(t)
	must.Do(t, set.Validate())
	if len(set.Tasks) != len(want) || len(set.Pools) != 4 {
		t.Errorf("%d tasks of %d pools, expected %d of 4", len(set.Tasks), len(set.Pools), len(want))
	}
	for _, task := range set.Tasks {
		got := count{train: len(task.Train), test: len(task.Test)}
		for _, rows := range [][]int32{task.Train, task.Test} {
			for _, r := range rows {
				got.ones += int(task.Labels[r])
			}
		}
		must.Equal(t, got, want[task.Name], "task %s", task.Name)
	}
}

// Where no row has a label, the manifest must list the classes. The folder then cannot be opened as data to run on, and the error says
// whether the target or every source lacks labels.
func TestNoLabelAtAll(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("source,y,x\ns,,1\ns,,2\nt,,4\n"), 0o644))
	made := "files: rows.csv\ncolumns: {source: source, features: x}\nlabels: [{column: y}]\n"
	folder := filepath.Join(dir, "folder")
	must.Fail(t, "no classes", Import(t.Context(), parse(t, dir, made), folder, nil),
		"labels: y: expected at least 2 classes, found 0: list all that labels may have in the manifest, as in classes: [a, b]")
	made = strings.Replace(made, "column: y", "column: y, classes: [a, b]", 1)
	for target, want := range map[string]string{"target: {source: t}\n": "the target t has no labelled rows",
		"": "no source has labelled rows"} {
		out := folder + target[:min(1, len(target))]
		must.Do(t, Import(t.Context(), parse(t, dir, made+target), out, nil))
		_, err := Open(out)
		must.Fail(t, want, err, want)
		none, is := errors.AsType[*NoLabels](err)
		must.Hold(t, is && (none.Target == "t") == (target != ""), "%v", err)
	}
}
