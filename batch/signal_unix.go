//go:build unix

package batch

import (
	"os"
	"syscall"
)

// SaveSignals are the signals by which a task is asked to save and to end.
var SaveSignals = []os.Signal{syscall.SIGUSR1}
