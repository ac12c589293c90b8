//go:build !unix

package local

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

func terminate(p *os.Process) { p.Kill() }

func askToSave(*os.Process) {}

// saveSignals are those by which the supervisor asks a task to save: none here.
var saveSignals []os.Signal
