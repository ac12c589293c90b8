//go:build unix

package owner

import (
	"io/fs"
	"os"
	"syscall"
)

// owners returns the owner of a file and the user of this process.
func owners(info fs.FileInfo) (uid, me int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), os.Geteuid(), true
}
