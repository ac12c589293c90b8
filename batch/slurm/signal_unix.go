//go:build unix

package slurm

import (
	"os"
	"syscall"
)

// saveSignal is what sbatch is told to send before a time limit, by --signal.
var saveSignal os.Signal = syscall.SIGUSR1
