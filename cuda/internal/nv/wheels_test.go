package nv

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// wheelsOf returns the folder into which make deps-cuda has installed NVIDIA's
// libraries and headers of a family. Where AMTRL_CUDA_WHEELS is set they must be
// there.
func wheelsOf(t *testing.T, family int) string {
	t.Helper()
	base := os.Getenv("AMTRL_CUDA_WHEELS")
	demanded := base != ""
	if !demanded {
		base = filepath.Join("..", "..", "..", "build")
	}
	dir, err := filepath.Abs(filepath.Join(base, "cuda"+strconv.Itoa(family)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		if demanded {
			t.Fatalf("AMTRL_CUDA_WHEELS is set: %v", err)
		}
		t.Skipf("needs make deps-cuda: %v", err)
	}
	return dir
}
