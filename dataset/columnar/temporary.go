package columnar

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
)

// abandoned is the age from which on an unlocked folder of an unfinished import is taken to be left by a killed process. The age counts
// because not every file system has locks.
const abandoned = 24 * time.Hour

// temporary makes the folder of an unfinished import beside out, which belongs to this process until it calls unlock. It also removes the
// folders that killed processes left there.
func temporary(out string) (dir string, unlock func(), err error) {
	parent := filepath.Dir(out)
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if e.IsDir() && atomicfile.IsTemporary(e.Name()) {
			removeAbandoned(filepath.Join(parent, e.Name()))
		}
	}
	dir = filepath.Join(parent, atomicfile.TemporaryName(filepath.Base(out)))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", nil, err
	}
	if unlock, err = filelock.Folder(dir); err != nil { // without locks only its age protects the folder
		unlock = func() {}
	}
	return dir, unlock, nil
}

func removeAbandoned(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || time.Since(info.ModTime()) < abandoned {
		return
	}
	unlock, err := filelock.Folder(dir)
	if err != nil {
		return
	}
	defer unlock()
	entries, err := os.ReadDir(dir)
	other := func(e fs.DirEntry) bool {
		name := e.Name()
		return !e.Type().IsRegular() || !strings.HasSuffix(name, ".npy") && name != headerFile && !atomicfile.IsTemporary(name)
	}
	if err == nil && !slices.ContainsFunc(entries, other) {
		os.RemoveAll(dir)
	}
}
