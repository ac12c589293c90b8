//go:build unix

package runs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// TestMain also runs as the other process of TestFolderIsLocked: it then locks the folder until its standard input ends.
func TestMain(m *testing.M) {
	dir := os.Getenv("AMTRL_TEST_LOCK")
	if dir == "" {
		os.Exit(m.Run())
	}
	unlock, err := filelock.Folder(dir)
	if err == nil {
		defer unlock()
		err = os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdin.Read(make([]byte, 1))
}

// One process at a time works in a folder; the lock ends with the process.
func TestFolderIsLocked(t *testing.T) {
	dev := openDevice(t, 1, smallSet(31, 3, 100, 4, false))
	id := identityOf(dev, smallConfig(), []string{"bytes_0"}, 1)
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "AMTRL_TEST_LOCK="+dir)
	in := must.Get(child.StdinPipe())(t)
	ended := make(chan error, 1)
	must.Do(t, child.Start())
	go func() { ended <- child.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the child ended without the lock: %v", err)
		default:
		}
	}
	must.Do(t, os.Remove(filepath.Join(dir, "ready")))
	_, runErr := Run(t.Context(), dev, id, dir, quiet)
	_, sweepErr := Sweep(t.Context(), dev, id, dir, 1, func(SweepStep) {})
	for _, err := range []error{runErr, sweepErr} {
		must.Fail(t, "a folder in use", err, dir+" is in use by another process")
		if !errors.Is(err, ErrInUse) {
			t.Errorf("%v is not ErrInUse", err)
		}
	}
	if len(foldertest.Read(t, dir)) != 0 {
		t.Error("it wrote into a folder in use")
	}
	must.Do(t, child.Process.Kill())
	<-ended
	in.Close() // Wait may have closed it
	mustRun(t, dev, id, dir)
}

// A pipe in the place of a file is named in the error, and nothing waits for its other end.
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
		_, err := Run(t.Context(), dev, id, dir, quiet)
		refused(path, err)
	}
	unit := id.Units()[0]
	for _, name := range []string{configFile, resultName(unit), filepath.Join(checkpointDir, unit.Name()+".safetensors"), "timing.jsonl"} {
		dir := t.TempDir()
		files := foldertest.Read(t, sweep)
		delete(files, resultName(unit))
		restore(t, dir, files)
		path := pipe(dir, name)
		_, err := Sweep(t.Context(), dev, id, dir, 1, func(SweepStep) {})
		refused(path, err)
	}
	dir := t.TempDir()
	path := pipe(dir, modelFile)
	_, err := ReadModel(dir)
	refused(path, err)
}
