//go:build unix

package main

import (
	"bytes"
	encoding "encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
)

// writeIDX writes a few digits as the IDX files of MNIST, the images repeated.
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

// An interrupt ends work on data soon, with one line, and leaves nothing.
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
