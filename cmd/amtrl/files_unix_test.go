//go:build unix

package main

import (
	"bytes"
	encoding "encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// Pipes and devices in place of files, and files that are too large, are refused at once in one line.
func TestNotAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := func(name string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		return path
	}
	for _, name := range []string{"pipe", "settings/config.json", "model/model.safetensors"} {
		if err := syscall.Mkfifo(sub(name), 0o644); err != nil {
			t.Skip("no pipes here: ", err)
		}
	}
	sparse := func(name string, size int64) {
		path := sub(name)
		must.Do(t, os.WriteFile(path, nil, 0o644))
		if err := os.Truncate(path, size); err != nil {
			t.Skip("no large files here: ", err)
		}
	}
	sparse("large.csv", 64<<20+1)
	sparse("largesettings/config.json", 64<<20+1)
	sparse("largemodel/model.safetensors", 4<<30+1)
	must.Do(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	for args, want := range map[string]string{
		"run --costs pipe":                 "pipe: expected a regular file, found a pipe",
		"run --costs zero":                 "zero: expected a regular file, found a device",
		"run --costs large.csv":            "large.csv: expected a file of at most 67108864 bytes",
		"run --methods known --nu pipe":    "pipe: expected a regular file, found a pipe",
		"relevance settings":               "config.json: expected a regular file, found a pipe",
		"relevance model":                  "model.safetensors: expected a regular file, found a pipe",
		"relevance largesettings":          "config.json: expected a file of at most",
		"relevance largemodel":             "model.safetensors: expected a file of at most 4294967296 bytes",
		"data mnistc --from pipe --out x":  "pipe",
		"data info pipe":                   "pipe",
		"sweep --costs pipe --seeds 0-100": "pipe: expected a regular file, found a pipe",
	} {
		o := amtrl(t, dir, strings.Fields(args)...)
		if o.Code < 1 || lines(o.Stderr) > 2 || o.Stdout != "" || !strings.Contains(o.Stderr, want) {
			t.Errorf("amtrl %s: exit code %d, expected %q: %s", args, o.Code, want, o.Stderr)
		}
	}
}

// A folder that cannot be written is reported in one line, and its files stay.
func TestUnwritableFolder(t *testing.T) {
	t.Parallel()
	in := t.TempDir()
	writeIDX(t, in, 20, 1)
	readOnly(t, in)
	for name, test := range map[string]struct {
		args []string
		// lost is a file that is removed, so that the command would write it again.
		lost string
	}{
		"run":         {tiny("run", "--quiet"), "result.json"},
		"sweep":       {tiny("sweep", "--quiet", "--targets", "fog_[01]", "--jobs", "1"), "summary.json"},
		"data digits": {[]string{"data", "digits", "--quiet", "-n", "20"}, "fog/test_images.npy"},
		"data mnistc": {[]string{"data", "mnistc", "--quiet", "--from", in}, "fog/test_images.npy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			succeed(t, dir, append(test.args, "--out", "a")...)
			must.Do(t, os.Remove(filepath.Join(dir, "a", test.lost)))
			before := foldertest.Read(t, dir)
			readOnly(t, dir)
			for _, out := range []string{"a", "new"} {
				cmd := command(dir, append(test.args, "--out", out)...)
				if os.Getuid() == 0 { // root may write anywhere
					cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
				}
				start(t, cmd).ComplainsOnce(t, 1, out, "permission denied")
			}
			foldertest.Equal(t, name, foldertest.Read(t, dir), before)
		})
	}
}

// readOnly makes a folder readable by everybody and writable by nobody until the test ends.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	modes := func(folders, files fs.FileMode) error {
		return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.Chmod(path, folders)
			}
			return os.Chmod(path, files)
		})
	}
	must.Do(t, modes(0o555, 0o444))
	t.Cleanup(func() { modes(0o755, 0o644) })
	for _, above := range []string{filepath.Dir(dir), filepath.Dir(binary)} {
		must.Do(t, os.Chmod(above, 0o755))
	}
}

// writeIDX writes n digits, repeated the given number of times, as the IDX files of MNIST.
func writeIDX(t *testing.T, dir string, n, times int) {
	t.Helper()
	images, labels, err := dataset.RenderDigits(n, 1)
	must.Do(t, err)
	rows := uint32(n * times)
	for name, parts := range map[string][2]any{
		"t10k-images-idx3-ubyte": {[]uint32{0x803, rows, 28, 28}, bytes.Repeat(images, times)},
		"t10k-labels-idx1-ubyte": {[]uint32{0x801, rows}, bytes.Repeat(labels, times)},
	} {
		var file bytes.Buffer
		for _, p := range parts {
			must.Do(t, encoding.Write(&file, encoding.BigEndian, p))
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name), file.Bytes(), 0o644))
	}
}

// An interrupt during work on data ends it soon, with one line, and leaves no files.
func TestInterruptedData(t *testing.T) {
	t.Parallel()
	in := t.TempDir()
	writeIDX(t, in, 50, 1000)
	for _, args := range []string{
		"data info --digits 100000",
		"run --quiet --digits 100000",
		"data digits --digits 100000 --out x",
		"data mnistc --quiet --from " + in + " --out x",
	} {
		dir := t.TempDir()
		cmd := command(dir, strings.Fields(args)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		launch(t, cmd)
		time.Sleep(time.Second)
		must.Do(t, cmd.Process.Signal(os.Interrupt))
		at := time.Now()
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || stderr.String() != "amtrl: interrupted; nothing was written\n" {
			t.Errorf("amtrl %s: exit code %d: %s", args, code, stderr.String())
		}
		if took := time.Since(at); took > 20*time.Second {
			t.Errorf("amtrl %s ended %v after the interrupt", args, took)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("amtrl %s left %v", args, entries)
		}
	}
}
