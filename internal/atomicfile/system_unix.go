//go:build unix

package atomicfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// notFolder is the error of a path that leads through something other than a folder.
const notFolder = unix.ENOTDIR

const (
	noFollow    = unix.O_NOFOLLOW
	nonBlocking = unix.O_NONBLOCK
	// renameOpen reports that a file can be renamed and removed while it is open.
	renameOpen = true
	// linksKnown reports that an error tells whether the file system has hard links.
	linksKnown = true
)

// syncFolder syncs a folder, so that new, changed and removed names in it survive a crash. Not every file system can do
// that; where one cannot, a crash may at worst bring the old names back.
func syncFolder(dir string) error {
	dir = cmp.Or(dir, ".")
	if err := fail(OpSyncFolder, dir); err != nil {
		return ignoreUnsupported(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(d.Sync()), d.Close())
}

// Stored returns how many bytes a file takes on its disk, which is less than its size if it has holes or is compressed.
// ok is false if that is not known.
func Stored(info fs.FileInfo) (n int64, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Blocks == 0 { // some network file systems say so of every file
		return 0, false
	}
	return stat.Blocks * 512, true
}

// writable returns an error if no file can be made in a folder.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write into", Path: dir, Err: err}
	}
	return nil
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}
