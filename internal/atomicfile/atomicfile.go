// Package atomicfile writes files that appear whole or not at all and are synced to disk. It opens regular files only:
// a pipe or a device in the place of a file is an error, not a wait.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amtrl/amtrl/internal/filelock"
)

// Write replaces the file with the parts of content in order: it writes a temporary file of a random name in the same
// folder, syncs it, renames it over the old one and syncs the folder. Several processes may write one file at the same
// time: the last to rename wins, whole. After an error the old file is as it was, except where the sync of the folder
// failed: then it may be the new one. A symbolic link is replaced, not followed; a pipe, a device or a folder is an error.
//
// A process that is killed leaves a temporary file behind. The first Write into a folder by a later process removes it.
func Write(path string, content ...[]byte) error {
	return put(path, replace, func(f *os.File) error { return write(f, content...) })
}

// WriteThrough is [Write] to the file that a symbolic link at path leads to, or to path where there is no link.
func WriteThrough(path string, content ...[]byte) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return notRegular(path, info)
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case errors.Is(err, fs.ErrNotExist):
		if link, err := os.Lstat(path); err == nil {
			return notRegular(path, link)
		}
	}
	return Write(path, content...)
}

// Create is [Write] for a file that must not exist yet. The error is [fs.ErrExist] if there is a file at path, also if
// another process, or another machine that uses the file system, makes it at the same time. On a file system without
// hard links the file is empty for a moment, and stays empty if the process is killed in that moment.
func Create(path string, content ...[]byte) error {
	return put(path, link, func(f *os.File) error { return write(f, content...) })
}

// CreateBy is [Create] with the content that fill writes.
func CreateBy(path string, fill func(io.Writer) error) error {
	return put(path, link, func(f *os.File) error {
		if err := fill(f); err != nil {
			return err
		}
		return write(f)
	})
}

// WriteThen is [Write] with a step between: then is called once the content is on disk, and before the file appears. If
// it returns an error, the file stays as it was. A process that is killed after then leaves no new file.
func WriteThen(path string, content []byte, then func() error) error {
	return put(path, replace, func(f *os.File) error {
		if err := write(f, content); err != nil {
			return err
		}
		return then()
	})
}

// put creates a temporary file, which fill writes and syncs and move renames to path, and syncs the folder.
func put(path string, move func(from, to string) error, fill func(*os.File) error) error {
	dir, name := filepath.Split(path)
	cleanOnce(dir)
	f, err := createTemporary(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = fill(f)
	if !renameOpen {
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = fail(OpRename, path)
	}
	if err == nil {
		err = move(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return named(err, f.Name(), path)
	}
	return syncFolder(dir)
}

// replace renames a file, over another one if there is one.
func replace(from, to string) error {
	if info, err := os.Lstat(to); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return notRegular(to, info)
	}
	return os.Rename(from, to)
}

// link renames a file, but replaces none: it makes a hard link and removes the old name.
func link(from, to string) error {
	err := fail(OpLink, to)
	if err == nil {
		err = os.Link(from, to)
	}
	if errors.Is(err, fs.ErrExist) {
		mine, err1 := os.Lstat(from)
		there, err2 := os.Lstat(to)
		// A file server that is asked twice, because its first answer got lost, finds the link that it made itself.
		if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
			return err
		}
	} else if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || err != nil && !linksKnown {
		return renameNew(from, to)
	} else if err != nil {
		return err
	}
	os.Remove(from) // if this fails, the temporary file stays, as after a kill
	return nil
}

// renameNew is link for file systems without hard links. It first makes an empty file, which only one of several
// processes can, and renames over it.
func renameNew(from, to string) error {
	empty, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(empty.Close(), os.Rename(from, to))
	if err != nil {
		os.Remove(to)
	}
	return err
}

// named replaces the name of the temporary file by that of the file itself in err. Other errors, such as those of the
// source of the content, stay as they are.
func named(err error, temporary, path string) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == temporary {
		return &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok && e.Old == temporary {
		return &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	return err
}

// A temporary file is called .NAME.RANDOM.tmp, where NAME is the name of its file, cut to leave room for the rest. It
// is locked while it is written.
const (
	tmpSuffix    = ".tmp"
	tmpRandom    = 13
	tmpName      = 200
	tmpAlphabet  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // of rand.Text
	tmpAbandoned = time.Hour
)

// IsTemporary reports whether name is a file name that [Write] gives to an unfinished file.
func IsTemporary(name string) bool {
	rest, ok := strings.CutSuffix(name, tmpSuffix)
	dot := len(rest) - tmpRandom - 1
	return ok && dot > 0 && rest[0] == '.' && rest[dot] == '.' && strings.Trim(rest[dot+1:], tmpAlphabet) == ""
}

// TemporaryName returns a name that [IsTemporary] recognises, for a file that will be called name.
func TemporaryName(name string) string {
	return "." + name[:min(len(name), tmpName)] + "." + rand.Text()[:tmpRandom] + tmpSuffix
}

func createTemporary(dir, name string) (*os.File, error) {
	if err := fail(OpCreate, filepath.Join(dir, name)); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		path := filepath.Join(dir, TemporaryName(name))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, named(err, path, dir+name)
		}
		// A process that cleans the folder may come before the lock: then it holds the lock, or has removed the file.
		locked := filelock.Lock(f)
		if mine, err := f.Stat(); err == nil && !errors.Is(locked, filelock.ErrLocked) {
			if there, err := os.Lstat(path); err == nil && os.SameFile(mine, there) {
				return f, nil
			}
		}
		f.Close()
		os.Remove(path)
		if tries == 10 {
			return nil, &fs.PathError{Op: "create", Path: dir + name, Err: errors.New("something removes its temporary file again and again")}
		}
	}
}

var cleaned sync.Map

// cleanOnce removes the temporary files that killed processes left in a folder, once per folder and process. A file that another
// process has locked is being written and stays. Where files cannot be locked, a file written to within the last hour stays.
func cleanOnce(dir string) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return
	}
	if _, done := cleaned.LoadOrStore(abs, true); done {
		return
	}
	entries, _ := os.ReadDir(abs)
	for _, e := range entries {
		if IsTemporary(e.Name()) && e.Type().IsRegular() {
			removeAbandoned(filepath.Join(abs, e.Name()))
		}
	}
}

func removeAbandoned(path string) {
	f, err := OpenFile(path, os.O_RDWR)
	if err != nil {
		return
	}
	defer f.Close()
	err = filelock.Lock(f)
	if err != nil && !errors.Is(err, filelock.ErrLocked) { // there are no locks here
		if info, statErr := f.Stat(); statErr == nil && time.Since(info.ModTime()) >= tmpAbandoned {
			err = f.Close() // some systems cannot remove an open file
		}
	}
	if err == nil {
		os.Remove(path)
	}
}

// Append adds a line to the file at path with a single write, and syncs the file. It makes the file if there is none,
// and then also syncs the folder. A line break is added if line ends without one. If a killed process left an
// incomplete last line, a line break closes it first. A symbolic link is refused.
func Append(path string, line []byte) error {
	if err := fail(OpCreate, path); err != nil {
		return err
	}
	f, info, err := openRegular(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|noFollow, os.Lstat)
	if err != nil {
		return err
	}
	size := info.Size()
	whole := fmt.Appendf(nil, "%s\n", bytes.TrimSuffix(line, []byte("\n")))
	if size > 0 {
		last := make([]byte, 1)
		if _, err = f.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			whole = slices.Insert(whole, 0, '\n')
		}
	}
	if err == nil {
		err = write(f, whole)
	}
	if err := errors.Join(err, f.Close()); err != nil || size > 0 {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Extend replaces all that follows the first size bytes of the file at path by content, and syncs the file. It makes
// the file if there is none, and then also syncs the folder. After an error the file has its first size bytes again, if
// the disk allows that, and never fewer. A symbolic link is refused.
func Extend(path string, size int64, content []byte) error {
	if err := fail(OpCreate, path); err != nil {
		return err
	}
	f, info, err := openRegular(path, os.O_RDWR|os.O_CREATE|noFollow, os.Lstat)
	if err != nil {
		return err
	}
	if info.Size() < size {
		err = fmt.Errorf("%s: expected at least %d bytes, found %d", path, size, info.Size())
	} else if info.Size() > size {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err == nil {
		if err = write(f, content); err != nil {
			err = errors.Join(err, f.Truncate(size), f.Sync())
		}
	}
	if err := errors.Join(err, f.Close()); err != nil || size > 0 {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// MkdirAll makes the folder dir and those above it that are missing, and syncs the parent of each that it makes.
func MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err == nil {
		if info.IsDir() {
			return nil
		}
		return fmt.Errorf("%s: expected a folder, found %s", dir, describe(info.Mode()))
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MkdirAll(parent); err != nil {
			return err
		}
	}
	err := fail(OpMkdir, dir)
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	// Another process may have made it in the meantime.
	if info, statErr := os.Stat(dir); err != nil && (statErr != nil || !info.IsDir()) {
		return err
	}
	return syncFolder(parent)
}

// CheckFolder returns an error if [MkdirAll] could not make the folder dir, or no file could be made in it, as far as
// that can be known without changing anything.
func CheckFolder(dir string) error {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	switch parent := filepath.Dir(dir); {
	case err == nil && info.IsDir():
		return writable(dir)
	case err == nil:
		return fmt.Errorf("%s: expected a folder, found %s", dir, describe(info.Mode()))
	case parent != dir && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, notFolder)):
		if _, dangling := os.Lstat(dir); dangling == nil {
			return err
		}
		return CheckFolder(parent)
	}
	return err
}

// Remove removes a file, if it is there, and syncs its folder.
func Remove(path string) error {
	err := fail(OpRemove, path)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// write writes the parts to the end of the file and syncs it.
func write(f *os.File, parts ...[]byte) error {
	for _, p := range parts {
		if err := fail(OpWrite, f.Name()); err != nil {
			f.Write(p[:len(p)/2])
			return err
		}
		if _, err := f.Write(p); err != nil {
			return err
		}
	}
	if err := fail(OpSync, f.Name()); err != nil {
		return err
	}
	return f.Sync()
}
