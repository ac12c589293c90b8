//go:build unix

package columnar

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// An import removes what killed imports left behind, but nothing that another process is writing, and nothing else.
func TestImportRemovesAbandoned(t *testing.T) {
	rng := testrand.New(t)
	dir := t.TempDir()
	writeCSV(t, dir, makeRecords(rng, 500, 5, 3), 2)
	m := parse(t, dir, made)
	parent := filepath.Join(dir, "cache")
	folder := func(age time.Duration, files ...string) string {
		path := filepath.Join(parent, atomicfile.TemporaryName("another"))
		must.Do(t, os.MkdirAll(path, 0o755))
		for _, name := range files {
			must.Do(t, os.WriteFile(filepath.Join(path, name), nil, 0o644))
		}
		then := time.Now().Add(-age)
		must.Do(t, os.Chtimes(path, then, then))
		return path
	}
	const old = 2 * abandoned
	gone := []string{folder(old), folder(old, featuresFile, labelsFile(0), headerFile)}
	stay := []string{folder(0, featuresFile), folder(old, "notes.txt"), folder(old, featuresFile)}
	defer must.Get(filelock.Folder(stay[2]))(t)()
	another := folder(0, featuresFile)
	must.Do(t, os.WriteFile(filepath.Join(another, machineFile), []byte("of another machine"), 0o644))
	stay = append(stay, another)
	if machineStart() != "" { // locked on this machine by a process that was killed now, or that works
		killed, unlock := must.Get2(temporary(filepath.Join(parent, "data")))(t)
		must.Do(t, os.WriteFile(filepath.Join(killed, featuresFile), nil, 0o644))
		unlock()
		works, unlock := must.Get2(temporary(filepath.Join(parent, "data")))(t)
		defer unlock()
		must.Absent(t, killed)
		stay = append(stay, works)
	}
	must.Do(t, Import(t.Context(), m, filepath.Join(parent, "data"), nil))
	for _, path := range gone {
		must.Absent(t, path)
	}
	for _, path := range append(stay, filepath.Join(parent, "data")) {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if entries := must.Get(os.ReadDir(parent))(t); len(entries) != len(stay)+1 {
		t.Errorf("%d folders are left, expected %d: %v", len(entries), len(stay)+1, entries)
	}
}
