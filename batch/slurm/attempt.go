package slurm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// attempt is Slurm's view of this process, from what it set in the environment.
type attempt struct{}

// Attempt implements [batch.Engine].
func (e *Engine) Attempt() batch.Attempt { return attempt{} }

// ID implements [batch.Attempt]: the task of the array, A_T. The id of the job
// alone would not do: that of the last task is the whole array's.
func (attempt) ID() string {
	job, task := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID")
	if job == "" || task == "" {
		return ""
	}
	return job + "_" + task
}

// Restarts implements [batch.Attempt].
func (attempt) Restarts() string { return os.Getenv("SLURM_RESTART_COUNT") }

// Requeue implements [batch.Attempt]. Where Slurm is about to start the task
// again anyway, since the request to save came before a preemption, that is well
// too.
func (a attempt) Requeue(ctx context.Context) (bool, error) {
	id := a.ID()
	if id == "" || os.Getenv(wrappedVariable) != "" {
		return false, nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "scontrol", "requeue", id)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && !strings.Contains(out.String(), "pending execution") {
		return false, fmt.Errorf("scontrol requeue %s: %v: %s", id, err, text.OneLine(out.String(), 300))
	}
	return true, nil
}
