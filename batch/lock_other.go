//go:build !unix

package batch

import "errors"

var ErrLocked = errors.New("locked by another process")

// LockFile finds no locks here; leases are kept by their beats alone.
func LockFile(string) (unlock func(), err error) { return func() {}, errors.ErrUnsupported }
