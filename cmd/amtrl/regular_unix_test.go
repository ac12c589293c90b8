//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Pipes and devices in place of files, and files that are too large, are one
// clear line at once.
func TestNotAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := func(name string) string {
		path := filepath.Join(dir, name)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		return path
	}
	for _, name := range []string{"pipe", "settings/config.json", "model/model.safetensors"} {
		if err := syscall.Mkfifo(sub(name), 0o644); err != nil {
			t.Skip("no pipes here: ", err)
		}
	}
	sparse := func(name string, size int64) {
		path := sub(name)
		noError(t, os.WriteFile(path, nil, 0o644))
		if err := os.Truncate(path, size); err != nil {
			t.Skip("no large files here: ", err)
		}
	}
	sparse("large.csv", 64<<20+1)
	sparse("largesettings/config.json", 64<<20+1)
	sparse("largemodel/model.safetensors", 4<<30+1)
	noError(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
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
		if o.code < 1 || lines(o.stderr) > 2 || o.stdout != "" || !strings.Contains(o.stderr, want) {
			t.Errorf("amtrl %s: exit code %d, expected %q: %s", args, o.code, want, o.stderr)
		}
	}
}
