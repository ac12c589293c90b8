// Package hostbuild compiles the kernels for the CPU, for tests: the same sources
// behind kernels/host/prelude.h, with the launcher declared in
// kernels/host/host.h.
package hostbuild

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// ErrNoCompiler says that there is no C++ compiler to build with.
var ErrNoCompiler = errors.New("no g++ in PATH")

// Options say what to build.
type Options struct {
	// Out is the file to write.
	Out string
	// Main are further C++ sources.
	Main []string
	// Shared makes a shared library instead of a program.
	Shared bool
	// Sanitize adds AddressSanitizer and UndefinedBehaviorSanitizer; otherwise
	// the build is optimised.
	Sanitize bool
	// Flags are further flags, for every compilation and the link.
	Flags []string
}

// Dir is the folder of the kernels' sources.
func Dir() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("the kernels' sources cannot be found from a binary without file names")
	}
	dir := filepath.Dir(filepath.Dir(file))
	if _, err := os.Stat(filepath.Join(dir, "common.cuh")); err != nil {
		return "", fmt.Errorf("the kernels' sources: %w", err)
	}
	return dir, nil
}

// Build compiles all kernels and the launcher, with o.Main, into o.Out. Objects
// go to a temporary folder beside it. It returns [ErrNoCompiler] where there is
// no g++.
func Build(o Options) error {
	cxx, err := exec.LookPath("g++")
	if err != nil {
		return ErrNoCompiler
	}
	dir, err := Dir()
	if err != nil {
		return err
	}
	host := filepath.Join(dir, "host")
	cu, err := filepath.Glob(filepath.Join(dir, "*.cu"))
	if err != nil {
		return err
	}
	cpp, err := filepath.Glob(filepath.Join(host, "*.cpp"))
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(o.Out), "objects")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	flags := []string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-I" + dir, "-I" + host}
	link := []string{}
	if o.Sanitize {
		sanitize := []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fsanitize-sections=amtrl_shared"}
		flags = append(append(flags, "-O1", "-g1", "-fno-omit-frame-pointer"), sanitize...)
		link = append(link, sanitize...)
	} else {
		flags = append(flags, "-O2")
	}
	if o.Shared {
		flags = append(flags, "-fPIC", "-fvisibility=hidden")
		link = append(link, "-shared")
	}
	flags, link = append(flags, o.Flags...), append(link, o.Flags...)

	sources := slices.Concat(cu, cpp, o.Main)
	objects := make([]string, len(sources))
	errs := make([]error, len(sources))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, src := range sources {
		objects[i] = filepath.Join(tmp, fmt.Sprintf("%d-%s.o", i, filepath.Base(src)))
		args := slices.Concat(flags, []string{"-c", "-o", objects[i]})
		if filepath.Ext(src) == ".cu" {
			args = append(args, "-include", filepath.Join(host, "prelude.h"), "-x", "c++")
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = run(cxx, append(args, src))
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	made := filepath.Join(tmp, "out")
	if err := run(cxx, slices.Concat(link, []string{"-o", made}, objects, []string{"-lpthread", "-ldl"})); err != nil {
		return err
	}
	return os.Rename(made, o.Out)
}

func run(name string, args []string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(args[len(args)-1]), err, out)
	}
	return nil
}
