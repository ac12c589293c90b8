//go:build unix

package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// Paths that apptainer would split at commas or colons, and images that look like options, are refused before anything
// is handed over.
func TestContainerPaths(t *testing.T) {
	fake(t, "scontrol", "exit 1")
	for _, c := range []struct {
		image, dir, data string
		files            []string
		ok               bool
	}{
		{"image.sif", "/run", "/data", nil, true}, {"docker://registry.example/amtrl:1", "/run", "", nil, true},
		{"", "/a:b,c", "/d:e", []string{"/f:g"}, true}, {"image.sif", "/a:b", "", nil, false}, {"image.sif", "/a,b", "", nil, false},
		{"image.sif", "/run", "/d:e", nil, false}, {"image.sif", "/run", "/d,e", nil, false},
		{"image.sif", "/run", "/d", []string{"/e", "/f"}, true}, {"image.sif", "/run", "/d", []string{"/e", "/f,g"}, false},
		{"image.sif", "/run", "/d", make([]string, mostFiles), true}, {"image.sif", "/run", "/d", make([]string, mostFiles+1), false},
		{"--writable", "/run", "", nil, false}, {"a\nb", "/run", "", nil, false},
	} {
		e := &engine{dir: c.dir, options: Options{Container: c.image}}
		_, err := e.Render(context.Background(), batch.Submission{Dir: c.dir, Data: c.data, Files: c.files, ID: "0123456789ab", Name: "run",
			Number: 1, Tasks: []int{0}, Program: "/amtrl"})
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A container mounts the data and every file that the manifest names, wherever they are.
func TestContainerFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "elsewhere", "b.csv")
	data := filepath.Join(dir, "m", "d.yaml")
	for path, content := range map[string]string{a: "", b: "", data: "files: [../a.csv, " + b + "]\n" +
		"columns: {source: shop, features: x}\nlabels: [{column: label, type: classes}]\n"} {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	}
	run := &batch.Run{Dir: "/run", Plan: batch.Plan{Flags: []batch.Flag{{Name: "data", Value: data}}}}
	argv := strings.Join(containerCommand(run, "image.sif", batch.Resources{GPUs: 1}, "key", 3), " ")
	want := fmt.Sprintf("apptainer exec --nv --bind /run --bind %[1]s:%[1]s:ro --bind %[2]s:%[2]s:ro --bind %[3]s:%[3]s:ro image.sif "+
		"amtrl run-task --part key /run 3", data, a, b)
	must.Equal(t, argv, want, "the command")
}
