package columnar

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
)

// Rows are found in their file: in text by their line, also behind cells of several lines, and by their row in other formats and where the
// file has changed since. Files without rows are passed over.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	write("a.csv", "sep=,\nsite,kind,note,f0\nx,p,one,1\nx,q,\"two\nthree\n\",2\n\ny,p,,3\ny,q,,4\n")
	write("empty.csv", "site,kind,f0\n")
	write("b.jsonl", `{"site": "x", "kind": "p", "f0": 5}`+"\n\n"+`{"site": "y", "kind": "q", "f0": 6}`+"\n")
	type row struct {
		Site string  `parquet:"site"`
		Kind string  `parquet:"kind"`
		F0   float64 `parquet:"f0"`
	}
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "c.parquet"), []row{{"y", "p", 7}, {"x", "p", 8}}))
	out := filepath.Join(dir, "out")
	must.Do(t, Import(t.Context(), parse(t, dir, "{files: [empty.csv, a.csv, b.jsonl, c.parquet], columns: {source: site, features: f0}, "+
		"labels: [{column: kind}], target: {source: y}}"), out, nil))
	places := func() string {
		set := must.Get(Open(out))(t)
		var all []string
		for _, p := range set.Pools {
			for i := range p.Rows {
				all = append(all, strings.TrimPrefix(p.Origin.(dataset.Placer).Place(i), dir+string(filepath.Separator)))
			}
		}
		return fmt.Sprint(all)
	}
	must.Equal(t, places(), "[a.csv: line 3 a.csv: line 4 b.jsonl: line 1 c.parquet: row 1 "+
		"a.csv: line 8 a.csv: line 9 b.jsonl: line 3 c.parquet: row 0]", "places")
	write("a.csv", "another\n")
	must.Do(t, os.Remove(filepath.Join(dir, "b.jsonl")))
	must.Equal(t, places(), "[a.csv: row 0 a.csv: row 1 b.jsonl: row 0 c.parquet: row 1 "+
		"a.csv: row 2 a.csv: row 3 b.jsonl: row 1 c.parquet: row 0]", "places in other files")
}
