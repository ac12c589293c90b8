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

// wrappedVariable is the environment variable that is set inside a container, where the process leaves requeueing to the process outside.
const wrappedVariable = "AMTRL_WRAPPED"

// WorkInContainer carries a task out in an image and returns the exit code of this process, which stays outside the
// container, where the commands of Slurm are.
func WorkInContainer(ctx context.Context, w *batch.Worker, image string) (int, error) {
	return w.Delegate(ctx, func(res batch.Resources) *exec.Cmd {
		argv := containerCommand(w.Run, image, res, w.Part, w.Index)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), wrappedVariable+"=1")
		return cmd
	})
}

// mostFiles is the largest number of files that a command can bind one by one.
const mostFiles = 1000

// checkContainer refuses a submission that cannot run in the image: too many files, a malformed image, or paths that
// apptainer would take apart, since it separates paths to bind by commas and their two sides by a colon.
func checkContainer(image string, s batch.Submission) error {
	if image == "" {
		return nil
	}
	if len(s.Files) > mostFiles {
		return &batch.OptionError{Option: "container", Problem: fmt.Sprintf(": expected data of at most %d files, which the container is shown "+
			"one by one, found %d that %s names: give the folder of its import", mostFiles, len(s.Files), s.Data)}
	}
	if strings.HasPrefix(image, "-") || !text.Printable(image) {
		return &batch.OptionError{Option: "container", Problem: fmt.Sprintf(" is %q: expected an image", image)}
	}
	for _, p := range append([]string{s.Dir, s.Data}, s.Files...) {
		if strings.ContainsAny(p, ":,") {
			return fmt.Errorf("%s: expected a path without colon and comma, which mean something to apptainer", p)
		}
	}
	return nil
}

// containerCommand returns the command that runs a task in an image. It binds the run folder, the data and the files
// that these name at the paths that they have outside, and shows the GPUs if the task asks for any.
func containerCommand(r *batch.Run, image string, res batch.Resources, key string, index int) []string {
	argv := []string{"apptainer", "exec"}
	if res.GPUs > 0 {
		argv = append(argv, "--nv")
	}
	argv = append(argv, "--bind", r.Dir)
	for _, p := range append([]string{r.Plan.Data()}, r.Plan.Files()...) {
		if p != "" {
			argv = append(argv, "--bind", p+":"+p+":ro")
		}
	}
	return append(append(argv, image), batch.TaskCommand("amtrl", key, r.Dir, index)...)
}
