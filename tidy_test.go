package amtrl

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// go.mod and go.sum are as go mod tidy writes them, in every module but the laboratory of batch/kubelab, whose modules
// take 1.3 GB.
func TestModulesAreTidy(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for the modules of dependencies")
	}
	for _, dir := range []string{".", "batch/kubecheck", "cpu/internal/vec/gen", "internal/dockercheck", "internal/typecheck"} {
		t.Run(dir, func(t *testing.T) {
			cmd := exec.Command("go", "mod", "tidy", "-diff")
			cmd.Dir = dir
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			diff, err := cmd.Output()
			var exit *exec.ExitError
			switch {
			case err == nil:
			case errors.As(err, &exit) && strings.HasPrefix(string(diff), "diff "):
				t.Errorf("go mod tidy would change this:\n%s", diff)
			default:
				t.Skipf("the modules cannot be had here: %v: %s", err, stderr.String())
			}
		})
	}
}
