package columnar

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// maxVerified bounds the bytes of the arrays that are read to the end each time that a folder is opened.
const maxVerified = 1 << 30

// sumOf returns the xxHash of a file, in hexadecimal.
func sumOf(path string) (string, error) {
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := xxhash.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Sprintf("%016x", sum.Sum64()), nil
}

// sums returns the sum of each of the arrays that were written.
func (w *writer) sums() (map[string]string, error) {
	out := map[string]string{}
	for _, s := range w.arrays() {
		name := filepath.Base(s.file.Name())
		sum, err := sumOf(filepath.Join(w.dir, name))
		if err != nil {
			return nil, err
		}
		out[name] = sum
	}
	return out, nil
}

// Verify reads all arrays of a folder that Import wrote, and returns an error where one holds other bytes than were written. [Open],
// [OpenCandidates] and [Cached] do the same where the arrays have at most 1 GiB. Imports of earlier versions have no sums, and are taken as
// they are.
func Verify(dir string) error {
	h, err := readHeader(dir)
	if err != nil {
		return err
	}
	return (&opener{dir: dir, header: h}).verify(math.MaxInt64)
}

// verify is Verify for arrays of at most this number of bytes in all; longer ones are not read.
func (r *opener) verify(most int64) error {
	names, total := slices.Sorted(maps.Keys(r.header.Sums)), int64(0)
	for _, name := range names {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s: expected the sums of files of the folder, found that of %q", r.path(headerFile), name)
		}
		info, err := os.Stat(r.path(name))
		if err != nil {
			return err
		}
		if total += info.Size(); total > most {
			return nil
		}
	}
	for _, name := range names {
		found, err := sumOf(r.path(name))
		if err != nil {
			return err
		}
		if want := r.header.Sums[name]; found != want {
			return fmt.Errorf("%s: expected the bytes that were imported, of the sum %s, found others, of %s: the file is damaged, so "+
				"import the data again", r.path(name), want, found)
		}
	}
	return nil
}
