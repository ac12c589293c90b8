// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file with data: it writes a temporary file in the same
// folder, syncs it, renames it over the old one and syncs the folder. The
// temporary name is fixed, so a killed process leaves at most one, which the
// next Write of that file replaces; two processes must not write one file at
// the same time. After an error the old file is as it was.
func Write(path string, data []byte) error {
	dir, name := filepath.Split(path)
	tmp := filepath.Join(dir, "."+name+".tmp")
	err := writeSynced(tmp, data)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return err
	}
	return syncDir(dir)
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	if dir == "" {
		dir = "."
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
