//go:build unix

package filelock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A lock is one process's: a second taker is refused, in this process and from
// another one, until unlock or the end of the process.
func TestOneHolder(t *testing.T) {
	if path := os.Getenv("FILELOCK_PATH"); path != "" {
		if _, err := take(os.Getenv("FILELOCK_KIND"), path); err != nil {
			os.Exit(3)
		}
		os.Stdout.Write([]byte("locked"))
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	for _, kind := range []string{"folder", "file"} {
		t.Run(kind, func(t *testing.T) {
			path := t.TempDir()
			if kind == "file" {
				path = filepath.Join(path, "lock")
			}
			unlock, err := take(kind, path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := take(kind, path); !errors.Is(err, ErrLocked) {
				t.Errorf("a second lock: %v", err)
			} else if kind == "folder" && err.Error() != path+" is in use by another process" {
				t.Error(err)
			}
			unlock()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestOneHolder$")
			cmd.Env = append(os.Environ(), "FILELOCK_PATH="+path, "FILELOCK_KIND="+kind)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			out.Read(make([]byte, 6))
			if _, err := take(kind, path); !errors.Is(err, ErrLocked) {
				t.Errorf("while another process has it: %v", err)
			}
			cmd.Process.Kill()
			cmd.Wait()
			if unlock, err = take(kind, path); err != nil {
				t.Errorf("after the other process was killed: %v", err)
			} else {
				unlock()
			}
		})
	}
}

func take(kind, path string) (func(), error) {
	if kind == "folder" {
		return Folder(path)
	}
	return File(path)
}

// What is no regular file is refused at once, and a symbolic link is not followed.
func TestFileRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	pipe, link, victim := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "victim")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, dir, filepath.Join(dir, "absent", "lock")} {
		if unlock, err := File(path); err == nil {
			unlock()
			t.Errorf("%s was locked", path)
		}
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("it made a file through a symbolic link")
	}
	if _, err := Folder(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
