//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	noFollow    = unix.O_NOFOLLOW
	nonBlocking = unix.O_NONBLOCK
	// renameOpen says that a file can be renamed and removed while it is open.
	renameOpen = true
)

// syncFolder makes what happened to the names in a folder last. Not every file
// system can sync a folder; where one cannot, a crash may at worst bring the old
// names back.
func syncFolder(dir string) error {
	if dir == "" {
		dir = "."
	}
	if err := fail(OpSyncFolder, dir); err != nil {
		return ignoreUnsupported(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(d.Sync()), d.Close())
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}
