package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"a long first version", "short", ""} {
		must.Do(t, Write(path, []byte(want)))
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("read %q, %v; wrote %q", got, err, want)
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left, want 1", len(files))
	}
}

// If several goroutines create one file at the same time, one succeeds and the others get fs.ErrExist.
func TestCreateOnce(t *testing.T) {
	dir := t.TempDir()
	for range 20 {
		createOnce(t, filepath.Join(dir, "f"))
	}
	must.Do(t, Create(filepath.Join(dir, strings.Repeat("long", 60)), nil))
	must.Fail(t, "a folder that does not exist", Create(filepath.Join(dir, "absent", "f"), nil))
}

// Create lets one of several succeed also on a file system without hard links.
func TestCreateWithoutLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	Intercept(t, func(op Op, at string) error {
		if at == path && op == OpLink {
			return &os.LinkError{Op: "link", Old: "a", New: at, Err: syscall.ENOTSUP}
		}
		return nil
	})
	for range 20 {
		createOnce(t, path)
	}
}

// createOnce lets several goroutines create a file at the same time, checks that one succeeds, and removes the file.
func createOnce(t *testing.T, path string) {
	t.Helper()
	const many = 8
	made := make(chan int, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			switch err := Create(path, []byte{byte(i)}); {
			case err == nil:
				made <- i
			case !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), tmpSuffix):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(path); len(made) != 1 || err != nil || string(got) != string(rune(<-made)) {
		t.Fatalf("%d files were made, %v: %q", len(made), err, got)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left, want 1", len(files))
	}
	must.Do(t, Remove(path))
}

// CreateBy returns an error of the function that writes the content unchanged, and leaves no file.
func TestCreateBy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	_, absent := os.Open(filepath.Join(t.TempDir(), "input"))
	of := fmt.Errorf("row 17: %w", absent)
	must.Equal(t, CreateBy(path, func(io.Writer) error { return of }), of, "the error of an input")
	must.Absent(t, path)
	must.Do(t, CreateBy(path, func(w io.Writer) error { _, err := w.Write([]byte("all")); return err }))
	must.Fail(t, "a file that is there", CreateBy(path, func(io.Writer) error { return nil }), "file exists")
}

func TestWriteRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, Write("f", []byte("x")))
}

// A write that cannot be finished keeps what is at the path and leaves nothing else.
func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.Mkdir(path, 0o755); err != nil { // a rename onto a folder fails
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(filepath.Join(path, "inside"), nil, 0o644))
	must.Fail(t, "replacing a folder by a file", Write(path, []byte("x")))
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left, want 1", len(files))
	}
	must.Fail(t, "a folder that does not exist", Write(filepath.Join(dir, "absent", "f"), nil))
}

// A reader sees a complete version, old or new, whenever a writer is killed.
func TestKilledWriterLeavesAWholeFile(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_PATH"); path != "" {
		for i := byte(0); ; i++ {
			must.Do(t, Write(path, bytes.Repeat([]byte{i}, 1<<20)))
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, Write(path, make([]byte, 1<<20)))
	for i := range 10 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWriterLeavesAWholeFile$")
		cmd.Env = append(os.Environ(), "ATOMICFILE_PATH="+path)
		must.Do(t, cmd.Start())
		for end := time.Now().Add(time.Duration(20+7*i) * time.Millisecond); time.Now().Before(end); {
			checkWhole(t, path)
		}
		must.Do(t, cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer ended by itself")
		}
		checkWhole(t, path)
	}
}

func checkWhole(t *testing.T, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 1<<20 || bytes.Count(got, got[:1]) != len(got) {
		t.Fatalf("%d bytes, %v: not one whole version", len(got), err)
	}
}

// Several processes that write one file at the same time never leave a mix of versions. If some are killed, only
// temporary files remain, which the next write removes.
func TestManyWriters(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_MANY"); path != "" {
		content := bytes.Repeat([]byte{byte(os.Getpid())}, 1<<20)
		for {
			must.Do(t, Write(path, content))
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must.Do(t, Write(path, make([]byte, 1<<20)))
	leftovers := 0
	for range 5 {
		var writers []*exec.Cmd
		for range 3 {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestManyWriters$")
			cmd.Env = append(os.Environ(), "ATOMICFILE_MANY="+path)
			must.Do(t, cmd.Start())
			writers = append(writers, cmd)
		}
		for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
			checkWhole(t, path)
		}
		for _, cmd := range writers {
			cmd.Process.Kill()
			if cmd.Wait(); cmd.ProcessState.Exited() {
				t.Error("a writer failed")
			}
		}
		checkWhole(t, path)
		entries := must.Get(os.ReadDir(dir))(t)
		for _, e := range entries {
			if IsTemporary(e.Name()) {
				leftovers++
			} else if e.Name() != "f" {
				t.Errorf("%s is left, which IsTemporary does not know", e.Name())
			}
		}
	}
	if leftovers == 0 {
		t.Log("no writer was killed amid a write")
	}
	cleaned.Clear()
	must.Do(t, Write(path, nil))
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left, want 1", len(entries))
	}
}

// Write does not follow links in the place of temporary files, accepts names of the greatest length, and leaves files
// alone whose names only resemble temporary ones.
func TestTemporaryNames(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	must.Do(t, os.WriteFile(victim, []byte("precious"), 0o644))
	keep := []string{".f.tmp", ".f.ABCDEFGHIJKL.tmp", ".f.abcdefghijklm.tmp", "f.ABCDEFGHIJKLM.tmp", ".ABCDEFGHIJKLM.tmp", ".f.ABCDEFGHIJKLM",
		".f.ABCDEFGHIJKL1.tmp"}
	for _, name := range keep {
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		if IsTemporary(name) {
			t.Errorf("%s passes for a temporary file", name)
		}
	}
	long := strings.Repeat("x", 255)
	for _, name := range []string{"f", long} {
		must.Do(t, Write(filepath.Join(dir, name), []byte("new")))
	}
	if raw, err := os.ReadFile(victim); err != nil || string(raw) != "precious" {
		t.Errorf("the file behind the links is %q, %v", raw, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != len(keep)+3 {
		t.Errorf("%d files, expected %d", len(entries), len(keep)+3)
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for i, c := range []struct{ before, line, want string }{
		{"", "a", "a\n"}, {"a\n", "b\n", "a\nb\n"}, {"a\nto", "b", "a\nto\nb\n"}, {"\n", "", "\n\n"},
	} {
		if err := os.WriteFile(path, []byte(c.before), 0o644); i > 0 && err != nil {
			t.Fatal(err)
		}
		must.Do(t, Append(path, []byte(c.line)))
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("%q and %q gave %q, %v", c.before, c.line, got, err)
		}
	}
}

// If any operation fails, the error reports it under the path of the file and no temporary file is left. Only a file
// system that cannot sync folders is accepted.
func TestFaults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(dir, "f")
	steps := []func() error{
		func() error { return MkdirAll(dir) },
		func() error { return Write(path, []byte("one"), []byte("two")) },
		func() error { return Append(path, []byte("three")) },
		func() error { return Create(path+"2", []byte("four")) },
		func() error { _, err := ReadFile(path, 100); return err },
		func() error { return Remove(path) },
	}
	var ops []Op
	failAt, with := -1, error(nil)
	Intercept(t, func(op Op, at string) error {
		if !strings.HasPrefix(at, filepath.Dir(filepath.Dir(dir))) {
			return nil
		}
		ops = append(ops, op)
		if len(ops)-1 == failAt {
			return &fs.PathError{Op: string(op), Path: at, Err: with}
		}
		return nil
	})
	for _, step := range steps {
		must.Do(t, step())
	}
	want := []Op{OpMkdir, OpSyncFolder, OpMkdir, OpSyncFolder, OpCreate, OpWrite, OpWrite, OpSync, OpRename, OpSyncFolder,
		OpCreate, OpWrite, OpSync, OpCreate, OpWrite, OpSync, OpRename, OpLink, OpSyncFolder, OpRead, OpRemove, OpSyncFolder}
	if !slices.Equal(ops, want) {
		t.Fatalf("operations %v, expected %v", ops, want)
	}
	for i, op := range want {
		for _, with = range []error{syscall.EIO, syscall.ENOSPC, syscall.EINVAL} {
			must.Do(t, os.RemoveAll(filepath.Dir(dir)))
			ops, failAt = nil, i
			var err error
			for _, step := range steps {
				if err = errors.Join(err, step()); err != nil {
					break
				}
			}
			if passes := op == OpSyncFolder && with == syscall.EINVAL; passes && err != nil || !passes && !errors.Is(err, with) {
				t.Errorf("operation %d, %s, failed with %v: %v", i, op, with, err)
			} else if err != nil && strings.Contains(err.Error(), tmpSuffix) {
				t.Errorf("the error names a temporary file: %v", err)
			}
			for entries, _ := os.ReadDir(dir); len(entries) > 0; entries = entries[1:] {
				if IsTemporary(entries[0].Name()) {
					t.Errorf("operation %d, %s, failed with %v and left %s", i, op, with, entries[0].Name())
				}
			}
		}
	}
}
