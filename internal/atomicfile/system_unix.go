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

// notFolder is the error of a path through what is no folder.
const notFolder = unix.ENOTDIR

const (
	noFollow    = unix.O_NOFOLLOW
	nonBlocking = unix.O_NONBLOCK
	// renameOpen says that a file can be renamed and removed while it is open.
	renameOpen = true
	// linksKnown says that an error tells whether the file system has no hard links.
	linksKnown = true
)

// syncFolder makes what happened to the names in a folder last. Not every file system can sync a folder; where one
// cannot, a crash may at worst bring the old names back.
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

// Stored returns how many bytes a file takes on its disk, less than its size
// where it has holes or is compressed. It is not known where ok is false.
func Stored(info fs.FileInfo) (n int64, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Blocks == 0 { // as some network file systems say of every file
		return 0, false
	}
	return stat.Blocks * 512, true
}

// writable says why no file can be made in a folder.
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
