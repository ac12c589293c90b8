//go:build unix

package owner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	check := func() error {
		t.Helper()
		return Check(must.Get(os.Stat(path))(t))
	}
	for mode, trusted := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o755: true, 0o620: false, 0o602: false, 0o777: false} {
		must.Do(t, os.Chmod(path, mode))
		if err := check(); (err == nil) != trusted || err != nil && !strings.Contains(err.Error(), "others may write") {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("another owner needs root")
	}
	must.Do(t, os.Chmod(path, 0o600))
	must.Do(t, os.Chown(path, 12345, -1))
	must.Fail(t, "another's file", check(), "belongs to user 12345")
}
