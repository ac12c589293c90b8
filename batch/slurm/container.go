package slurm

import (
	"context"
	"os"
	"os/exec"

	"github.com/amtrl/amtrl/batch"
)

// wrappedVariable is set in a container, whose process leaves requeueing to the
// one outside.
const wrappedVariable = "AMTRL_WRAPPED"

// WorkInContainer carries a task out in an image and returns the exit code of
// the process. It stays outside, where Slurm's commands are.
func WorkInContainer(ctx context.Context, w *batch.Worker, image string) (int, error) {
	return w.Delegate(ctx, saveSignal, func(res batch.Resources) *exec.Cmd {
		argv := containerCommand(w.Run, image, res, w.Part, w.Index)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), wrappedVariable+"=1")
		return cmd
	})
}

// containerCommand runs a task in an image: the run folder and that of the data
// are there under the same names, and the GPUs where any are asked for.
func containerCommand(r *batch.Run, image string, res batch.Resources, key string, index int) []string {
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
	return append(append(argv, image), batch.TaskCommand("amtrl", key, r.Dir, index)...)
}
