//go:build !unix

package slurm

import "os"

// saveSignal is never sent here: the nodes of Slurm are Unix machines.
var saveSignal os.Signal = os.Interrupt
