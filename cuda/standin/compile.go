//go:build linux && cgo

package standin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func command(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var out, message bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &message
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("standin: %s %s: %w\n%s", name, strings.Join(args, " "), err, message.String())
	}
	return out.String(), nil
}

var flags = []string{"-std=c++17", "-O2", "-g1", "-fPIC", "-Wall", "-Wextra"}

// unit is one compilation.
type unit struct {
	source string // path
	flags  []string
	deps   string // hash of the headers that it may include
}

// headers hashes the headers of folders, by name and content.
func headers(dirs ...string) (string, error) {
	var parts []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if ext := filepath.Ext(path); ext != ".h" && ext != ".hpp" && ext != ".cuh" {
				return nil
			}
			text, err := os.ReadFile(path)
			parts = append(parts, path, string(text))
			return err
		})
		if err != nil {
			return "", fmt.Errorf("standin: %w", err)
		}
	}
	return hash(parts...), nil
}

// object compiles u, unless the cache has it, and returns the object's path.
func (b *builder) object(u unit) (string, error) {
	text, err := os.ReadFile(u.source)
	if err != nil {
		return "", fmt.Errorf("standin: %w", err)
	}
	args := slices.Concat(flags, u.flags)
	out := filepath.Join(b.cache, hash(b.compiler, strings.Join(args, " "), u.deps, u.source, string(text))+".o")
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	tmp := fmt.Sprintf("%s.%d", out, os.Getpid())
	defer os.Remove(tmp)
	if _, err := command(b.src, "g++", slices.Concat(args, []string{"-c", "-o", tmp, "-x", "c++", u.source})...); err != nil {
		return "", err
	}
	return out, os.Rename(tmp, out)
}

// objects compiles units side by side.
func (b *builder) objects(units []unit) ([]string, error) {
	out := make([]string, len(units))
	errs := make([]error, len(units))
	slots := make(chan struct{}, max(1, runtime.NumCPU()))
	var wg sync.WaitGroup
	for i, u := range units {
		wg.Go(func() {
			slots <- struct{}{}
			out[i], errs[i] = b.object(u)
			<-slots
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// folder makes units of the .cpp files of src/name.
func (b *builder) folder(name, deps string, more ...string) ([]unit, error) {
	files, err := filepath.Glob(filepath.Join(b.src, name, "*.cpp"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("standin: no sources in %s", filepath.Join(b.src, name))
	}
	var units []unit
	for _, f := range files {
		units = append(units, unit{f, slices.Concat(b.includes(), more), deps})
	}
	return units, nil
}

func (b *builder) includes() []string {
	return []string{
		"-I", b.src,
		"-I", filepath.Join(b.root, "cuda", "internal", "nv"),
		"-I", filepath.Join(b.root, "kernels", "host"),
	}
}

// kernels makes units of the kernels and of the harness that runs them.
func (b *builder) kernels() ([]unit, error) {
	dir := filepath.Join(b.root, "kernels")
	host := filepath.Join(dir, "host")
	deps, err := headers(dir)
	if err != nil {
		return nil, err
	}
	harness, err := filepath.Glob(filepath.Join(host, "*.cpp"))
	if err != nil || len(harness) == 0 {
		return nil, fmt.Errorf("standin: no harness in %s", host)
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*.cu"))
	if err != nil {
		return nil, fmt.Errorf("standin: %w", err)
	}
	var units []unit
	for _, f := range harness {
		units = append(units, unit{f, []string{"-I", host}, deps})
	}
	for _, f := range sources {
		units = append(units, unit{f, []string{"-Wno-unknown-pragmas", "-I", dir, "-I", host, "-include", "prelude.h"}, deps})
	}
	return units, nil
}
