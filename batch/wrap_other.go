//go:build !unix

package batch

import (
	"context"
	"errors"
)

// WrapTask is for the nodes of Slurm, which are Unix machines.
func WrapTask(context.Context, *Run, string, int, string, <-chan struct{}, func(format string, args ...any)) (int, error) {
	return 1, errors.ErrUnsupported
}
