//go:build unix

package batch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// WrapTask carries a task of Slurm out in a container and returns the exit code
// of the process. It stays outside, where Slurm's commands are: what the engine
// asks of it, it passes on, and when the task in the container has saved and
// wants another attempt, it asks for that.
func WrapTask(ctx context.Context, r *Run, key string, index int, image string, save <-chan struct{}, note func(format string, args ...any)) (int, error) {
	w := &Worker{Run: r, Part: key, Index: index, Note: note}
	if err := w.find(); err != nil {
		return ExitBadInput, err
	}
	if done, err := r.hasResult(w.task); err != nil || done {
		return w.already(err)
	}
	argv := containerCommand(r, image, w.res, key, index)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), wrappedVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("%s: %w", argv[0], err)
	}
	ended := make(chan struct{})
	go func() {
		stop := ctx.Done()
		for {
			select {
			case <-save:
				cmd.Process.Signal(syscall.SIGUSR1)
				save = nil
			case <-stop:
				cmd.Process.Signal(syscall.SIGTERM)
				stop = nil
			case <-ended:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	switch code := cmd.ProcessState.ExitCode(); {
	case err == nil:
		return 0, nil
	case code == ExitRequeue:
		return w.requeue(ctx, fmt.Errorf("task %d ended early: %w", w.task, errSaved))
	case code < 0 && ctx.Err() != nil:
		return exitTerminated, fmt.Errorf("task %d ended early", w.task)
	case code < 0:
		return 1, fmt.Errorf("the container of task %d ended: %v", w.task, err)
	default:
		return code, fmt.Errorf("task %d ended with exit code %d in the container", w.task, code)
	}
}

// containerCommand runs a task in an image: the run folder and that of the data
// are there under the same names, and the GPUs where any are asked for.
func containerCommand(r *Run, image string, res Resources, key string, index int) []string {
	argv := []string{"apptainer", "exec"}
	if res.GPUs > 0 {
		argv = append(argv, "--nv")
	}
	argv = append(argv, "--bind", r.Dir)
	for _, f := range r.Plan.Flags {
		if f.Name == "data" && len(f.Value) > 0 && f.Value[0] == '/' {
			argv = append(argv, "--bind", f.Value+":"+f.Value+":ro")
		}
	}
	return append(append(argv, image), taskCommand("amtrl", key, r.Dir, index)...)
}
