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

// Attempt implements [batch.Engine] from the environment that Slurm sets. The id of the attempt is ARRAY_INDEX. The job
// id of the task would not do: that of the last task stands for the whole array.
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

// requeue asks Slurm to start a task again. It is no error if Slurm is about to do so anyway, because the request to
// save came before a preemption. Slurm then ends every process of the task, scontrol among them. So scontrol ignores
// SIGTERM, to report its answer; if the signal comes before it can ignore it, its end by SIGTERM counts as success.
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
