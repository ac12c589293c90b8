//go:build !unix

package atomicfile

import (
	"errors"
	"io/fs"
)

// notFolder is no error here: a path through what is no folder is one that does not exist.
var notFolder = errors.New("not a folder")

const (
	noFollow    = 0
	nonBlocking = 0
	renameOpen  = false
	linksKnown  = false
)

// syncFolder does nothing: a folder cannot be synced here.
func syncFolder(string) error { return nil }

// writable knows nothing here.
func writable(string) error { return nil }

// Stored knows nothing here.
func Stored(fs.FileInfo) (n int64, ok bool) { return 0, false }
