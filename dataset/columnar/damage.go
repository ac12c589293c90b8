package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
)

// damage returns an error where a folder that Import wrote lacks a file, or has one of another size than its header says or, as far as they
// are read, with other bytes than were written.
func damage(dir string) error {
	h, err := readHeader(dir)
	if err != nil {
		return err
	}
	r := &opener{dir: dir, header: h}
	check := func(name, descr string, rows int64, cols int) {
		if err != nil || rows == 0 {
			return
		}
		a, e := r.openArray(name, descr, rows, cols)
		if err = e; e == nil {
			a.Close()
		}
	}
	check(featuresFile, elements[h.Element], h.Rows, h.Cols)
	check(rowsFile, "<i8", h.Rows, 1)
	if h.Split {
		check(splitFile, "|u1", h.Rows, 1)
	}
	if h.Group != "" {
		check(groupsFile, "<i4", h.Rows, 1)
	}
	for i, o := range h.Outputs {
		check(labelsFile(i), map[bool]string{true: "<f4", false: "<i4"}[o.Type == manifest.Number], h.Rows, 1)
	}
	if h.ID != "" {
		check(idEndsFile, "<i8", h.Rows, 1)
	}
	if err == nil && h.ID != "" {
		var end int64
		end, err = lastInt64(r.path(idEndsFile))
		check(idsFile, "|u1", end, 1)
	}
	if err != nil {
		return err
	}
	return r.verify(maxVerified)
}

// lastInt64 returns the last element of an array of at least one.
func lastInt64(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var raw [8]byte
	if _, err := f.ReadAt(raw[:], info.Size()-int64(len(raw))); err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint64(raw[:]))
	if n < 0 {
		err = fmt.Errorf("%s: expected ends of ids from 0 on, found %d", path, n)
	}
	return n, err
}

// discard removes a damaged import from the cache. One that another process has made anew meanwhile stays.
func discard(dir string, found error) error {
	gone := filepath.Join(filepath.Dir(dir), atomicfile.TemporaryName(filepath.Base(dir)))
	if err := os.Rename(dir, gone); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("the import in %s is damaged (%w): remove this folder, and it is made anew", dir, found)
	}
	if damage(gone) == nil && os.Rename(gone, dir) == nil {
		return nil
	}
	return os.RemoveAll(gone)
}
