package columnar

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
)

// Without a home folder, as in a container, an error of one line says that there is no cache and which command needs none.
func TestCachedWithoutAHome(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("shop,y,f0\na,1,1\nb,2,2\n"), 0o644))
	m := parse(t, dir, "{files: rows.csv, columns: {source: shop, features: f0}, labels: [{column: y, type: number}]}")
	t.Setenv("XDG_CACHE_HOME", "")
	for _, home := range []string{"", filepath.Join(dir, "rows.csv")} {
		t.Setenv("HOME", home)
		_, err := Cached(t.Context(), m, nil, nil)
		must.Fail(t, "home "+home, err, m.Path+": the cache for its import cannot be had: ", "amtrl data import "+m.Path+" --out FOLDER")
	}
}

// An import that is asked for stays. One that was not asked for in a month is removed when another is made, and nothing else is.
func TestCachedRemovesTheUnused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	csv := filepath.Join(dir, "rows.csv")
	imported := func(rows string) string {
		if rows != "" { // the file keeps its rows where rows is empty
			must.Do(t, os.WriteFile(csv, []byte("shop,y,f0\n"+rows), 0o644))
		}
		m := parse(t, dir, "{files: rows.csv, columns: {source: shop, features: f0}, labels: [{column: y, type: number}]}")
		return must.Get(Cached(t.Context(), m, nil, nil))(t)
	}
	age := func(folder string, days int) {
		then := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
		must.Do(t, os.Chtimes(filepath.Join(folder, headerFile), then, then))
	}
	old, recent, used := imported("a,1,1\nb,2,2\n"), imported("a,1,1\nb,2,22\n"), imported("a,1,1\nb,2,222\n")
	other := filepath.Join(filepath.Dir(old), "other")
	must.Do(t, os.Mkdir(other, 0o755))
	age(old, 31)
	age(recent, 29)
	age(used, 31)
	must.Equal(t, imported(""), used, "the folder of the same rows")
	fresh := imported("a,1,1\nb,2,2222\n")
	must.Absent(t, old)
	for _, there := range []string{recent, used, fresh, other} {
		must.Get(os.Stat(there))(t)
	}
	must.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(old)))(t)), 4, "folders of the cache")
}
