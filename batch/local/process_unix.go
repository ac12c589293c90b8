//go:build unix

package local

import (
	"os"
	"os/exec"
	"syscall"
)

// detach makes a command outlive its parent and its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
