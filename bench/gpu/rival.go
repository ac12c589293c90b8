//go:build linux

package main

import (
	"bytes"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed *.py
var scriptFiles embed.FS

// scripts places the Python programs beside the data.
func (w *bench) scripts() error {
	entries, err := scriptFiles.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		src, err := scriptFiles.ReadFile(e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(w.dir, e.Name()), src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ask runs one of the scripts and decodes what it prints.
func (w *bench) ask(out any, script string, args ...string) error {
	threads := fmt.Sprint(runtime.GOMAXPROCS(0))
	cmd := exec.Command(w.python, append([]string{filepath.Join(w.dir, script)}, args...)...)
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+threads, "OMP_NUM_THREADS="+threads, "PYTHONDONTWRITEBYTECODE=1")
	raw, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		return fmt.Errorf("%s: %s", filepath.Base(w.python), lines[len(lines)-1])
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// leave writes slices of numbers, little-endian, for the scripts.
func (w *bench) leave(files map[string]any) error {
	for name, data := range files {
		var out bytes.Buffer
		if err := binary.Write(&out, binary.LittleEndian, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(w.dir, name+".bin"), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
