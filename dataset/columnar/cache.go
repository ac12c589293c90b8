package columnar

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
)

// CacheFolder is where Cached puts the import of a manifest: a folder of the
// user's cache that is named after the manifest and the files, their sizes and
// their times.
func CacheFolder(m *manifest.Manifest) (string, error) {
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

// noCache says what to do without a place for an import, as in a container that has no home.
func noCache(m *manifest.Manifest, err error) error {
	return fmt.Errorf("%s: the cache for its import cannot be had: %w; expected a HOME or XDG_CACHE_HOME that can be written to, or as data "+
		"the folder of amtrl data import %[1]s --out FOLDER", m.Path, err)
}

// unused is how long ago an import of the cache was last asked for when a new one takes its place.
const unused = 30 * 24 * time.Hour

// Cached imports what a manifest describes into the user's cache, unless it is
// there, and returns its folder. fresh is called before an import. Both functions may be nil.
// Imports that were not asked for in 30 days are removed after a new one.
func Cached(ctx context.Context, m *manifest.Manifest, fresh func(dir string), progress Progress) (string, error) {
	dir, err := CacheFolder(m)
	if err != nil {
		return dir, err
	}
	if Is(dir) {
		now := time.Now()
		os.Chtimes(filepath.Join(dir, headerFile), now, now) // a cache that others own stays as it is
		return dir, nil
	}
	if err := atomicfile.MkdirAll(filepath.Dir(dir)); err != nil {
		return "", noCache(m, err)
	}
	if fresh != nil {
		fresh(dir)
	}
	if err := Import(ctx, m, dir, progress); err != nil {
		return dir, err
	}
	removeUnused(filepath.Dir(dir))
	return dir, nil
}

// removeUnused removes imports of the cache. What is mapped stays readable until those who have it end; what cannot be removed stays.
func removeUnused(cache string) {
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		dir := filepath.Join(cache, e.Name())
		info, err := os.Lstat(filepath.Join(dir, headerFile))
		if err != nil || time.Since(info.ModTime()) < unused || atomicfile.IsTemporary(e.Name()) {
			continue
		}
		// Under another name first: a folder that is removed in part is no import.
		gone := filepath.Join(cache, atomicfile.TemporaryName(e.Name()))
		if os.Rename(dir, gone) == nil {
			os.RemoveAll(gone)
		}
	}
}
