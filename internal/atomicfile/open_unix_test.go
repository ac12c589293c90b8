//go:build unix

package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Anything but a regular file is refused at once, with an error that says what it is.
func TestOpenRegularOnly(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.WriteFile(path("file"), []byte("12345"), 0o644))
	for _, err := range []error{syscall.Mkfifo(path("pipe"), 0o644), os.Symlink(path("file"), path("link")),
		os.Symlink(path("pipe"), path("topipe")), os.Symlink(path("new"), path("tonew"))} {
		must.Do(t, err)
	}
	reads := map[string]string{"pipe": "a pipe", "topipe": "a pipe", ".": "a folder", "/dev/zero": "a device", "file": "", "link": ""}
	appends := map[string]string{
		"pipe": "a pipe", ".": "a folder", "/dev/zero": "a device", "link": "a symbolic link", "tonew": "a symbolic link", "file": "",
	}
	check := func(what, name, want string, err error) {
		t.Helper()
		refused := err != nil && strings.HasSuffix(err.Error(), name+": expected a regular file, found "+want)
		if want != "" && !refused || want == "" && err != nil {
			t.Errorf("%s of %s: %v, expected %q", what, name, err, want)
		}
	}
	at := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return dir + "/" + name
	}
	for name, want := range reads {
		_, err := ReadFile(at(name), 100)
		check("ReadFile", name, want, err)
	}
	for name, want := range appends {
		check("Append", name, want, Append(at(name), []byte("x")))
	}
	must.Absent(t, path("new"))
	if raw, err := os.ReadFile(path("file")); err != nil || string(raw) != "12345\nx\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

func TestReadFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := ReadFile(path, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, n := range []int{0, 1, 511, 512, 513, 100_000} {
		want := bytes.Repeat([]byte{'x'}, n)
		must.Do(t, os.WriteFile(path, want, 0o644))
		if got, err := ReadFile(path, int64(n)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: read %d, %v", n, len(got), err)
		}
		if n > 0 {
			must.Fail(t, fmt.Sprintf("%d bytes over the limit", n), must.Err(ReadFile(path, int64(n)-1)), path+": expected a file of at most")
		}
	}
	// The size of this file is given as 0.
	if raw, err := ReadFile("/proc/self/status", 1<<20); errors.Is(err, fs.ErrNotExist) {
		t.Log("no /proc here")
	} else if err != nil || len(raw) == 0 {
		t.Errorf("%d bytes, %v", len(raw), err)
	} else if _, err := ReadFile("/proc/self/status", 8); err == nil {
		t.Error("it read more than the limit")
	}
	f, size, err := Open(path)
	if err != nil || size != 100_000 {
		t.Fatal(size, err)
	}
	defer f.Close()
	if n, err := io.Copy(io.Discard, f); n != size || err != nil {
		t.Error(n, err)
	}
}

// CheckFolder refuses what MkdirAll refuses, and a folder that cannot be written, and creates nothing.
func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	for name, want := range map[string]string{"": "", "new/one": "", "file": "expected a folder, found a file", "file/one": "a file"} {
		path := filepath.Join(dir, name)
		err := CheckFolder(path)
		must.Hold(t, want == "" && err == nil || err != nil && strings.Contains(err.Error(), want), "%q: %v, expected %q", name, err, want)
		must.Hold(t, (err == nil) == (MkdirAll(path) == nil), "%q: %v, and MkdirAll does not agree", name, err)
		must.Do(t, os.RemoveAll(filepath.Join(dir, "new")))
	}
	must.Do(t, CheckFolder(filepath.Join(dir, "new", "one")))
	must.Absent(t, filepath.Join(dir, "new"))
	if os.Geteuid() == 0 { // root may write anywhere
		return
	}
	must.Do(t, os.Chmod(dir, 0o500))
	must.Is(t, CheckFolder(filepath.Join(dir, "new", "one")), fs.ErrPermission, "a folder without leave to write")
	must.Do(t, os.Chmod(dir, 0o700))
}

// Write replaces links, and WriteThrough the files that they lead to. Neither replaces a pipe, a device or a folder.
func TestWriteReplacesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{syscall.Mkfifo(path("pipe"), 0o644), os.Symlink("pipe", path("topipe")), os.Symlink("new", path("tonew")),
		os.Mkdir(path("folder"), 0o755), os.Symlink("folder", path("tofolder"))} {
		must.Do(t, err)
	}
	kind := func(name string) fs.FileMode { return must.Get(os.Lstat(path(name)))(t).Mode().Type() }
	for name, want := range map[string]string{"pipe": "a pipe", "folder": "a folder", "topipe": "a pipe", "tofolder": "a folder",
		"tonew": "a symbolic link"} {
		was := kind(name)
		must.Fail(t, name, WriteThrough(path(name), []byte("x")), path(name)+": expected a regular file, found "+want)
		if was&fs.ModeSymlink == 0 {
			must.Fail(t, name, Write(path(name), []byte("x")), path(name)+": expected a regular file, found "+want)
		}
		must.Hold(t, kind(name) == was, "%s became %v", name, kind(name))
	}
	must.Do(t, os.Mkdir(path("other"), 0o755))
	must.Do(t, os.WriteFile(path("other/file"), []byte("old"), 0o644))
	must.Do(t, os.Symlink("other/file", path("link")))
	must.Do(t, WriteThrough(path("link"), []byte("new")))
	must.Hold(t, kind("link") == fs.ModeSymlink && string(must.Get(os.ReadFile(path("other/file")))(t)) == "new", "the link is gone")
	must.Do(t, Write(path("link"), []byte("own")))
	must.Hold(t, kind("link") == 0 && string(must.Get(os.ReadFile(path("other/file")))(t)) == "new", "the link was followed")
	must.Do(t, WriteThrough(path("plain"), []byte("1")))
	must.Do(t, WriteThrough(path("plain"), []byte("2")))
	must.EqualSlices(t, must.Get(os.ReadFile(path("plain")))(t), []byte("2"), "the plain file")
}
