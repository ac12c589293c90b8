package columnar

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/text"
)

// cacheFolder returns the folder in which Cached puts the import of a manifest. It is in the user's cache, and named after the manifest and
// the files with their sizes and times.
func cacheFolder(m *manifest.Manifest) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", noCache(m, err)
	}
	key, err := keyOf(m)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "amtrl", "data", key), nil
}

// noCache adds to an error what to do without a place for an import, as in a container that has no home.
func noCache(m *manifest.Manifest, err error) error {
	return fmt.Errorf("%s: the cache for its import cannot be had: %w; expected a HOME or XDG_CACHE_HOME that can be written to, or as data "+
		"the folder of amtrl data import %[3]s --out FOLDER", m.Path, err, text.ShellQuote(m.Path))
}

// unused is the time since it was last asked for after which an import in the cache is removed, once a new import is made.
const unused = 30 * 24 * time.Hour

// Cached imports what a manifest describes into the user's cache, unless the import is there already, and returns its folder. It calls
// fresh before an import; damaged is then the error of an import that was there but lacks files or parts of them, and that is replaced, or
// nil. fresh and progress may be nil. After an import it removes those that were not asked for in 30 days.
func Cached(ctx context.Context, m *manifest.Manifest, fresh func(dir string, damaged error), progress Progress) (string, error) {
	dir, err := cacheFolder(m)
	if err != nil {
		return dir, err
	}
	var damaged error
	if _, err := os.Lstat(dir); err == nil {
		if damaged = damage(dir); damaged == nil {
			now := time.Now()
			os.Chtimes(filepath.Join(dir, headerFile), now, now) // an error does not count: a cache that others own stays as it is
			return dir, nil
		}
		if err := discard(dir, damaged); err != nil {
			return dir, err
		}
	}
	if err := atomicfile.MkdirAll(filepath.Dir(dir)); err != nil {
		return "", noCache(m, err)
	}
	if fresh != nil {
		fresh(dir, damaged)
	}
	if err := Import(ctx, m, dir, progress); err != nil {
		return dir, err
	}
	removeUnused(filepath.Dir(dir))
	return dir, nil
}

// removeUnused removes the imports of the cache that have not been used for long. Mapped files stay readable until the processes that
// mapped them end; what cannot be removed stays.
func removeUnused(cache string) {
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		dir := filepath.Join(cache, e.Name())
		info, err := os.Lstat(filepath.Join(dir, headerFile))
		if err != nil || time.Since(info.ModTime()) < unused || atomicfile.IsTemporary(e.Name()) {
			continue
		}
		// Rename it first, since a partly removed folder is not an import.
		gone := filepath.Join(cache, atomicfile.TemporaryName(e.Name()))
		if os.Rename(dir, gone) == nil {
			os.RemoveAll(gone)
		}
	}
}
