//go:build unix

package local

import (
	"os"
	"os/exec"
	"syscall"
)

// detach makes a command outlive its parent and its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func terminate(p *os.Process) { p.Signal(syscall.SIGTERM) }

// askToSave tells a task to save and to end.
func askToSave(p *os.Process) { p.Signal(syscall.SIGUSR1) }

// saveSignals are those by which the supervisor asks a task to save.
var saveSignals = []os.Signal{syscall.SIGUSR1}
