package dataset

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// realData returns the folder of real data beside the repository, and skips the test where there is none.
func realData(t testing.TB) string {
	dir := must.Get(os.Getwd())(t)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("not inside the repository")
		}
		dir = up
	}
	data := filepath.Join(dir, "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skip("no real data beside the repository")
	}
	return data
}

func writeFile(t testing.TB, path string, content ...[]byte) string {
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, bytes.Join(content, nil), 0o644))
	return path
}

// elements returns the little-endian bytes of a slice of fixed-size values.
func elements(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

// wantFault checks that err is one line that names path and holds every part.
func wantFault(t *testing.T, what string, err error, path string, parts ...string) {
	t.Helper()
	must.Fail(t, what, err, append(parts, path)...)
}

// checkNoLeak fails the test if it ends with more open files or goroutines than
// it began with.
func checkNoLeak(t *testing.T) {
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0
		}
		return len(entries)
	}
	f, g := files(), runtime.NumGoroutine()
	t.Cleanup(func() {
		if n := files(); n > f {
			t.Errorf("%d files open, %d at the start", n, f)
		}
		if n := runtime.NumGoroutine(); n > g {
			t.Errorf("%d goroutines, %d at the start", n, g)
		}
	})
}
