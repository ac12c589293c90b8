//go:build linux && cgo && (amd64 || arm64)

package nv

// #cgo LDFLAGS: -ldl
// #cgo CFLAGS: -std=c17 -Wall -Wextra
// #include "nv.h"
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
)

// Library holds the driver and the libraries of one family from one place. It stays loaded until
// the process ends; several may be open at a time, as tests need it, each with a function table of
// its own.
type Library struct {
	Driver *Driver // nil after OpenToolkit
	BLAS   *BLAS
	Solver *Solver
	NVRTC  *NVRTC

	Family        int    // 12 or 13
	DriverVersion int    // what Driver.DriverGetVersion returns; 0 after OpenToolkit
	Dir           string // the folder of the libraries
	Files         []File // in the order in which they were loaded
}

// Open loads libcuda.so.1 and initialises it, then loads the libraries of the first folder with a
// complete set. A driver that sees no device is not an error here.
func Open(opt Options) (*Library, *Trace, error) { return open(opt, true) }

// OpenToolkit is Open without the driver. The version functions and all of NVRTC
// work; whatever needs a device does not.
func OpenToolkit(opt Options) (*Library, *Trace, error) { return open(opt, false) }

func open(opt Options, driver bool) (*Library, *Trace, error) {
	s := newSearch(opt, loadedPath)
	trace := new(Trace)
	table := (*C.nv_table)(C.calloc(1, C.sizeof_nv_table)) // C memory, so that cgo need not check it at every call
	lib := new(Library)
	if driver {
		if err := lib.openDriver(s, table, trace); err != nil {
			// The trace also lists the libraries that are there; none is loaded.
			if set, other := s.choose(trace, opt.Family, 0); other == nil {
				trace.Steps[set.step].Taken = false
			}
			return nil, trace, err
		}
	}
	set, err := s.choose(trace, opt.Family, lib.DriverVersion)
	if err == nil {
		err = lib.openSet(set, table)
	}
	if err != nil {
		if set.family != 0 {
			trace.Steps[set.step].Found += ", but: " + err.Error()
			trace.Steps[set.step].Taken = false
		}
		return nil, trace, err
	}
	return lib, trace, nil
}

func (lib *Library) openDriver(s search, table *C.nv_table, trace *Trace) error {
	before, after := s.driverFiles()
	handle, path, err := findDriver(before, after, trace)
	if err != nil {
		return err
	}
	step := &trace.Steps[len(trace.Steps)-1]
	d := &Driver{binding: binding{table, File{Name: "driver", Path: path}}}
	err = resolve(table, handle, C.NV_DRIVER, d.file)
	if err == nil {
		err = moreConnections()
	}
	if err == nil {
		err = d.err("cuInit", C.nv_cuInit(table, 0))
	}
	if err == nil {
		lib.DriverVersion, err = d.DriverGetVersion()
	}
	if err != nil {
		step.Found += ", but: " + err.Error()
		step.Taken = false
		return err
	}
	d.file.Version = cudaVersion(lib.DriverVersion)
	d.HasGraphs = C.nv_has(table, C.NV_DRIVER, C.NV_GRAPH) != 0
	lib.Driver, lib.Files = d, append(lib.Files, d.file)
	return nil
}

// moreConnections sets CUDA_DEVICE_MAX_CONNECTIONS to 32, unless it is set: with the usual 8
// connections to the device, streams share some of them, and wait for each other's work. The driver
// reads the variable when it is initialised.
func moreConnections() error {
	const name = "CUDA_DEVICE_MAX_CONNECTIONS"
	if os.Getenv(name) != "" {
		return nil
	}
	return os.Setenv(name, "32")
}

// findDriver loads libcuda.so.1 from the first place that has it. A file that is there and cannot
// be loaded is an error: the search must not pass it by.
func findDriver(before, after []string, trace *Trace) (handle C.uintptr_t, path string, err error) {
	try := func(place, file string) bool {
		if filepath.IsAbs(file) {
			if _, e := os.Stat(file); e != nil {
				trace.add(Step{Place: place, What: driverName, Dir: filepath.Dir(file), Found: "nothing"})
				return false
			}
		}
		handle, err = dlopen(file)
		if err != nil && !filepath.IsAbs(file) {
			trace.add(Step{Place: place, What: driverName, Found: err.(*Error).Text})
			return false
		}
		if err != nil {
			trace.add(Step{Place: place, What: driverName, Dir: filepath.Dir(file), Found: err.Error()})
			return true
		}
		path = pathOf(handle, file)
		trace.add(Step{Place: place, What: driverName, Dir: filepath.Dir(path), Found: path, Taken: true})
		return true
	}
	for _, file := range before {
		if try("AMTRL_CUDA_LIB_DIR", file) {
			return handle, path, err
		}
	}
	if try("system's loader", driverName) {
		return handle, path, err
	}
	loader := err
	for _, file := range after {
		if try("usual folders", file) {
			return handle, path, err
		}
	}
	e := loader.(*Error)
	if of := driverName + ": "; strings.Contains(e.Text, of) && strings.Contains(e.Text, "No such file or directory") {
		e.kind, e.Op, e.Text = ErrNoDriver, "NVIDIA driver", "not found" // the trace says it in full
		e.Hint = "a container must be started with GPUs (--gpus all)"
	}
	return 0, "", e
}

func (lib *Library) openSet(set chosen, table *C.nv_table) error {
	lib.Family, lib.Dir = set.family, set.dir
	handles := map[string]C.uintptr_t{}
	files := map[string]*File{}
	first := len(lib.Files)
	for _, p := range parts {
		path := set.path(p, set.family)
		handle, err := dlopen(path)
		if err != nil {
			return err
		}
		handles[p.name] = handle
		lib.Files = append(lib.Files, File{Name: p.name, Path: path})
	}
	for i := range lib.Files[first:] {
		files[lib.Files[first+i].Name] = &lib.Files[first+i]
	}
	for _, l := range []struct {
		name  string
		which C.int32_t
	}{{"cublas", C.NV_CUBLAS}, {"cusolver", C.NV_CUSOLVER}, {"nvrtc", C.NV_NVRTC}} {
		if err := resolve(table, handles[l.name], l.which, *files[l.name]); err != nil {
			return err
		}
	}
	lib.BLAS = &BLAS{binding{table, *files["cublas"]}}
	lib.Solver = &Solver{binding{table, *files["cusolver"]}}
	lib.NVRTC = &NVRTC{binding{table, *files["nvrtc"]}}
	return lib.checkVersions(files)
}

// checkVersions compares the versions that the libraries report with the family: the sonames do not
// tell it, and a file may have any name.
func (lib *Library) checkVersions(files map[string]*File) error {
	version := func(get func(int) (int, error)) (v [3]int, err error) {
		for i := range v {
			if v[i], err = get(i); err != nil {
				return v, err
			}
		}
		return v, nil
	}
	blas, err := version(lib.BLAS.GetProperty)
	if err != nil {
		return err
	}
	solver, err := version(lib.Solver.GetProperty)
	if err != nil {
		return err
	}
	major, minor, err := lib.NVRTC.Version()
	if err != nil {
		return err
	}
	solverMajor := solver[0]
	if solver[0] == 11 && (solver[1] < 4 || solver[1] == 4 && solver[2] < 2) {
		solverMajor = 10 // CUDA 11 had a cuSOLVER 11 too, up to 11.4.1; here it counts as 10
	}
	for _, c := range []struct {
		name        string
		major, want int
		version     string
		has         string
	}{
		{"cublas", blas[0], lib.Family, fmt.Sprintf("%d.%d.%d", blas[0], blas[1], blas[2]), fmt.Sprint(lib.Family)},
		{"cusolver", solverMajor, lib.Family - 1, fmt.Sprintf("%d.%d.%d", solver[0], solver[1], solver[2]),
			map[int]string{12: "11.4.2 or later", 13: "12"}[lib.Family]},
		{"nvrtc", major, lib.Family, fmt.Sprintf("%d.%d", major, minor), fmt.Sprint(lib.Family)},
	} {
		files[c.name].Version = c.version
		if c.major != c.want {
			return &Error{Op: "version", Library: files[c.name].Path, kind: ErrVersion,
				Text: fmt.Sprintf("the library says that it is version %s; CUDA %d has version %s", c.version, lib.Family, c.has),
				Hint: "the files of this folder are of different releases: install one of them whole"}
		}
	}
	lib.BLAS.file, lib.Solver.file, lib.NVRTC.file = *files["cublas"], *files["cusolver"], *files["nvrtc"]
	return lib.openBuiltins(fmt.Sprintf("libnvrtc-builtins.so.%d.%d", major, minor))
}

// openBuiltins loads the library soname from NVRTC's own folder, where it is there: NVRTC opens it
// by its soname at the first compilation.
func (lib *Library) openBuiltins(soname string) error {
	path := filepath.Join(filepath.Dir(lib.NVRTC.file.Path), soname)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	if _, err := dlopen(path); err != nil {
		return err
	}
	lib.Files = append(lib.Files, File{Name: "nvrtc-builtins", Path: path})
	return nil
}

func dlopen(path string) (C.uintptr_t, error) {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	var text [1024]C.char
	handle := C.nv_open_now(cpath, &text[0], C.size_t(len(text)))
	if handle == 0 {
		return 0, &Error{Op: "dlopen", Library: path, Text: C.GoString(&text[0]), kind: ErrLoad}
	}
	return handle, nil
}

func pathOf(handle C.uintptr_t, path string) string {
	var buf [4096]C.char
	if C.nv_path(handle, &buf[0], C.size_t(len(buf))) != 0 {
		return C.GoString(&buf[0])
	}
	return path
}

func loadedPath(soname string) string {
	cname := C.CString(soname)
	defer C.free(unsafe.Pointer(cname))
	handle := C.nv_open_loaded(cname)
	if handle == 0 {
		return ""
	}
	return pathOf(handle, "")
}

func resolve(table *C.nv_table, handle C.uintptr_t, which C.int32_t, f File) error {
	missing := C.nv_resolve(table, handle, which)
	if missing == nil {
		return nil
	}
	return &Error{Op: "dlsym", Library: f.Path, kind: ErrLoad,
		Text: "required function " + C.GoString(missing) + " is missing",
		Hint: "the library is older than CUDA 12.0, or another one under its name"}
}
