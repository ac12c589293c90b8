package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// faulty makes operation number at on the files below dir fail.
type faulty struct {
	mu   sync.Mutex
	dir  string
	at   int
	with error
	seen []atomicfile.Op
}

func (f *faulty) set(dir string, at int, with error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dir, f.at, f.with, f.seen = dir, at, with, nil
}

func (f *faulty) hook(op atomicfile.Op, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir == "" || !strings.HasPrefix(path, f.dir) {
		return nil
	}
	f.seen = append(f.seen, op)
	if len(f.seen)-1 == f.at {
		return &fs.PathError{Op: string(op), Path: path, Err: f.with}
	}
	return nil
}

// A disk that is full or broken at any single file operation of a run or a sweep, where a failed write leaves half of its bytes, gives one
// clear line and no half-written file, and the same call goes on to the same bytes.
func TestEachFileOperationFailsOnce(t *testing.T) {
	defer func(was spacing) { sweepSpacing = was }(sweepSpacing)
	sweepSpacing.every = 0
	data, sweep := smallSweep(t)
	sweep.Budgets = sweep.Budgets[:1]
	sweep.Seeds = sweep.Seeds[:1]
	run := sweep
	run.Targets = sweep.Targets[:1]
	disk := &faulty{}
	atomicfile.Intercept(t, disk.hook)
	for name, work := range map[string]func(dir string) error{
		"run": func(dir string) error {
			_, err := Run(t.Context(), data, run, dir, quiet)
			return err
		},
		"sweep": func(dir string) error {
			_, err := Sweep(t.Context(), data, sweep, dir, 1, func(SweepStep) {})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			whole := filepath.Join(base, "whole")
			disk.set(whole, -1, nil)
			must.Do(t, work(whole))
			want, operations := foldertest.Read(t, whole), disk.seen
			for at, op := range operations {
				with := []error{syscall.ENOSPC, syscall.EIO}[at%2]
				dir := filepath.Join(base, "faulty", string(rune('a'+at%26))+strings.Repeat("x", at/26))
				disk.set(dir, at, with)
				err := work(dir)
				if !errors.Is(err, with) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
					t.Errorf("operation %d, %s, failed with %v: %v", at, op, with, err)
				}
				disk.set("", 0, nil)
				for path, content := range readIfThere(t, dir) {
					whole, known := want[path]
					checkpoint := strings.HasPrefix(path, "checkpoint")
					fits := checkpoint || known && content == whole
					if atomicfile.IsTemporary(filepath.Base(path)) || !fits {
						t.Errorf("operation %d, %s, failed with %v and left %s as %.100q", at, op, with, path, content)
					}
				}
				if err := work(dir); err != nil {
					t.Errorf("again after operation %d, %s, failed with %v: %v", at, op, with, err)
				}
				foldertest.Equal(t, dir, foldertest.Read(t, dir), want)
				if t.Failed() {
					t.FailNow()
				}
			}
			counts := map[atomicfile.Op]int{}
			for _, op := range operations {
				counts[op]++
			}
			t.Logf("%d operations failed: %v", len(operations), counts)
			for _, op := range []atomicfile.Op{atomicfile.OpCreate, atomicfile.OpWrite, atomicfile.OpSync, atomicfile.OpRename,
				atomicfile.OpSyncFolder} {
				if counts[op] == 0 {
					t.Errorf("no %s among %v", op, counts)
				}
			}
		})
	}
}

// readIfThere reads a folder. It returns nil where the folder has not been made.
func readIfThere(t *testing.T, dir string) map[string]string {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return foldertest.Read(t, dir)
}
