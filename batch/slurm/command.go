package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// patience is how long a command of Slurm may take. A command that cannot reach the controller gives up by itself, in
// some cases only after minutes.
var patience = 2 * time.Minute

// runCommand runs a command of Slurm and returns its standard output. The error is a [*batch.Unsure] if the request may
// have arrived all the same. It does not wrap the error of the process, whose exit code is not this program's.
func runCommand(ctx context.Context, stdin []byte, name string, args ...string) (string, error) {
	limited, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(limited, name, args...)
	cmd.Env = cleanEnvironment(os.Environ())
	cmd.WaitDelay = 5 * time.Second
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	said := text.OneLine(stderr.String(), 300)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s: expected the commands of Slurm on PATH", name)
	case limited.Err() != nil && ctx.Err() == nil:
		return "", &batch.Unsure{Err: fmt.Errorf("%s did not answer within %s: %s", name, patience, said)}
	case err != nil && strings.Contains(said, "timed out"):
		return "", &batch.Unsure{Err: fmt.Errorf("%s: %v: %s", name, err, said)}
	case err != nil && said == "":
		return "", fmt.Errorf("%s: %v: %s", name, err, text.OneLine(stdout.String(), 300))
	case err != nil:
		return "", fmt.Errorf("%s: %v: %s", name, err, said)
	}
	return stdout.String(), nil
}

// keptVariables are the variables of Slurm that select which Slurm to speak to.
var keptVariables = []string{"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_PROTOCOL_VERSION", "SLURM_SACK_JWKS"}

// cleanEnvironment returns env without the variables that would change the format or the scope of an answer, make
// sbatch wait, or tell a job about another job in which this process happens to run.
func cleanEnvironment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{"SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_"} {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return name == "SBATCH_WAIT" || strings.HasPrefix(name, "SLURM_") && !slices.Contains(keptVariables, name)
	})
}
