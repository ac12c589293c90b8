package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
)

// runPage runs the Python code of a page of the documentation between the lines before and after, and returns its
// output. It skips the test if Python lacks the modules.
func runPage(t *testing.T, dir, page, modules, before, after string) string {
	t.Helper()
	_, script, ok := strings.Cut(string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", page)))(t)), "```python\n")
	script, _, closed := strings.Cut(script, "```")
	if !ok || !closed || len(script) < 100 {
		t.Fatalf("docs/%s has no Python", page)
	}
	python := cmp.Or(os.Getenv("AMTRL_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import "+modules).Run(); err != nil {
		t.Skipf("%s -c 'import %s': %v", python, modules, err)
	}
	cmd := exec.Command(python, "-c", before+script+after)
	cmd.Dir = dir
	return start(t, cmd).Succeeds(t).Stdout
}

// The first steps of docs/study.md work one after the other, and lead to the shops that are like the target.
func TestStudyPage(t *testing.T) {
	dir := ownFolder(t)
	for _, program := range []string{"sh", "awk"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	runPage(t, dir, "study.md", "csv", "", "")
	page := string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "study.md")))(t))
	_, page, _ = strings.Cut(page, "```console\n")
	page, _, _ = strings.Cut(page, "```")
	var last outcome
	for line := range strings.Lines(page) {
		if steps, is := strings.CutPrefix(line, "$ "); is {
			cmd := command(dir, "-c", steps)
			cmd.Path, cmd.Args[0] = must.Get(exec.LookPath("sh"))(t), "sh"
			cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			last = start(t, cmd).Succeeds(t)
		}
	}
	last.Prints(t, 0, "shop 0", "shop 1", "shop 2", "ask 2: 150 rows in ask2.csv")
	must.Hold(t, !strings.Contains(last.Stdout, "shop 3"), "the second ask:\n%s", last.Stdout)
}

// The Python module passes its own tests, installed by pip if pip is there.
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
