package columnar

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Without a home, as in a container, one line says where imports go and what needs none.
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
