package batch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// AskToSave sends the process of a task the signals that ask it to save and to end.
func AskToSave(p *os.Process) {
	for _, s := range SaveSignals {
		p.Signal(s)
	}
}

// Delegate carries the task out in another process, which command makes and which cannot reach the engine, such as one in
// a container. This process stays outside. It passes on what the engine asks, a request to save as a signal, and when the
// other process has saved and wants another attempt, it asks the engine for one. It returns the exit code of this process.
func (w *Worker) Delegate(ctx context.Context, command func(Resources) *exec.Cmd) (int, error) {
	if err := w.find(); err != nil {
		return ExitBadInput, err
	}
	if done, err := w.done(); err != nil || done {
		return w.finishDone(err)
	}
	cmd := command(w.res)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	ended := make(chan struct{})
	go func() {
		asked, stop := w.Save, ctx.Done()
		for {
			select {
			case <-asked:
				AskToSave(cmd.Process)
				asked = nil
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
		return ExitTerminated, fmt.Errorf("task %d ended early", w.task)
	case code < 0:
		return 1, fmt.Errorf("the process of task %d ended: %v", w.task, err)
	default:
		return code, fmt.Errorf("task %d ended with exit code %d", w.task, code)
	}
}
