//go:build !unix

package batch

import "errors"

var errLocked = errors.New("locked by another process")

// lockFile finds no locks here; leases are kept by their beats alone.
func lockFile(string) (unlock func(), err error) { return func() {}, errors.ErrUnsupported }
