package batch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Plan.Files lists the files that the patterns of a manifest match, relative to its folder. For other data it is empty.
func TestPlanFiles(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "m"), 0o755))
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	a, b, vectors := write("m/a.csv", "shop,label,x\n"), write("b.csv", ""), write("v.npy", "")
	plain := "columns: {source: shop, features: x}\nlabels: [{column: label, type: classes}]\n"
	beside := "columns: {source: shop, features: {file: ../v.npy, join: row}}\nlabels: [{column: label, type: classes}]\n"
	files := func(data string) []string { return (&Plan{Flags: []Flag{{"data", data}}}).Files() }
	must.EqualSlices(t, files(write("m/d.yaml", "files: [a.csv, "+filepath.Join(dir, "m/../b.csv")+"]\n"+plain)), []string{b, a}, "two files")
	must.EqualSlices(t, files(write("m/v.yaml", "files: [a.csv]\n"+beside)), []string{a, vectors}, "vectors in a file of their own")
	c, byID := write("m/c.csv", ""), strings.NewReplacer("{source", "{id: id, source", "row", "id").Replace(beside)
	must.EqualSlices(t, files(write("m/v.yaml", "files: \"*.csv\"\n"+byID)), []string{a, c, vectors}, "a file of all vectors")
	broken, none := write("x.yaml", "{"), write("none.yaml", "files: [none.csv]\n"+plain)
	for _, data := range []string{"digits", dir, broken, none, filepath.Join(dir, "x")} {
		must.EqualSlices(t, files(data), nil, "%s", data)
	}
}
