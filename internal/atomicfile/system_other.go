//go:build !unix

package atomicfile

import (
	"errors"
	"io/fs"
)

// notFolder never occurs here: a path that leads through something other than a folder does not exist.
var notFolder = errors.New("not a folder")

const (
	noFollow    = 0
	nonBlocking = 0
	renameOpen  = false
	linksKnown  = false
)

// syncFolder does nothing: a folder cannot be synced here.
func syncFolder(string) error { return nil }

// writable returns nil: nothing is known about permissions here.
func writable(string) error { return nil }

// Stored returns false: the bytes that a file takes on its disk are not known here.
func Stored(fs.FileInfo) (n int64, ok bool) { return 0, false }
