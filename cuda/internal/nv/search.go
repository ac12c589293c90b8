package nv

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// driverName is the driver's library. The unversioned libcuda.so may be the
// toolkit's stub.
const driverName = "libcuda.so.1"

// beside names the executable's folders, the one place that others may be able to write to, such as
// a folder of downloads.
const beside = "beside the executable"

// place is one step of the search order.
type place struct {
	name    string
	folders []folder
}

// search holds everything that the search order depends on.
type search struct {
	dir    string                     // Options.Dir or AMTRL_CUDA_LIB_DIR
	env    func(string) string        // os.Getenv
	exe    string                     // path of the executable; empty if unknown
	root   string                     // "/"
	loaded func(soname string) string // path of a library that the process has loaded, or ""
}

func newSearch(opt Options, loaded func(string) string) search {
	s := search{dir: opt.Dir, env: os.Getenv, root: "/", loaded: loaded}
	if s.dir == "" {
		s.dir = s.env("AMTRL_CUDA_LIB_DIR")
	}
	if s.dir != "" {
		if abs, err := filepath.Abs(s.dir); err == nil {
			s.dir = abs
		}
	}
	s.exe, _ = os.Executable()
	return s
}

// places returns the search order of the toolkit. Where AMTRL_CUDA_LIB_DIR is set, it is the only
// place. Else they are the libraries that the process has loaded, CUDA_HOME, CUDA_PATH,
// LD_LIBRARY_PATH, the system's loader, CONDA_PREFIX and its wheels, the wheels of VIRTUAL_ENV, the
// usual folders, the wheels of the user's Python and the system's, and last of all the executable's
// own folders: a stray library beside it never wins over one that the user or the system names.
func (s search) places() []place {
	if s.dir != "" {
		return []place{{"AMTRL_CUDA_LIB_DIR", []folder{{s.dir, false}, {s.dir, true}, {filepath.Join(s.dir, "nvidia"), true}}}}
	}
	list := []place{{"loaded already", s.loadedFolders()}}
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if dir := s.env(name); dir != "" {
			list = append(list, place{name, toolkit(dir)})
		}
	}
	list = append(list, place{"LD_LIBRARY_PATH", flat(filepath.SplitList(s.env("LD_LIBRARY_PATH"))...)})
	list = append(list, place{"system's loader", flat(s.loaderDirs()...)})
	if dir := s.env("CONDA_PREFIX"); dir != "" {
		list = append(list, place{"CONDA_PREFIX", toolkit(dir)}, place{"wheels in CONDA_PREFIX", wheels(dir)})
	}
	if dir := s.env("VIRTUAL_ENV"); dir != "" {
		list = append(list, place{"wheels in VIRTUAL_ENV", wheels(dir)})
	}
	var usual []folder
	for _, dir := range s.usualToolkits() {
		usual = append(usual, toolkit(dir)...)
	}
	list = append(list, place{"usual folders", usual})
	if home := s.env("HOME"); home != "" {
		list = append(list, place{"the user's wheels", wheels(filepath.Join(home, ".local"))})
	}
	system := append(wheels(filepath.Join(s.root, "usr/local")), wheels(filepath.Join(s.root, "usr"))...)
	list = append(list, place{"the system's wheels", system})
	if s.exe != "" {
		at := filepath.Dir(s.exe)
		list = append(list, place{beside, flat(at, filepath.Join(at, "lib"), filepath.Join(at, "..", "lib"))})
	}
	return list
}

// driverFiles returns the paths at which libcuda.so.1 is looked for before and after the system's
// loader is asked for it.
func (s search) driverFiles() (before, after []string) {
	if s.dir != "" {
		before = append(before, filepath.Join(s.dir, driverName))
	}
	for _, dir := range []string{"usr/lib/wsl/lib", "usr/local/nvidia/lib64", "usr/local/nvidia/lib"} {
		after = append(after, filepath.Join(s.root, dir, driverName))
	}
	return before, after
}

func flat(dirs ...string) []folder {
	var list []folder
	for _, dir := range dirs {
		if filepath.IsAbs(dir) {
			list = append(list, folder{filepath.Clean(dir), false})
		}
	}
	return list
}

// toolkit returns the library folders of a toolkit that is installed in dir.
func toolkit(dir string) []folder {
	target := "x86_64-linux"
	if runtime.GOARCH == "arm64" {
		target = "sbsa-linux"
	}
	return flat(filepath.Join(dir, "lib64"), filepath.Join(dir, "lib"), filepath.Join(dir, "targets", target, "lib"))
}

// wheels returns the nvidia folders of a Python environment, in dist-packages too, which Debian's
// Python uses.
func wheels(env string) []folder {
	var list []folder
	for _, packages := range []string{"site-packages", "dist-packages"} {
		dirs, _ := filepath.Glob(filepath.Join(escape(env), "lib", "python3*", packages, "nvidia"))
		for _, dir := range dirs {
			list = append(list, folder{dir, true})
		}
	}
	return list
}

// escape quotes the special characters of filepath.Glob, so that a path matches itself.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// loadedFolders returns the folders of the libraries that the process has loaded.
func (s search) loadedFolders() []folder {
	var list []folder
	for _, family := range families {
		for _, p := range parts {
			path := s.loaded(p.soname(family))
			if !filepath.IsAbs(path) {
				continue
			}
			dir := filepath.Dir(path)
			f := folder{dir, false}
			if up := filepath.Dir(filepath.Dir(dir)); filepath.Base(dir) == "lib" && filepath.Base(up) == "nvidia" {
				f = folder{up, true}
			}
			if !slices.Contains(list, f) {
				list = append(list, f)
			}
		}
	}
	return list
}

// usualToolkits returns /usr/local/cuda, the versioned folders beside it, newest first, and
// /opt/cuda.
func (s search) usualToolkits() []string {
	versioned, _ := filepath.Glob(filepath.Join(escape(s.root), "usr/local/cuda-1[23]*"))
	slices.SortFunc(versioned, func(a, b string) int {
		va, vb := release(a), release(b)
		return cmp.Or(cmp.Compare(vb[0], va[0]), cmp.Compare(vb[1], va[1]), cmp.Compare(a, b))
	})
	list := append([]string{filepath.Join(s.root, "usr/local/cuda")}, versioned...)
	return append(list, filepath.Join(s.root, "opt/cuda"))
}

// release returns the version in the name of a folder such as cuda-12.4.
func release(dir string) (v [2]int) {
	fmt.Sscanf(filepath.Base(dir), "cuda-%d.%d", &v[0], &v[1])
	return v
}

// loaderDirs returns the directories in which ld.so.cache lists a library of the toolkit, then the
// default ones. Nothing is loaded to find them, because the libraries of an incomplete set must not
// stay behind in the process.
func (s search) loaderDirs() []string {
	var sonames []string
	for _, family := range families {
		for _, p := range parts {
			sonames = append(sonames, p.soname(family))
		}
	}
	dirs := cacheDirs(filepath.Join(s.root, "etc/ld.so.cache"), sonames)
	triple := "x86_64-linux-gnu"
	if runtime.GOARCH == "arm64" {
		triple = "aarch64-linux-gnu"
	}
	for _, dir := range []string{"lib/" + triple, "usr/lib/" + triple, "lib64", "usr/lib64", "lib", "usr/lib"} {
		if dir := filepath.Join(s.root, dir); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
