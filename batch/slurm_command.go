package batch

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
)

// slurmPatience is how long a command of Slurm may take; those that cannot
// reach the controller give up by themselves, some after minutes.
var slurmPatience = 2 * time.Minute

// slurmCommand runs a command of Slurm and returns what it prints. An error is
// an [*Unsure] where the request may have arrived all the same. It does not wrap
// that of the process, whose exit code is not this program's.
func slurmCommand(ctx context.Context, stdin []byte, name string, args ...string) (string, error) {
	limited, stop := context.WithTimeout(ctx, slurmPatience)
	defer stop()
	cmd := exec.CommandContext(limited, name, args...)
	cmd.Env = slurmEnvironment(os.Environ())
	cmd.WaitDelay = 5 * time.Second
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	said := oneLine(stderr.String())
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s: expected the commands of Slurm on PATH", name)
	case limited.Err() != nil && ctx.Err() == nil:
		return "", &Unsure{fmt.Errorf("%s did not answer within %s: %s", name, slurmPatience, said)}
	case err != nil && strings.Contains(said, "timed out"):
		return "", &Unsure{fmt.Errorf("%s: %v: %s", name, err, said)}
	case err != nil && said == "":
		return "", fmt.Errorf("%s: %v: %s", name, err, oneLine(stdout.String()))
	case err != nil:
		return "", fmt.Errorf("%s: %v: %s", name, err, said)
	}
	return stdout.String(), nil
}

// keptVariables are those of Slurm's that choose which Slurm to speak to.
var keptVariables = []string{"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_PROTOCOL_VERSION", "SLURM_SACK_JWKS"}

// slurmEnvironment is an environment without what would change the format or
// the choice of an answer, make sbatch wait, or tell a job about another in
// which this process happens to run.
func slurmEnvironment(env []string) []string {
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
