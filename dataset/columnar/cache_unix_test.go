//go:build unix

package columnar

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
)

// A file that was edited is imported again although its size and its time of modification are the old ones, whether it was written over or
// another took its place.
func TestCachedSeesEditsOfOldTime(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	csv := filepath.Join(dir, "rows.csv")
	then := time.Unix(1_700_000_000, 0)
	write := func(path, rows string) {
		must.Do(t, os.WriteFile(path, []byte("shop,y,f0\n"+rows), 0o644))
		must.Do(t, os.Chtimes(path, then, then))
	}
	labels := func() float32 {
		m := parse(t, dir, "{files: rows.csv, columns: {source: shop, features: f0}, labels: [{column: y, type: number}]}")
		return must.Get(Open(must.Get(Cached(t.Context(), m, nil, nil))(t)))(t).Tasks[0].Labels[0]
	}
	write(csv, "a,1,1\na,3,2\nb,2,2\n")
	must.Equal(t, labels(), 1, "the label")
	time.Sleep(50 * time.Millisecond) // the clock of a file system can be as coarse as 10 ms
	write(csv, "a,5,1\na,3,2\nb,2,2\n")
	must.Equal(t, labels(), 5, "the label that was written over")
	other := filepath.Join(dir, "other")
	write(other, "a,7,1\na,3,2\nb,2,2\n")
	must.Do(t, os.Rename(other, csv))
	must.Equal(t, labels(), 7, "the label of the other file")
}
