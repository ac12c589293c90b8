// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file with the parts of content in order: it writes a temporary file in the same
// folder, syncs it, renames it over the old one and syncs the folder. The
// temporary name is fixed, so a killed process leaves at most one, which the
// next Write of that file replaces; two processes must not write one file at
// the same time. After an error the old file is as it was.
func Write(path string, content ...[]byte) error {
	dir, name := filepath.Split(path)
	tmp := filepath.Join(dir, "."+name+".tmp")
	err := writeSynced(tmp, content)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return err
	}
	syncDir(dir)
	return nil
}

func writeSynced(path string, content [][]byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	for _, c := range content {
		if err == nil {
			_, err = f.Write(c)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the rename last. Not every file system can sync a folder; where
// one cannot, a crash may at worst bring the old file back.
func syncDir(dir string) {
	if dir == "" {
		dir = "."
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
