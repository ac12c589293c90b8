//go:build linux

package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed numpy_erm.py torch_erm.py torch_conv.py
var scripts embed.FS

const (
	numpyPass = "NumPy, two passes, float32"
	torchPass = "PyTorch, autograd on (X B) w"
)

// rival runs one of the scripts and decodes what it prints.
func rival(python, script, dir string, out any, args ...string) error {
	src, err := scripts.ReadFile(script)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, script)
	if err := os.WriteFile(path, src, 0o644); err != nil {
		return err
	}
	n := fmt.Sprint(threads())
	cmd := exec.Command(python, append([]string{path, dir, n}, args...)...)
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+n, "OMP_NUM_THREADS="+n)
	raw, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		return fmt.Errorf("%s: %s", filepath.Base(python), lines[len(lines)-1])
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

func numpyPython() string {
	if p := os.Getenv("AMTRL_PYTHON"); p != "" {
		return p
	}
	return "python3"
}

// torchPython is the first interpreter that can import torch.
func torchPython() string {
	candidates := []string{os.Getenv("AMTRL_TORCH_PYTHON"), os.Getenv("AMTRL_PYTHON"), "python3", "/usr/bin/python3"}
	for _, p := range candidates {
		if p != "" && exec.Command(p, "-c", "import torch").Run() == nil {
			return p
		}
	}
	return "python3"
}

// timeRivalPasses times one loss and gradient in NumPy and in PyTorch.
func timeRivalPasses(dir string, repeats int) []timing {
	bytes := float64(samples * inputs * 4)
	var out []timing
	for _, r := range []struct{ name, python, script string }{
		{numpyPass, numpyPython(), "numpy_erm.py"},
		{torchPass, torchPython(), "torch_erm.py"},
	} {
		t := timing{Name: r.name, Bytes: bytes}
		var reply struct{ Seconds float64 }
		if err := rival(r.python, r.script, dir, &reply, "pass", fmt.Sprint(repeats)); err != nil {
			t.Failed = err.Error()
		}
		t.Seconds = reply.Seconds
		out = append(out, t)
	}
	return out
}
