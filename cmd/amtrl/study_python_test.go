package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
)

// The Python module passes its own tests, as pip installs it where pip can.
func TestPython(t *testing.T) {
	python := cmp.Or(os.Getenv("AMTRL_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import sys; assert sys.version_info >= (3, 9)").Run(); err != nil {
		t.Skipf("no Python of at least 3.9: %s: %v", python, err)
	}
	source := must.Get(filepath.Abs(filepath.Join("..", "..", "python", "amtrl")))(t)
	dir := t.TempDir()
	module := source
	if err := exec.Command(python, "-c", "import setuptools.command.bdist_wheel, pip").Run(); err != nil {
		t.Logf("no pip, or no setuptools of at least 70.1: the module is tested where it lies: %v", err)
	} else {
		work := filepath.Join(dir, "source")
		must.Do(t, os.CopyFS(work, os.DirFS(source)))
		module = filepath.Join(dir, "installed")
		amtrltest.Run(t, exec.Command(python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
			"--disable-pip-version-check", "--target", module, work)).Succeeds(t)
	}
	tests := filepath.Join(dir, "test_amtrl.py")
	must.Do(t, os.WriteFile(tests, must.Get(os.ReadFile(filepath.Join(source, "test_amtrl.py")))(t), 0o644))
	cmd := command(dir, "-m", "unittest", "test_amtrl")
	cmd.Path, cmd.Args[0] = must.Get(exec.LookPath(python))(t), python
	cmd.Env = append(cmd.Env, "PYTHONPATH="+module, "PYTHONDONTWRITEBYTECODE=1", "AMTRL_PROGRAM="+binary)
	amtrltest.Run(t, cmd).Succeeds(t)
}
