// Package owner reports whether a file or folder may be trusted to hold what this user put there.
package owner

import (
	"fmt"
	"io/fs"
)

// Check returns an error if the file or folder of info is not trusted: if it belongs to neither this user nor root, or
// its group or others may write to it. It returns nil if the system has no such owners. The error does not name the file.
func Check(info fs.FileInfo) error {
	if uid, me, ok := owners(info); ok {
		if uid != me && uid != 0 {
			return fmt.Errorf("belongs to user %d, expected %d or root", uid, me)
		}
		if mode := info.Mode(); mode.Perm()&0o022 != 0 {
			return fmt.Errorf("others may write to it (mode %v)", mode)
		}
	}
	return nil
}
