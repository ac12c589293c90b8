//go:build unix

package runs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// A pipe in the place of a file is named; nothing waits for its other end.
func TestPipesAreRefused(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets, id.Seeds, id.Budgets = id.Targets[:1], id.Seeds[:1], id.Budgets[:1]
	run, sweep := t.TempDir(), t.TempDir()
	mustRun(t, dev, id, run)
	mustSweep(t, dev, id, sweep, 1)
	pipe := func(dir, name string) (path string) {
		path = filepath.Join(dir, name)
		os.Remove(path)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), unix.Mkfifo(path, 0o644)))
		return path
	}
	refused := func(path string, err error) {
		t.Helper()
		if err == nil || err.Error() != path+": expected a regular file, found a pipe" {
			t.Errorf("%s: %v", path, err)
		}
	}
	point := filepath.Join(checkpointDir, checkpointFile)
	for _, name := range append(slices.Clone(runFiles), resultFile, point, "timing.jsonl") {
		dir := t.TempDir()
		files := foldertest.Read(t, run)
		if name == point || name == "timing.jsonl" {
			delete(files, resultFile)
			delete(files, point)
		}
		restore(t, dir, files)
		path := pipe(dir, name)
		_, err := Run(context.Background(), dev, id, dir, quiet)
		refused(path, err)
	}
	unit := id.Units()[0]
	for _, name := range []string{configFile, resultName(unit), filepath.Join(checkpointDir, unit.Name()+".safetensors"), "timing.jsonl"} {
		dir := t.TempDir()
		files := foldertest.Read(t, sweep)
		delete(files, resultName(unit))
		restore(t, dir, files)
		path := pipe(dir, name)
		_, err := Sweep(context.Background(), dev, id, dir, 1, func(SweepStep) {})
		refused(path, err)
	}
	dir := t.TempDir()
	path := pipe(dir, modelFile)
	_, err := ReadModel(dir)
	refused(path, err)
}
