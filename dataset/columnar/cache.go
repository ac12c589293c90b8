package columnar

import (
	"context"
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
		return "", err
	}
	key, err := Key(m)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "amtrl", "data", key), nil
}

// Cached imports what a manifest describes into the user's cache, unless it is
// there, and returns its folder. fresh is called before an import. Both functions may be nil.
func Cached(ctx context.Context, m *manifest.Manifest, fresh func(dir string), progress Progress) (string, error) {
	dir, err := CacheFolder(m)
	if err != nil || Is(dir) {
		return dir, err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(dir)); err != nil {
		return "", err
	}
	if fresh != nil {
		fresh(dir)
	}
	return dir, Import(ctx, m, dir, progress)
}
