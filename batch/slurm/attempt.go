package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// Attempt implements [batch.Engine], from what Slurm set in the environment. The id is that of the task of the array,
// A_T. That of the job alone would not do: the last task's is the whole array's.
func (e *engine) Attempt() batch.Attempt {
	a := batch.Attempt{Restarts: os.Getenv("SLURM_RESTART_COUNT")}
	job, task := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID")
	if job == "" || task == "" {
		return a
	}
	a.ID = job + "_" + task
	if os.Getenv(wrappedVariable) == "" {
		a.Requeue = func(ctx context.Context) error { return requeue(ctx, a.ID) }
	}
	return a
}

// requeue asks Slurm to start a task again. Where it is about to do that anyway,
// since the request to save came before a preemption, that is well too. Slurm
// then ends every process of the task, scontrol among them: it ignores SIGTERM,
// so that its answer is known, unless the signal comes before it can.
func requeue(ctx context.Context, id string) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer stop()
	out, err := exec.CommandContext(ctx, "sh", "-c", `trap "" TERM; exec scontrol requeue "$1"`, "sh", id).CombinedOutput()
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.String() == "signal: terminated" {
		return nil
	}
	if err != nil && !strings.Contains(string(out), "pending execution") {
		return fmt.Errorf("scontrol requeue %s: %v: %s", id, err, text.OneLine(string(out), 300))
	}
	return nil
}
