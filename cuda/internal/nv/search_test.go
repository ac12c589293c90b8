package nv

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func touch(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, nil, 0o644))
	}
}

// fill creates all files of a set, empty.
func fill(t *testing.T, f folder, family int) {
	t.Helper()
	for _, p := range parts {
		touch(t, f.path(p, family))
	}
}

// lab returns a search in an empty file system of its own.
func lab(t *testing.T, env map[string]string) search {
	root := t.TempDir()
	return search{
		env: func(name string) string {
			if v := env[name]; v != "" && name != "LD_LIBRARY_PATH" {
				return filepath.Join(root, v)
			}
			return strings.ReplaceAll(env[name], "ROOT", root)
		},
		exe:    filepath.Join(root, "opt/amtrl/bin/amtrl"),
		root:   root,
		loaded: func(string) string { return "" },
	}
}

func TestSonames(t *testing.T) {
	want := map[int]string{
		12: "libnvJitLink.so.12 libcublasLt.so.12 libcublas.so.12 libcusparse.so.12 libcusolver.so.11 libnvrtc.so.12",
		13: "libnvJitLink.so.13 libcublasLt.so.13 libcublas.so.13 libcusparse.so.12 libcusolver.so.12 libnvrtc.so.13",
	}
	for family, names := range want {
		must.Equal(t, strings.Join(sonames(family), " "), names, "CUDA %d", family)
	}
}

// The places in the order of the search. Each is chosen if the places before it have no set, and hides the places after
// it.
func TestSearchOrder(t *testing.T) {
	env := map[string]string{
		"CUDA_HOME": "home", "CUDA_PATH": "path", "LD_LIBRARY_PATH": "relative:ROOT/ld1:ROOT/ld2",
		"CONDA_PREFIX": "conda [1]", "VIRTUAL_ENV": "venv*", "HOME": "home/me",
	}
	s := lab(t, env)
	at := func(dir string) folder { return folder{filepath.Join(s.root, dir), false} }
	wheel := func(dir string) folder { return folder{filepath.Join(s.root, dir), true} }
	s.loaded = func(soname string) string {
		if soname == "libcublas.so.12" {
			return filepath.Join(s.root, "loaded", soname)
		}
		return ""
	}
	order := []struct {
		place string
		folder
	}{
		{"loaded already", at("loaded")},
		{"CUDA_HOME", at("home/lib64")},
		{"CUDA_HOME", at("home/lib")},
		{"CUDA_PATH", at("path/lib64")},
		{"LD_LIBRARY_PATH", at("ld1")},
		{"LD_LIBRARY_PATH", at("ld2")},
		{"system's loader", at("usr/lib64")},
		{"CONDA_PREFIX", at("conda [1]/lib")},
		{"wheels in CONDA_PREFIX", wheel("conda [1]/lib/python3.11/site-packages/nvidia")},
		{"wheels in VIRTUAL_ENV", wheel("venv*/lib/python3.12/site-packages/nvidia")},
		{"wheels in VIRTUAL_ENV", wheel("venv*/lib/python3/dist-packages/nvidia")},
		{"usual folders", at("usr/local/cuda/lib64")},
		{"usual folders", at("usr/local/cuda-13.10/lib64")},
		{"usual folders", at("usr/local/cuda-13.2/lib64")},
		{"usual folders", at("usr/local/cuda-12/lib64")},
		{"usual folders", at("opt/cuda/lib64")},
		{"the user's wheels", wheel("home/me/.local/lib/python3.10/site-packages/nvidia")},
		{"the system's wheels", wheel("usr/local/lib/python3.13/site-packages/nvidia")},
		{"the system's wheels", wheel("usr/local/lib/python3.11/dist-packages/nvidia")},
		{"the system's wheels", wheel("usr/lib/python3.12/site-packages/nvidia")},
		{"the system's wheels", wheel("usr/lib/python3/dist-packages/nvidia")},
		{"beside the executable", at("opt/amtrl/bin")},
		{"beside the executable", at("opt/amtrl/bin/lib")},
		{"beside the executable", at("opt/amtrl/lib")},
	}
	for i, o := range slices.Backward(order) {
		fill(t, o.folder, 12)
		trace := new(Trace)
		got, err := s.choose(trace, 0, 12000)
		if err != nil || got.folder != o.folder || got.family != 12 {
			t.Fatalf("with %s and what follows there: %+v, %v", o.dir, got, err)
		}
		last := trace.Steps[len(trace.Steps)-1]
		if last.Place != o.place || !last.Taken || last.Dir != o.dir || last.What != "CUDA 12" {
			t.Errorf("%d: last step %+v", i, last)
		}
		for _, step := range trace.Steps[:len(trace.Steps)-1] {
			if step.Taken || step.Found != "nothing" && step.Found != "no such folder" && step.Found != "no folders" {
				t.Errorf("%d: step %+v", i, step)
			}
		}
	}
}

func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		name           string
		sets           []int
		family, driver int
		want           int
		kind           error
		wheels         bool
	}{
		{name: "newest", sets: []int{12, 13}, want: 13},
		{name: "driver of 12", sets: []int{12, 13}, driver: 12080, want: 12},
		{name: "driver of 13", sets: []int{12, 13}, driver: 13000, want: 13},
		{name: "driver of 14", sets: []int{12, 13}, driver: 14020, want: 13},
		{name: "asked for", sets: []int{12, 13}, family: 12, driver: 13000, want: 12},
		{name: "wheels of both", sets: []int{12, 13}, wheels: true, want: 13},
		{name: "wheels and a driver of 12", sets: []int{12, 13}, wheels: true, driver: 12000, want: 12},
		{name: "too old a driver", sets: []int{13}, driver: 12090, kind: ErrVersion},
		{name: "11", sets: []int{12}, driver: 11080, kind: ErrVersion},
		{name: "other family asked for", sets: []int{12}, family: 13, kind: ErrNotFound},
		{name: "none", kind: ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lab(t, nil)
			s.dir = filepath.Join(s.root, "x")
			for _, family := range c.sets {
				fill(t, folder{s.dir, c.wheels}, family)
			}
			got, err := s.choose(new(Trace), c.family, c.driver)
			if got.family != c.want || !errors.Is(err, c.kind) {
				t.Errorf("family %d, %v; want %d, %v", got.family, err, c.want, c.kind)
			}
		})
	}
}

// A set that lacks any one part is skipped, and the trace names the part.
func TestIncompleteSets(t *testing.T) {
	for _, family := range families {
		for _, wheels := range []bool{false, true} {
			for _, p := range parts {
				s := lab(t, map[string]string{"CUDA_HOME": "home"})
				first := folder{filepath.Join(s.root, "home/lib64"), wheels}
				if wheels {
					s = lab(t, map[string]string{"CONDA_PREFIX": "home"})
					first = folder{filepath.Join(s.root, "home/lib/python3.9/site-packages/nvidia"), true}
				}
				second := folder{filepath.Join(s.root, "usr/local/cuda/lib64"), false}
				fill(t, first, family)
				fill(t, second, family)
				must.Do(t, os.Remove(first.path(p, family)))
				trace := new(Trace)
				got, err := s.choose(trace, 0, 0)
				if err != nil || got.folder != second {
					t.Fatalf("without %s: %+v, %v", p.soname(family), got, err)
				}
				said := slices.ContainsFunc(trace.Steps, func(step Step) bool {
					return step.Dir == first.dir && strings.HasSuffix(step.Found, "; without "+p.soname(family))
				})
				if !said {
					t.Errorf("the trace does not say that %s is missing: %+v", p.soname(family), trace.Steps)
				}
			}
		}
	}
}

// libcusolver.so.12 belongs to CUDA 13: with the other parts of CUDA 12 it makes no set.
func TestSolverOfTheOtherFamily(t *testing.T) {
	s := lab(t, nil)
	s.dir = filepath.Join(s.root, "x")
	f := folder{s.dir, false}
	fill(t, f, 12)
	must.Do(t, os.Rename(filepath.Join(s.dir, "libcusolver.so.11"), filepath.Join(s.dir, "libcusolver.so.12")))
	trace := new(Trace)
	must.Is(t, must.Err(s.choose(trace, 0, 0)), ErrNotFound, "choose")
	if found := trace.Steps[0].Found; !strings.HasSuffix(found, "without libcusolver.so.11") {
		t.Errorf("the trace says %q", found)
	}
}

// A set beside the executable is skipped if others could have put it there.
func TestBesideTheExecutableNobodyElseWrites(t *testing.T) {
	for _, mode := range []os.FileMode{0o775, 0o757, 0o777 | os.ModeSticky} {
		s := lab(t, nil)
		beside := folder{filepath.Dir(s.exe), false}
		fill(t, beside, 12)
		must.Equal(t, must.Get(s.choose(new(Trace), 0, 0))(t).folder, beside, "in a folder of one's own")
		must.Do(t, os.Chmod(beside.dir, mode))
		trace := new(Trace)
		must.Is(t, must.Err(s.choose(trace, 0, 0)), ErrNotFound, "mode %v", mode)
		said := slices.ContainsFunc(trace.Steps, func(step Step) bool {
			return step.Dir == beside.dir && strings.Contains(step.Found, "others may write to it")
		})
		must.Hold(t, said, "mode %v: the trace does not say why: %+v", mode, trace.Steps)
	}
}

// If a folder is asked for, no other is searched.
func TestAskedForFolderIsTheOnlyOne(t *testing.T) {
	s := lab(t, map[string]string{"CUDA_HOME": "home"})
	fill(t, folder{filepath.Join(s.root, "home/lib64"), false}, 12)
	s.dir = filepath.Join(s.root, "empty")
	trace := new(Trace)
	_, err := s.choose(trace, 0, 0)
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), s.dir) {
		t.Errorf("%v", err)
	}
	for _, step := range trace.Steps {
		must.Equal(t, step.Place, "AMTRL_CUDA_LIB_DIR", "a place that was looked at")
	}
}

// Wheels that are loaded already make one set over several folders.
func TestLoadedWheels(t *testing.T) {
	s := lab(t, nil)
	f := folder{filepath.Join(s.root, "env/nvidia"), true}
	fill(t, f, 12)
	s.loaded = func(soname string) string {
		if soname == "libnvrtc.so.12" {
			return filepath.Join(f.dir, "cuda_nvrtc/lib", soname)
		}
		return ""
	}
	must.Equal(t, must.Get(s.choose(new(Trace), 0, 0))(t).folder, f, "chosen")
}

// ldCache returns a cache in the format of ldconfig.
func ldCache(entries [][2]string) []byte {
	const header, entry = 48, 24
	data := make([]byte, header+entry*len(entries))
	copy(data, "glibc-ld.so.cache1.1")
	binary.LittleEndian.PutUint32(data[20:], uint32(len(entries)))
	for i, e := range entries {
		for j, s := range e {
			binary.LittleEndian.PutUint32(data[header+i*entry+4+4*j:], uint32(len(data)))
			data = append(append(data, s...), 0)
		}
	}
	return data
}

func TestLoaderCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ld.so.cache")
	names := []string{"libcublas.so.12", "libcusolver.so.11"}
	whole := ldCache([][2]string{
		{"libc.so.6", "/lib/libc.so.6"}, {"libcublas.so.12", "/opt/a/libcublas.so.12"},
		{"libcusolver.so.11", "/opt/a/libcusolver.so.11"}, {"libcusolver.so.11", "/opt/b/libcusolver.so.11"},
	})
	read := func(data []byte) []string {
		t.Helper()
		must.Do(t, os.WriteFile(path, data, 0o644))
		return cacheDirs(path, names)
	}
	want := []string{"/opt/a", "/opt/b"}
	must.EqualSlices(t, read(whole), want, "directories of the cache")
	must.EqualSlices(t, read(append([]byte("ld.so-1.7.0 with entries"), whole...)), want, "directories behind an old cache")
	for n := range whole { // cut short anywhere, it names fewer folders or none, never others
		for _, dir := range read(whole[:n]) {
			if !strings.HasPrefix(dir, "/opt") && !strings.HasPrefix("/opt/a", dir) {
				t.Errorf("cut at %d: %q", n, dir)
			}
		}
	}
	broken := slices.Clone(whole)
	binary.LittleEndian.PutUint32(broken[20:], 1<<31)
	if got := read(broken); got != nil {
		t.Errorf("a cache of too many entries: %q", got)
	}
	if got := cacheDirs(filepath.Join(path, "absent"), names); got != nil {
		t.Errorf("no cache: %q", got)
	}
}

// The loader's cache of this machine, if there is one, holds the C library.
func TestLoaderCacheOfThisMachine(t *testing.T) {
	const cache = "/etc/ld.so.cache"
	if _, err := os.Stat(cache); err != nil {
		t.Skip(err)
	}
	if dirs := cacheDirs(cache, []string{"libc.so.6"}); len(dirs) == 0 {
		t.Error("libc.so.6 is not in " + cache)
	}
}
