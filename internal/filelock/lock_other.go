//go:build !unix

package filelock

import (
	"errors"
	"os"
)

const (
	supported = false
	safeOpen  = 0
)

// Lock returns [errors.ErrUnsupported]: there are no locks here.
func Lock(*os.File) error { return errors.ErrUnsupported }

func lockShared(*os.File) error { return errors.ErrUnsupported }
