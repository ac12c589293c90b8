//go:build !unix

package pipeline

// lockFolder does nothing where folders cannot be locked.
func lockFolder(string) (unlock func(), err error) { return func() {}, nil }
