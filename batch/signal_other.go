//go:build !unix

package batch

import "os"

// SaveSignals are those by which a task is asked to save and to end: none here.
var SaveSignals []os.Signal
