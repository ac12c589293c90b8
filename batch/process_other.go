//go:build !unix

package batch

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

func terminate(p *os.Process) { p.Kill() }

func askToSave(*os.Process) {}

// SaveSignals are those by which an engine asks a task to save: none here.
var SaveSignals []os.Signal
