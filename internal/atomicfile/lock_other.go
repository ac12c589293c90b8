//go:build !unix

package atomicfile

// LockFolder does nothing where folders cannot be locked.
func LockFolder(string) (unlock func(), err error) { return func() {}, nil }
