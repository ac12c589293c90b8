//go:build !unix

package batch

import "os"

// SaveSignals are the signals by which a task is asked to save and to end: none on this system.
var SaveSignals []os.Signal
