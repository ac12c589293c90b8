package columnar

import (
	"io"
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
// because not every file system has locks, and some have them between the processes of one machine only. Where machineFile says that the
// folder was locked on this machine since it started, the lock alone counts.
const abandoned = 24 * time.Hour

// machineFile is the file of the folder of an unfinished import that names the start of the machine whose process has locked it.
const machineFile = "machine"

// machineStart names the start of this machine, and is empty where the system has no such name.
func machineStart() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// temporary makes the folder of an unfinished import beside out, which belongs to this process until it calls unlock. It also removes the
// folders that killed processes left there. The folder has machineFile in it, which does not belong to the import.
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
		return dir, func() {}, nil
	}
	if start := machineStart(); start != "" {
		os.WriteFile(filepath.Join(dir, machineFile), []byte(start), 0o644) // without it, only its age tells that the folder was left
	}
	return dir, unlock, nil
}

func removeAbandoned(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || time.Since(info.ModTime()) < abandoned && !lockedHere(dir) {
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
		return !e.Type().IsRegular() || !strings.HasSuffix(name, ".npy") && name != headerFile && name != machineFile &&
			!atomicfile.IsTemporary(name)
	}
	if err == nil && !slices.ContainsFunc(entries, other) {
		os.RemoveAll(dir)
	}
}

// lockedHere reports whether a process of this machine has locked a folder of an unfinished import since the machine started.
func lockedHere(dir string) bool {
	f, _, err := atomicfile.Open(filepath.Join(dir, machineFile))
	if err != nil {
		return false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, 100))
	return err == nil && len(raw) > 0 && string(raw) == machineStart()
}
