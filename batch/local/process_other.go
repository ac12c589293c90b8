//go:build !unix

package local

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

func terminate(p *os.Process) error { return p.Kill() }
