package runs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// A folder in which something else is, such as a project of the user's, is refused and stays as it is, by a run, by a sweep and by a look
// before either. An empty folder is taken, one with logs and hidden files, and one that lost config.json.
func TestFolderOfOtherFiles(t *testing.T) {
	dev, id := smallSweep(t)
	one := id
	one.Targets, one.Seeds, one.Budgets = id.Targets[:1], id.Seeds[:1], nil
	for name, do := range map[string]func(dir string) error{
		"run":         func(dir string) error { return must.Err(Run(t.Context(), dev, one, dir, quiet)) },
		"sweep":       func(dir string) error { return must.Err(Sweep(t.Context(), dev, id, dir, 2, nil)) },
		"run check":   one.CheckRunFolder,
		"sweep check": id.CheckSweepFolder,
	} {
		dir := t.TempDir()
		must.Do(t, do(dir))
		must.Do(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644))
		if name == "run" || name == "sweep" { // then the folder is one of its own
			must.Do(t, do(dir))
		}
		must.Do(t, os.Remove(filepath.Join(dir, "thesis.tex")))
		if err := os.Remove(filepath.Join(dir, configFile)); err != nil {
			must.Is(t, err, fs.ErrNotExist, "%s", name)
		}
		must.Do(t, do(dir))

		logs := t.TempDir()
		for _, file := range []string{"slurm-7.out", "run.log", ".gitignore"} {
			must.Do(t, os.WriteFile(filepath.Join(logs, file), nil, 0o644))
		}
		must.Do(t, do(logs))

		other := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(other, "thesis.tex"), nil, 0o644))
		before := foldertest.Read(t, other)
		err := do(other)
		must.Fail(t, name, err, other+" holds other files, such as thesis.tex: expected the folder of a run or sweep, an empty one or none")
		must.Is(t, err, ErrOtherSettings, "%s", name)
		foldertest.Equal(t, name, foldertest.Read(t, other), before)
	}
}
