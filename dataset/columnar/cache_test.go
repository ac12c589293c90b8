package columnar

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
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

// An import of which a file is cut off, gone, of another size or with a bit of another value is made again, whichever file it is, and Open
// refuses it; a whole one is not.
func TestCachedReplacesTheDamaged(t *testing.T) {
	rng, dir := testrand.New(t), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	csv := "shop,id,who,part,y,kind,f0,f1\n"
	for i := range 40 {
		csv += fmt.Sprintf("s%d,r%d,w%d,%s,%d,k%d,%d,%d\n", i%2, i, i/2, []string{"train", "test"}[i%40/38], i*i%7, i%3, i, i*i)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
	for i, labels := range []string{"[{column: y, type: number}]", "[{column: kind}]"} {
		m := parse(t, dir, "{files: rows.csv, columns: {source: shop, id: id, group: who, split: part, features: f*}, labels: "+labels+"}")
		calls, damaged := 0, error(nil)
		get := func() string {
			calls = 0
			return must.Get(Cached(t.Context(), m, func(_ string, e error) { calls, damaged = calls+1, e }, nil))(t)
		}
		folder := get()
		must.Hold(t, calls == 1 && damaged == nil, "the first import: %d, %v", calls, damaged)
		whole := map[string][]byte{}
		for _, e := range must.Get(os.ReadDir(folder))(t) {
			whole[e.Name()] = must.Get(os.ReadFile(filepath.Join(folder, e.Name())))(t)
		}
		must.Equal(t, len(whole), 8, "files of an import")
		for name, content := range must.Ordered(whole) {
			path := filepath.Join(folder, name)
			for how, hurt := range must.Ordered(map[string]func() error{
				"cut":    func() error { return os.Truncate(path, int64(len(content))-3) },
				"empty":  func() error { return os.Truncate(path, 0) },
				"longer": func() error { return os.WriteFile(path, append(slices.Clone(content), "more"...), 0o644) },
				"gone":   func() error { return os.Remove(path) },
				"flipped": func() error {
					other := slices.Clone(content)
					other[rng.IntN(len(other))] ^= 1 << rng.IntN(8)
					return os.WriteFile(path, other, 0o644)
				},
			}) {
				if how == "flipped" && name == headerFile {
					continue
				}
				must.Do(t, hurt())
				if how == "flipped" {
					_, err := Open(folder)
					must.Fail(t, "a bit of "+name, err, path+": expected the bytes that were imported")
					must.Fail(t, "a bit of "+name, Verify(folder), path+": expected the bytes that were imported", "found others")
				}
				must.Equal(t, get(), folder, "folder")
				must.Hold(t, calls == 1 && damaged != nil, "%s is %s: %d imports, %v", name, how, calls, damaged)
				must.Hold(t, bytes.Equal(must.Get(os.ReadFile(path))(t), content) || name == headerFile, "%s is another", path)
				must.Get(Open(folder))(t)
			}
		}
		must.Hold(t, get() == folder && calls == 0, "a whole import is made again")
		must.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(folder)))(t)), 1+i, "folders of the cache")
	}
}
