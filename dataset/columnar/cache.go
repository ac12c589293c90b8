package columnar

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
	key, err := Key(m)
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

// Cached imports what a manifest describes into the user's cache, unless it is
// there, and returns its folder. fresh is called before an import. Both functions may be nil.
func Cached(ctx context.Context, m *manifest.Manifest, fresh func(dir string), progress Progress) (string, error) {
	dir, err := CacheFolder(m)
	if err != nil || Is(dir) {
		return dir, err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(dir)); err != nil {
		return "", noCache(m, err)
	}
	if fresh != nil {
		fresh(dir)
	}
	return dir, Import(ctx, m, dir, progress)
}
