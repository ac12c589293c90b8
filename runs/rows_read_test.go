package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// smallModel writes a model of the columns x, y and of the words of k, all of which may be missing, and returns its folder.
func smallModel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	raw := must.Get(safetensors.Encode([]safetensors.Tensor{
		{Name: "representation.weight", Shape: []int{1, 5}, Data: []float32{1, 2, 3, 4, 0}},
		{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{2}},
	}, map[string]string{"features": `["x","y","k=a","k=b","x is missing"]`, "labels": `[{"column":"z","heads":1}]`, "id": "id",
		"words": `[{"name":"k","words":["a","b"]},{"name":"x","words":[""]}]`, "means": "[1,1,0,0,0]"}))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), raw, 0o644))
	return dir
}

// Files without rows give a table of the columns alone, in each format.
func TestPredictNoRows(t *testing.T) {
	dir := smallModel(t)
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	rows := filepath.Join(dir, "rows.csv")
	must.Do(t, os.WriteFile(rows, []byte("id,x,y,k,z\n"), 0o644))
	for i, format := range []string{"csv", "parquet", "jsonl"} {
		for embed, columns := range map[bool][]string{false: {"id", "number"}, true: {"id", "phi"}} {
			read := RowsRead{Rows: -1}
			out := filepath.Join(dir, fmt.Sprint(i, embed, ".", format))
			found := must.Get(Predict(t.Context(), q, Prediction{Dir: dir, Files: []string{rows}, Out: out, Embed: embed,
				Read: func(r RowsRead) { read = r }}, nil))(t)
			must.Hold(t, len(found) == 0 && read == RowsRead{}, "%v of %v", found, read)
			if format == "jsonl" {
				continue // which has no columns without rows
			}
			written := must.Get(table.Open(out, format))(t)
			var names []string
			for _, c := range written.Columns() {
				names = append(names, c.Name)
			}
			if embed && format == "csv" {
				columns = []string{"id", "phi_0"}
			}
			must.EqualSlices(t, names, columns, "columns of %s", out)
			must.Do(t, written.Scan(table.Query{Scalars: columns[:1]}, func(b *table.Batch) error { return fmt.Errorf("%d rows", b.Rows) }))
			must.Do(t, written.Close())
		}
	}
}

// Rows that are blank, have no id or that of another row are counted, and a file that is not UTF-8 is refused.
func TestPredictOddRows(t *testing.T) {
	dir := smallModel(t)
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	rows := filepath.Join(dir, "rows.csv")
	p := Prediction{Dir: dir, Files: []string{rows}, Out: filepath.Join(dir, "out.csv")}
	for _, c := range []struct {
		rows, out string
		want      RowsRead
	}{
		{"p,1,2,a\nq,1,2,\n", "p,16\nq,10\n", RowsRead{Rows: 2}},
		{"p,1,2,a\n,,,\np,,,\n ,,,c\np,1,,\n", "p,16\n1,6\np,6\n3,6\np,6\n", RowsRead{Rows: 5, Nameless: 2, Blank: 3,
			FirstNameless: "line 3", FirstBlank: "line 3", Repeated: 2, FirstRepeated: "p"}},
		{",0,0,a\n,,,a\n,,2,\n", "0,6\n1,12\n2,10\n", RowsRead{Rows: 3, Nameless: 3, FirstNameless: "line 2"}},
	} {
		must.Do(t, os.WriteFile(rows, []byte("id,x,y,k\n"+c.rows), 0o644))
		read := RowsRead{}
		p.Read = func(r RowsRead) { read = r }
		must.Get(Predict(t.Context(), q, p, nil))(t)
		for _, place := range []*string{&c.want.FirstNameless, &c.want.FirstBlank} {
			if *place != "" {
				*place = rows + ": " + *place
			}
		}
		must.Equal(t, read, c.want, "what is odd about %q", c.rows)
		must.Equal(t, string(must.Get(os.ReadFile(p.Out))(t)), "id,number\n"+c.out, "predictions of %q", c.rows)
		must.Do(t, os.Remove(p.Out))
	}
	for row, fault := range map[string]string{
		"M\xfcll,1,2,a": "line 2, column id: expected UTF-8, found the byte 0xfc in \"M?ll\"",
		"p,1,2,b\xe9":   "line 2, column k: expected UTF-8, found the byte 0xe9 in \"b?\"",
	} {
		must.Do(t, os.WriteFile(rows, []byte("id,x,y,k\n"+row+"\n"), 0o644))
		_, err := Predict(t.Context(), q, p, nil)
		must.Fail(t, row, err, rows+": "+fault)
		must.Absent(t, p.Out)
	}
	lines := filepath.Join(dir, "rows.jsonl")
	must.Do(t, os.WriteFile(lines, []byte("{\"id\": \"p\", \"x\": 1, \"y\": 2, \"k\": \"a\"}\n{\"id\": \"\xe9\"}\n"), 0o644))
	p.Files = []string{lines}
	_, err := Predict(t.Context(), q, p, nil)
	must.Fail(t, "lines in Latin-1", err, lines+": line 2: expected UTF-8, found the byte 0xe9")
}
