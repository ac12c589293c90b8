//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"os"
	"testing"
)

// TestMain keeps the compiled kernels of the tests out of the user's cache.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "amtrl-cubin-")
	if err != nil {
		panic(err)
	}
	os.Setenv("AMTRL_CUBIN_CACHE", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
