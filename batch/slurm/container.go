package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// wrappedVariable is set in a container, whose process leaves requeueing to the one outside.
const wrappedVariable = "AMTRL_WRAPPED"

// WorkInContainer carries a task out in an image and returns the exit code of
// the process. It stays outside, where Slurm's commands are.
func WorkInContainer(ctx context.Context, w *batch.Worker, image string) (int, error) {
	return w.Delegate(ctx, func(res batch.Resources) *exec.Cmd {
		argv := containerCommand(w.Run, image, res, w.Part, w.Index)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), wrappedVariable+"=1")
		return cmd
	})
}

// checkContainer refuses what apptainer would take apart: paths to bind are
// separated by commas, and their two sides by a colon.
func checkContainer(image string, paths ...string) error {
	if image == "" {
		return nil
	}
	if strings.HasPrefix(image, "-") || !text.Printable(image) {
		return &batch.OptionError{Option: "container", Problem: fmt.Sprintf(" is %q: expected an image", image)}
	}
	for _, p := range paths {
		if strings.ContainsAny(p, ":,") {
			return fmt.Errorf("%s: expected a path without colon and comma, which mean something to apptainer", p)
		}
	}
	return nil
}

// containerCommand runs a task in an image: the run folder and that of the data
// are there under the same names, and the GPUs where any are asked for.
func containerCommand(r *batch.Run, image string, res batch.Resources, key string, index int) []string {
	argv := []string{"apptainer", "exec"}
	if res.GPUs > 0 {
		argv = append(argv, "--nv")
	}
	argv = append(argv, "--bind", r.Dir)
	if data := r.Plan.Data(); data != "" {
		argv = append(argv, "--bind", data+":"+data+":ro")
	}
	return append(append(argv, image), batch.TaskCommand("amtrl", key, r.Dir, index)...)
}
