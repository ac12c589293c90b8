// Package compare holds what the benchmarks share: samples to fit, Python programs that fit the same samples, and
// tables.
package compare

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

//go:embed torch_shared.py
var shared embed.FS

// Folder is where Python programs and their data lie.
type Folder struct{ Dir string }

// NewFolder makes a temporary folder with the programs in scripts and the module that they share. The caller removes
// it.
func NewFolder(scripts embed.FS) (Folder, error) {
	dir, err := os.MkdirTemp("", "amtrl-bench")
	if err != nil {
		return Folder{}, err
	}
	for _, files := range []embed.FS{shared, scripts} {
		if err := os.CopyFS(dir, files); err != nil {
			return Folder{}, errors.Join(err, os.RemoveAll(dir))
		}
	}
	return Folder{dir}, nil
}

// Leave writes slices of numbers, little-endian, as NAME.bin.
func (f Folder) Leave(data map[string]any) error {
	for name, numbers := range data {
		raw, err := binary.Append(nil, binary.LittleEndian, numbers)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(f.Dir, name+".bin"), raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// LeaveProblem gathers samples from pools of uint8 into one float32 matrix, and leaves it with the labels, the offsets
// and a starting point.
func (f Folder) LeaveProblem(pools []*dataset.Pool, s backend.SampleSet, theta []float32) error {
	return f.Leave(map[string]any{"x": Gather(pools, s), "y": s.Y, "offsets": Offsets(s), "theta": theta})
}

// Run runs one of the programs and decodes the JSON that it prints into out. If the program fails, the error is the
// last line of its messages.
func (f Folder) Run(python string, out any, script string, args ...string) error {
	threads := fmt.Sprint(Threads())
	cmd := exec.Command(python, append([]string{filepath.Join(f.Dir, script)}, args...)...)
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+threads, "OMP_NUM_THREADS="+threads, "PYTHONDONTWRITEBYTECODE=1")
	var answer, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &answer, &messages
	err := tied(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		lines := strings.Split(strings.TrimSpace(messages.String()), "\n")
		return fmt.Errorf("%s: %s", filepath.Base(python), cmp.Or(lines[len(lines)-1], exit.Error()))
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Bytes(), out)
}

// Threads returns the number of threads that amtrl and the Python programs have.
func Threads() int { return runtime.GOMAXPROCS(0) }

// Python returns the interpreter that the first of the environment variables that is set names, or python3.
func Python(variables ...string) string {
	for _, v := range variables {
		if p := os.Getenv(v); p != "" {
			return p
		}
	}
	return "python3"
}

// TorchPython returns the first of the environment's interpreters and the system's that has PyTorch, or else the one
// that the environment names.
func TorchPython() string {
	named := Python("AMTRL_TORCH_PYTHON", "AMTRL_PYTHON")
	for _, p := range []string{named, Python("AMTRL_PYTHON"), "python3", "/usr/bin/python3"} {
		if Has(p, "torch") {
			return p
		}
	}
	return named
}

// Has reports whether an interpreter can import a module.
func Has(python, module string) bool {
	return exec.Command(python, "-c", "import "+module).Run() == nil
}
