//go:build unix

package owner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func() error {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return Check(info)
	}
	for mode, trusted := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o755: true, 0o620: false, 0o602: false, 0o777: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := check(); (err == nil) != trusted || err != nil && !strings.Contains(err.Error(), "others may write") {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("another owner needs root")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if err := check(); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("another's file: %v", err)
	}
}
