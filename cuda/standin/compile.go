//go:build linux && cgo

package standin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
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

var flags = []string{"-std=c++17", "-O2", "-g1", "-fPIC", "-Wall", "-Wextra", "-Werror"}

// unit is one source file with the flags to compile it.
type unit struct {
	source string // below the module's root
	flags  []string
	deps   string // hash of the headers that it may include
}

// headers returns a hash of the headers in folders, by name and content.
func (b *builder) headers(dirs ...string) (string, error) {
	var parts []string
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(b.root, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if ext := filepath.Ext(path); ext != ".h" && ext != ".hpp" && ext != ".cuh" {
				return nil
			}
			text, err := os.ReadFile(path)
			parts = append(parts, strings.TrimPrefix(path, b.root), string(text))
			return err
		})
		if err != nil {
			return "", fmt.Errorf("standin: %w", err)
		}
	}
	return hash(parts...), nil
}

// object compiles u, unless the cache has it, and returns the path of the object file. Neither the
// file nor its key contains a path of this source tree, so that copies of the tree share it.
func (b *builder) object(u unit) (string, error) {
	text, err := os.ReadFile(filepath.Join(b.root, u.source))
	if err != nil {
		return "", fmt.Errorf("standin: %w", err)
	}
	args := slices.Concat(flags, u.flags)
	if name, ok := strings.CutSuffix(filepath.Base(u.source), ".cu"); ok {
		args = append(args, "-DAMTRL_UNIT="+name)
	}
	out := filepath.Join(b.cache, hash(b.compiler, strings.Join(args, " "), u.deps, u.source, string(text))+".o")
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	tmp := fmt.Sprintf("%s.%d", out, os.Getpid())
	defer os.Remove(tmp)
	if _, err := command(b.root, "g++", slices.Concat(args, []string{"-ffile-prefix-map=" + b.root + "=.", "-c", "-o", tmp, "-x", "c++",
		u.source})...); err != nil {
		return "", err
	}
	return out, os.Rename(tmp, out)
}

// objects compiles units in parallel and returns their object files.
func (b *builder) objects(units []unit) ([]string, error) {
	out := make([]string, len(units))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, u := range units {
		group.Go(func() (err error) {
			out[i], err = b.object(u)
			return err
		})
	}
	return out, group.Wait()
}

// folder returns a unit for each .cpp file of src/name.
func (b *builder) folder(name, deps string, more ...string) ([]unit, error) {
	return b.glob(filepath.Join(source, name), ".cpp", slices.Concat(includes, more), deps)
}

// glob returns a unit for each file of a folder that ends in ext.
func (b *builder) glob(dir, ext string, flags []string, deps string) ([]unit, error) {
	files, err := filepath.Glob(filepath.Join(b.root, dir, "*"+ext))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("standin: no sources in %s", filepath.Join(b.root, dir))
	}
	var units []unit
	for _, f := range files {
		units = append(units, unit{filepath.Join(dir, filepath.Base(f)), flags, deps})
	}
	return units, nil
}

// Folders below the module's root.
const (
	source   = "cuda/standin/src"
	bindings = "cuda/internal/nv"
	cuda     = "kernels"
	harness  = "kernels/host"
)

var (
	includes       = []string{"-I", source, "-I", bindings, "-I", harness}
	kernelIncludes = []string{"-Wno-unknown-pragmas", "-I", cuda, "-I", harness, "-include", "prelude.h"}
)

// kernels returns the units of the kernels and of the harness that runs them, or, where AMTRL_PTX
// names a folder of PTX, those of the interpreter that runs it.
func (b *builder) kernels() ([]unit, error) {
	deps, err := b.headers(cuda)
	if err != nil {
		return nil, err
	}
	if os.Getenv("AMTRL_PTX") != "" {
		units, err := b.glob(harness+"/ptx", ".cpp", []string{"-I", harness}, deps)
		return append(units, unit{harness + "/shape.cpp", []string{"-I", harness}, deps}), err
	}
	units, err := b.glob(harness, ".cpp", []string{"-I", harness}, deps)
	if err != nil {
		return nil, err
	}
	sources, err := b.glob(cuda, ".cu", kernelIncludes, deps)
	return append(units, sources...), err
}
