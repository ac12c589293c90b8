//go:build !unix

package atomicfile

const (
	noFollow    = 0
	nonBlocking = 0
	renameOpen  = false
)

// syncFolder does nothing: a folder cannot be synced here.
func syncFolder(string) error { return nil }
