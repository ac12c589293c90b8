package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
)

// A table of the labels alone, beside the table of the rows and their vectors, is named as one file too many.
func TestLookNamesTheFileTooMany(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	id := columnOf{"id", func(i int) string { return fmt.Sprint("r", i) }}
	site := columnOf{"site", func(i int) string { return []string{"a", "b", "c"}[i%3] }}
	label := columnOf{"label", func(i int) string { return []string{"p", "q"}[i%2] }}
	writeTable(t, at("meta.csv"), 60, id, site)
	writeTable(t, at("labels.csv"), 40, id, label)
	writeTable(t, at("more.csv"), 60, id, label)
	writeTable(t, at("rows.csv"), 60, id, site, label)
	for _, name := range []string{"v.npy", "w.npy"} {
		must.Do(t, os.WriteFile(at(name), append(npy.FormatHeader("<f4", 60, 2), make([]byte, 60*2*4)...), 0o644))
	}
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"meta.csv", "v.npy", "labels.csv"}, "expected a file of vectors for each file of rows, in the same order, found " +
			at("v.npy") + " for " + at("meta.csv") + ", " + at("labels.csv") + ": labels must be a column of the table, to which they can " +
			"be joined by the id; leave out " + at("labels.csv") + ", which has not as many rows as there are vectors"},
		{[]string{"meta.csv", "v.npy", "more.csv"}, ", " + at("more.csv") + ": labels must be a column of the table, to which they can " +
			"be joined by the id"},
		{[]string{"rows.csv", "v.npy", "w.npy"}, "found " + at("v.npy") + ", " + at("w.npy") + " for " + at("rows.csv")},
	} {
		var files []string
		for _, name := range c.files {
			files = append(files, at(name))
		}
		_, err := Look(t.Context(), at("dataset.yaml"), files, Known{})
		must.Fail(t, fmt.Sprint(c.files), err, c.want)
		must.Hold(t, strings.HasPrefix(err.Error(), "expected a file"), "%v names a manifest that does not exist", err)
	}
	must.Get(Look(t.Context(), at("dataset.yaml"), []string{at("rows.csv"), at("v.npy")}, Known{}))(t)
}
