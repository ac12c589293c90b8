package compare

import (
	"os/exec"
	"runtime"
	"syscall"
)

// tied runs a program that is killed if this process dies, in whatever way.
func tied(cmd *exec.Cmd) error {
	// The signal comes with the death of the thread that starts the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}
