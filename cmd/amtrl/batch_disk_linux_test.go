package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
)

// A full disk: one clear line, no half folder, and with room the run goes on.
func TestSubmitFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	noError(t, os.Mkdir(disk, 0o755))
	if err := syscall.Mount("amtrl", disk, "tmpfs", 0, "size=40k"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)
	run := filepath.Join(disk, "run")
	args := eight("submit", run, "--quiet", "--seeds", "0-99")
	ended(t, dir, run)
	o := amtrl(t, dir, args...)
	if o.code != 1 || lines(o.stderr) != 1 || !strings.Contains(o.stderr, "no space left on device") {
		t.Fatalf("exit code %d: %s", o.code, o.stderr)
	}
	if o := amtrl(t, dir, "status", run); o.code != 1 || !strings.Contains(o.stderr, "is no run folder") {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
	noError(t, syscall.Mount("amtrl", disk, "tmpfs", syscall.MS_REMOUNT, "size=100k"))
	// Room for the folder, not for the tasks.
	small := eight("submit", run, "--quiet")
	must(t, dir, small...)
	o = amtrl(t, dir, "status", run, "--wait")
	if o.code != 1 {
		t.Errorf("exit code %d: %s", o.code, o.stdout)
	}
	noError(t, syscall.Mount("amtrl", disk, "tmpfs", syscall.MS_REMOUNT, "size=20m"))
	must(t, dir, "retry", run, "--failed")
	must(t, dir, "status", run, "--wait", "--quiet")
	must(t, dir, "collect", run, "--out", "collected")
	must(t, dir, eight("sweep", "--quiet", "--out", "whole")...)
	foldertest.Same(t, filepath.Join(dir, "collected"), filepath.Join(dir, "whole"))
}
