//go:build unix

package filelock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Only one holder at a time has a lock: others are refused, in this process and in another one, until unlock or the end
// of the process.
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
			unlock := must.Get(take(kind, path))(t)
			if _, err := take(kind, path); !errors.Is(err, ErrLocked) {
				t.Errorf("a second lock: %v", err)
			} else if kind == "folder" && err.Error() != path+" is in use by another process or another call" {
				t.Error(err)
			}
			unlock()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestOneHolder$")
			cmd.Env = append(os.Environ(), "FILELOCK_PATH="+path, "FILELOCK_KIND="+kind)
			in := must.Get(cmd.StdinPipe())(t)
			defer in.Close()
			out := must.Get(cmd.StdoutPipe())(t)
			must.Do(t, cmd.Start())
			out.Read(make([]byte, 6))
			if _, err := take(kind, path); !errors.Is(err, ErrLocked) {
				t.Errorf("while another process has it: %v", err)
			}
			cmd.Process.Kill()
			cmd.Wait()
			if unlock, err := take(kind, path); err != nil {
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

// IsLocked neither creates nor writes the file, and a process that only asks does not count as its holder.
func TestIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if IsLocked(path) {
		t.Error("a file that is not there is locked")
	}
	must.Absent(t, path)
	unlock := must.Get(File(path))(t)
	if !IsLocked(path) {
		t.Error("a locked file is not locked")
	}
	unlock()
	asks := must.Get(os.Open(path))(t)
	defer asks.Close()
	must.Do(t, lockShared(asks))
	if IsLocked(path) {
		t.Error("a file that another asks about is locked")
	}
}

// File refuses everything but a regular file at once, and does not follow a symbolic link.
func TestFileRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	pipe, link, victim := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "victim")
	must.Do(t, syscall.Mkfifo(pipe, 0o644))
	must.Do(t, os.Symlink(victim, link))
	for _, path := range []string{pipe, link, dir, filepath.Join(dir, "absent", "lock")} {
		if unlock, err := File(path); err == nil {
			unlock()
			t.Errorf("%s was locked", path)
		}
	}
	must.Absent(t, victim)
	if _, err := Folder(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
