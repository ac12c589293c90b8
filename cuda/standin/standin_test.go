//go:build linux && cgo

package standin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/cuda/standin"
)

// Each family has the names that NVIDIA's libraries have.
func TestBuildHasTheFilesOfAFamily(t *testing.T) {
	for family, names := range map[int][]string{
		12: {"libcuda.so.1", "libnvrtc.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcusolver.so.11", "libcusparse.so.12", "libnvJitLink.so.12"},
		13: {"libcuda.so.1", "libnvrtc.so.13", "libcublas.so.13", "libcublasLt.so.13", "libcusolver.so.12", "libcusparse.so.12", "libnvJitLink.so.13"},
	} {
		dir, err := standin.Build(standin.Variant{Family: family})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != len(names) {
			t.Errorf("%s has %d files, expected %d", dir, len(files), len(names))
		}
	}
}
