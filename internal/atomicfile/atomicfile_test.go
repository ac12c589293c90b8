package atomicfile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"a long first version", "short", ""} {
		if err := Write(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("read %q, %v; wrote %q", got, err, want)
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left, want 1", len(files))
	}
}

func TestWriteRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("f", []byte("x")); err != nil {
		t.Fatal(err)
	}
}

// A write that cannot be finished leaves the old file and nothing else.
func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.Mkdir(path, 0o755); err != nil { // a rename onto a folder fails
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "inside"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x")); err == nil {
		t.Error("a file replaced a folder")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left, want 1", len(files))
	}
	if err := Write(filepath.Join(dir, "absent", "f"), nil); err == nil {
		t.Error("a file was written into a folder that does not exist")
	}
}

// A reader sees an old or a new version, whole, however a writer is killed.
func TestKilledWriterLeavesAWholeFile(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_PATH"); path != "" {
		for i := byte(0); ; i++ {
			if err := Write(path, bytes.Repeat([]byte{i}, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWriterLeavesAWholeFile$")
		cmd.Env = append(os.Environ(), "ATOMICFILE_PATH="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Duration(20+7*i) * time.Millisecond); time.Now().Before(end); {
			checkWhole(t, path)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
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
