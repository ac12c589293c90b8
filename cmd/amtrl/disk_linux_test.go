package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
)

// A disk that fills up in the middle of a run or sweep: one clear line, the
// finished epochs or units intact, and with room the same bytes as ever.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, size string
		args       []string
	}{
		{"run", "size=80k", tiny("run", "--budget", "3000", "--epochs", "5")},
		{"sweep", "size=150k", tiny("sweep", "--budgets", "600", "--targets", "fog_*", "--jobs", "1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			disk := filepath.Join(dir, "disk")
			noError(t, os.Mkdir(disk, 0o755))
			if err := syscall.Mount("amtrl", disk, "tmpfs", 0, test.size); err != nil {
				t.Skipf("no file system can be mounted here: %v", err)
			}
			defer syscall.Unmount(disk, 0)
			must(t, dir, append(test.args, "--out", "whole")...)
			small := filepath.Join(disk, "small")
			o := amtrl(t, dir, append(test.args, "--out", small)...)
			if o.code != 1 || !strings.HasPrefix(lastLine(o.stderr), "amtrl: ") ||
				!strings.HasSuffix(lastLine(o.stderr), "no space left on device") {
				t.Fatalf("exit code %d: %s", o.code, o.stderr)
			}
			whole, partial := foldertest.Read(t, filepath.Join(dir, "whole")), foldertest.Read(t, small)
			finished := 0
			for name, text := range partial {
				if strings.HasPrefix(name, "results") || name == "config.json" {
					finished++
					if text != whole[name] {
						t.Errorf("%s is not what it should be", name)
					}
				}
				if name == "epochs.jsonl" {
					finished++
					if !strings.HasPrefix(whole[name], text) || text == "" {
						t.Errorf("%s does not hold the first epochs", name)
					}
				}
			}
			if finished < 2 {
				t.Errorf("only %d files were finished before the disk was full", finished)
			}
			noError(t, syscall.Mount("amtrl", disk, "tmpfs", syscall.MS_REMOUNT, "size=20m"))
			if o := must(t, dir, append(test.args, "--out", small)...); !strings.Contains(o.stderr, "resuming after") {
				t.Errorf("with room again it did not go on but started anew:\n%s", o.stderr)
			}
			foldertest.Same(t, small, filepath.Join(dir, "whole"))
		})
	}
}
