package batch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// engineID is what the engine calls the task that this process carries out.
func engineID() string {
	if id := slurmTask(); id != "" {
		return id
	}
	return os.Getenv("HOSTNAME")
}

// slurmTask is the task of the array, A_T, in which this process is. The id of
// the job alone would not do: that of the last task is the whole array's.
func slurmTask() string {
	job, task := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID")
	if job == "" || task == "" {
		return ""
	}
	return job + "_" + task
}

// requeueWait is how long a requeued process waits for the signal that ends it.
var requeueWait = 30 * time.Second

// requeue hands the saved task back to Slurm where this process is one of its
// tasks that nothing wraps; elsewhere the exit code says that the attempt wants
// another.
func (w *Worker) requeue(ctx context.Context, cause error) (int, error) {
	id := slurmTask()
	if id == "" || os.Getenv(wrappedVariable) != "" {
		return ExitRequeue, cause
	}
	if err := requeueSlurm(id); err != nil {
		code := 1
		exit := Exit{Attempt: w.attempt, Part: w.Part, Code: code, Reason: reasonFailed, Error: err.Error()}
		w.log(AttemptLine{Event: attemptEnd, Code: &code, Reason: reasonFailed, Error: err.Error()})
		writeJSON(w.Run.taskPath(w.task, "exit"), exit)
		return code, fmt.Errorf("task %d is saved, but cannot go on by itself: %w", w.task, err)
	}
	w.Note("task %d is saved and requeued as %s", w.task, id)
	// Slurm ends what it has requeued; to exit before would look like an end.
	sleep(ctx, requeueWait)
	return exitTerminated, cause
}

// requeueSlurm asks Slurm to run a task again. Where it is about to anyway, since
// the request to save came before a preemption, that is well too.
func requeueSlurm(id string) error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "scontrol", "requeue", id)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && !strings.Contains(out.String(), "pending execution") {
		return fmt.Errorf("scontrol requeue %s: %v: %s", id, err, oneLine(out.String()))
	}
	return nil
}

// oneLine cuts what a program said to one readable line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > 300 {
		s = s[:300] + "..."
	}
	return s
}

// wrappedVariable is set for a process that another one started on the
// engine's behalf and that leaves requeueing to it.
const wrappedVariable = "AMTRL_WRAPPED"
