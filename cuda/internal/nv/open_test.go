//go:build linux && cgo && (amd64 || arm64)

package nv

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// childEnv tells a child process what to do. A process keeps the libraries that it has loaded, so every test of loading
// runs this binary in a process of its own.
const childEnv = "NV_TEST_CHILD"

// outcome is what a child process reports.
type outcome struct {
	Err      string
	Op       string
	Code     int
	Hint     string
	Kinds    []string
	Lib      *Library
	Steps    []Step
	Graphs   bool
	Versions map[string]string
	Extra    string
}

var kinds = map[string]error{
	"unsupported": ErrUnsupported, "not found": ErrNotFound, "load": ErrLoad, "version": ErrVersion, "stub": ErrStub, "absent": ErrAbsent,
	"no device": ErrNoDevice, "memory": ErrOutOfMemory, "lost": ErrDeviceLost, "ptx": ErrUnsupportedPTX,
}

func TestMain(m *testing.M) {
	what := os.Getenv(childEnv)
	if what == "" {
		code := m.Run()
		if built.dir != "" {
			os.RemoveAll(built.dir)
		}
		os.Exit(code)
	}
	var o outcome
	open := Open
	if strings.HasPrefix(what, "toolkit") {
		open = OpenToolkit
	}
	if first := os.Getenv("NV_TEST_FIRST"); first != "" { // opens another set first
		if _, _, err := open(Options{Dir: first}); err != nil {
			o.Extra = err.Error()
		}
	}
	lib, trace, err := open(Options{})
	o.Lib, o.Steps = lib, trace.Steps
	if lib != nil {
		o.Versions = map[string]string{}
		for _, f := range lib.Files {
			o.Versions[f.Name] = f.Version
		}
		if lib.Driver != nil {
			o.Graphs = lib.Driver.HasGraphs
		}
		if child := children[what]; child != nil {
			o.Extra, err = child(lib)
		}
	}
	if err != nil {
		o.Err = err.Error()
		for name, kind := range kinds {
			if errors.Is(err, kind) {
				o.Kinds = append(o.Kinds, name)
			}
		}
		var e *Error
		if errors.As(err, &e) {
			o.Op, o.Code, o.Hint = e.Op, e.Code, e.Hint
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
}

// children holds what a child does with the libraries that it has opened, by the value of childEnv.
var children = map[string]func(*Library) (string, error){}

// runChild opens the libraries in a child process whose environment is only env.
func runChild(t *testing.T, what string, env ...string) outcome {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{childEnv + "=" + what, "HOME=/nonexistent", "GOTRACEBACK=all"}, env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var o outcome
	if err == nil {
		err = json.Unmarshal(out, &o)
	}
	if err != nil {
		t.Fatalf("the child: %v\n%s", err, out)
	}
	return o
}

// built holds the paths of compiled objects and libraries, by the arguments of g++.
var built struct {
	dir   string
	files map[string]string
}

// build runs g++ once for each list of arguments and returns the file that it wrote.
func build(t *testing.T, args ...string) string {
	t.Helper()
	if built.dir == "" {
		dir := must.Get(os.MkdirTemp("", "nv-test-"))(t)
		built.dir, built.files = dir, map[string]string{}
	}
	k := strings.Join(args, " ")
	if built.files[k] == "" {
		out := filepath.Join(built.dir, fmt.Sprint(len(built.files)))
		if text, err := exec.Command("g++", append(slices.Clone(args), "-o", out)...).CombinedOutput(); err != nil {
			t.Fatalf("g++ %s: %v\n%s", k, err, text)
		}
		built.files[k] = out
	}
	return built.files[k]
}

// object returns the object of testdata/fake.cpp for a library.
func object(t *testing.T, name string) string {
	return build(t, append([]string{"-std=c++17", "-Wall", "-Wextra", "-fPIC", "-I.", "-c", "-x", "c++", "testdata/fake.cpp"},
		lists[name]...)...) // all options but -o
}

// hide returns the option that leaves a function out of a library.
func hide(t *testing.T, function string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), function)
	must.Do(t, os.WriteFile(path, []byte("{ local: "+function+"; };\n"), 0o644))
	return "-Wl,--version-script=" + path
}

// fake describes how one stand-in differs from the usual one.
type fake struct {
	version [3]int
	fails   string // a function that fails
	status  int    // status that it returns
	link    []string
	absent  bool
}

// lists holds the options that select a library's lists of symbols.h.
var lists = map[string][]string{
	"driver":   {"-DLIST=NV_DRIVER_REQUIRED", "-DLIST2=NV_DRIVER_OPTIONAL", "-DLIST3=NV_DRIVER_GRAPH"},
	"cublas":   {"-DCUBLAS", "-DLIST=NV_CUBLAS_REQUIRED"},
	"cusolver": {"-DLIST=NV_CUSOLVER_REQUIRED"},
	"nvrtc":    {"-DNVRTC", "-DLIST=NV_NVRTC_REQUIRED", "-DLIST2=NV_NVRTC_OPTIONAL"},
}

// fakeSet fills a folder with a set of stand-ins and a driver; changes are by the name of the part.
func fakeSet(t *testing.T, f folder, family int, changes map[string]fake) {
	t.Helper()
	put := func(name, path string, version [3]int) {
		change := changes[name]
		if change.absent {
			return
		}
		if change.version != [3]int{} {
			version = change.version
		}
		so := must.Get(os.ReadFile(build(t, append([]string{"-shared", object(t, name)}, change.link...)...)))(t)
		says := fmt.Sprintf("%d %d %d %s %d\n", version[0], version[1], version[2], cmp.Or(change.fails, "none"), change.status)
		for file, content := range map[string]string{path: string(so), path + ".says": says} {
			must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
			must.Do(t, os.WriteFile(file, []byte(content), 0o755))
		}
	}
	for _, p := range parts {
		version := [3]int{family, 3, 4}
		if p.name == "cusolver" {
			version = [3]int{family - 1, 6, 2}
		}
		put(p.name, f.path(p, family), version)
	}
	if !f.wheels {
		put("driver", filepath.Join(f.dir, driverName), [3]int{13, 1, 0})
	}
}

func TestOpen(t *testing.T) {
	for _, family := range families {
		dir := filepath.Join(t.TempDir(), "a place")
		fakeSet(t, folder{dir, false}, family, nil)
		o := runChild(t, "open", "AMTRL_CUDA_LIB_DIR="+dir)
		if o.Err != "" || o.Lib.Family != family || o.Lib.Dir != dir || o.Lib.DriverVersion != 13010 {
			t.Fatalf("CUDA %d: %+v", family, o)
		}
		var names []string
		for _, f := range o.Lib.Files {
			names = append(names, f.Name)
			must.Equal(t, filepath.Dir(f.Path), dir, "the folder of %s", f.Name)
		}
		must.Equal(t, strings.Join(names, " "), "driver nvJitLink cublasLt cublas cusparse cusolver nvrtc", "loaded")
		must.Hold(t, o.Graphs, "no graphs: %+v", o)
		want := map[string]string{"driver": "13.1", "cublas": fmt.Sprintf("%d.3.4", family), "cusolver": fmt.Sprintf("%d.6.2", family-1),
			"nvrtc": fmt.Sprintf("%d.3", family), "nvJitLink": "", "cublasLt": "", "cusparse": ""}
		for name, v := range want {
			must.Equal(t, o.Versions[name], v, "the version of %s", name)
		}
	}
}

func TestOpenFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		family  int
		changes map[string]fake
		kind    string
		op      string
		says    string // part of the message
	}{
		{"stub", 12, map[string]fake{"driver": {fails: "cuInit", status: 34}}, "stub", "cuInit", "libcuda.so.1"},
		{"no device", 12, map[string]fake{"driver": {fails: "cuInit", status: 100}}, "no device", "cuInit",
			"CUDA_ERROR_FAKE (100): the fake says so"},
		{"mismatch", 12, map[string]fake{"driver": {fails: "cuInit", status: 803}}, "", "cuInit", "different versions"},
		{"no version", 12, map[string]fake{"driver": {fails: "cuDriverGetVersion", status: 999}}, "", "cuDriverGetVersion", "(999)"},
		{"old driver", 12, map[string]fake{"driver": {version: [3]int{11, 8}}}, "version", "search", "runs CUDA 11.8"},
		{"driver of 12", 13, map[string]fake{"driver": {version: [3]int{12, 9}}}, "version", "search", "runs CUDA 12.9"},
		{"driver without a function", 12, map[string]fake{"driver": {link: []string{hide(t, "cuMemAlloc_v2")}}}, "load", "dlsym",
			"cuMemAlloc_v2"},
		{"cuBLAS without a function", 12, map[string]fake{"cublas": {link: []string{hide(t, "cublasDgeam")}}}, "load", "dlsym", "cublasDgeam"},
		{"cuSOLVER without a function", 13, map[string]fake{"cusolver": {link: []string{hide(t, "cusolverDnDgesvd")}}}, "load", "dlsym",
			"cusolverDnDgesvd"},
		{"NVRTC without a function", 13, map[string]fake{"nvrtc": {link: []string{hide(t, "nvrtcGetCUBIN")}}}, "load", "dlsym", "nvrtcGetCUBIN"},
		{"cuBLAS of 13 as 12", 12, map[string]fake{"cublas": {version: [3]int{13, 0, 0}}}, "version", "version", "libcublas.so.12"},
		{"cuBLAS of 12 as 13", 13, map[string]fake{"cublas": {version: [3]int{12, 9, 0}}}, "version", "version", "libcublas.so.13"},
		{"cuSOLVER of 13 as 12", 12, map[string]fake{"cusolver": {version: [3]int{12, 0, 4}}}, "version", "version", "CUDA 12 has version 11"},
		{"cuSOLVER of 11", 12, map[string]fake{"cusolver": {version: [3]int{11, 4, 1}}}, "version", "version", "version 11.4.1"},
		{"cuSOLVER of 12 as 13", 13, map[string]fake{"cusolver": {version: [3]int{11, 7, 4}}}, "version", "version", "CUDA 13 has version 12"},
		{"NVRTC of 12 as 13", 13, map[string]fake{"nvrtc": {version: [3]int{12, 9, 0}}}, "version", "version", "libnvrtc.so.13"},
		{"version refused", 13, map[string]fake{"cublas": {fails: "cublasGetProperty", status: 15}}, "", "cublasGetProperty",
			"CUBLAS_STATUS_FAKE (15)"},
		{"no cuSPARSE", 12, map[string]fake{"cusparse": {absent: true}}, "not found", "search", "libcusparse"},
		{"no NVRTC", 13, map[string]fake{"nvrtc": {absent: true}}, "not found", "search", "AMTRL_CUDA_LIB_DIR"},
		{"needs what is not there", 12, map[string]fake{"cusolver": {link: []string{"-Wl,--no-as-needed", missingLibrary(t)}}}, "load",
			"dlopen", "libgone.so.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			fakeSet(t, folder{dir, false}, c.family, c.changes)
			o := runChild(t, "open", "AMTRL_CUDA_LIB_DIR="+dir)
			if o.Err == "" || o.Lib != nil || strings.Join(o.Kinds, " ") != c.kind || o.Op != c.op || !strings.Contains(o.Err, c.says) ||
				!strings.Contains(o.Err, dir) {
				t.Errorf("op %q, kinds %q, error %q; want op %q, kind %q, and %q and %q in it", o.Op, o.Kinds, o.Err, c.op, c.kind, c.says, dir)
			}
			if strings.Contains(o.Err, "\n") {
				t.Errorf("more than one line: %s", o.Err)
			}
			for _, step := range o.Steps {
				if step.Taken && step.What != driverName {
					t.Errorf("a failed set is taken: %+v", step)
				}
			}
		})
	}
}

// missingLibrary builds a library for linking that cannot be found under its name when the program runs.
func missingLibrary(t *testing.T) string {
	t.Helper()
	return build(t, "-shared", object(t, "cusparse"), "-Wl,-soname,libgone.so.1")
}

// A file that is no library is an error that names it, and is not skipped.
func TestBrokenFiles(t *testing.T) {
	for _, name := range []string{driverName, "libnvJitLink.so.12", "libcublas.so.12", "libnvrtc.so.12"} {
		dir, other := t.TempDir(), t.TempDir()
		fakeSet(t, folder{dir, false}, 12, nil)
		fakeSet(t, folder{other, false}, 12, nil)
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte("INPUT(-lsomething)\n"), 0o644))
		env := []string{"CUDA_HOME=" + t.TempDir(), "LD_LIBRARY_PATH=" + dir + ":" + other}
		if name == driverName {
			env = []string{"AMTRL_CUDA_LIB_DIR=" + dir}
		}
		o := runChild(t, "open", env...)
		if o.Op != "dlopen" || strings.Join(o.Kinds, " ") != "load" || !strings.Contains(o.Err, path) {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// Without optional functions the library opens; it has all functions of graphs or none.
func TestOptionalFunctions(t *testing.T) {
	for _, c := range []struct {
		part, function string
		graphs         bool
	}{
		{"driver", "cuGraphLaunch", false},
		{"driver", "cuModuleLoadDataEx", true},
		{"nvrtc", "nvrtcGetSupportedArchs", true},
	} {
		dir := t.TempDir()
		fakeSet(t, folder{dir, false}, 13, map[string]fake{c.part: {link: []string{hide(t, c.function)}}})
		o := runChild(t, "open", "AMTRL_CUDA_LIB_DIR="+dir)
		must.Hold(t, o.Err == "" && o.Graphs == c.graphs, "without %s: %+v", c.function, o)
	}
}

// A set that is loaded already is found again in its own folder, though another place in the search order has a
// complete set too.
func TestLoadedSetStays(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	named := map[string]fake{"cublasLt": {link: []string{"-Wl,-soname,libcublasLt.so.12"}}}
	fakeSet(t, folder{dir, false}, 12, named)
	fakeSet(t, folder{other, false}, 12, nil)
	o := runChild(t, "toolkit", "NV_TEST_FIRST="+dir, "LD_LIBRARY_PATH="+other)
	must.Hold(t, o.Err == "" && o.Extra == "" && o.Lib.Dir == dir, "%+v", o)
}

// A process can open sets in several folders; each has its own functions.
func TestSeveralSets(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	fakeSet(t, folder{dir, false}, 12, nil)
	fakeSet(t, folder{other, false}, 13, map[string]fake{"driver": {version: [3]int{13, 2}}})
	o := runChild(t, "open", "NV_TEST_FIRST="+dir, "AMTRL_CUDA_LIB_DIR="+other)
	must.Hold(t, o.Err == "" && o.Extra == "" && o.Lib.Family == 13 && o.Lib.DriverVersion == 13020, "%+v", o)
}

// The wheels of both families are found in their layouts, in a virtual environment or a named folder.
func TestOpenWheels(t *testing.T) {
	for _, family := range families {
		env := t.TempDir()
		site := filepath.Join(env, "lib", "python3.12", "site-packages")
		fakeSet(t, folder{filepath.Join(site, "nvidia"), true}, family, nil)
		for _, v := range []string{"VIRTUAL_ENV=" + env, "AMTRL_CUDA_LIB_DIR=" + site, "AMTRL_CUDA_LIB_DIR=" + filepath.Join(site, "nvidia")} {
			o := runChild(t, "toolkit", v)
			if o.Err != "" || o.Lib.Family != family || o.Lib.Dir != filepath.Join(site, "nvidia") {
				t.Errorf("%s: %+v", v, o)
			}
		}
	}
}

// A driver in the loader's path that lacks a library which it needs, or is no library, is reported as failing to load,
// not as missing.
func TestDriverThatDoesNotLoad(t *testing.T) {
	dir := t.TempDir()
	fakeSet(t, folder{dir, false}, 12, map[string]fake{"driver": {absent: true}})
	needed := filepath.Join(dir, "libneeded.so")
	must.Do(t, os.WriteFile(needed, must.Get(os.ReadFile(build(t, "-shared", "-Wl,-soname,libneeded.so", object(t, "nvrtc"))))(t), 0o755))
	driver := build(t, "-shared", object(t, "driver"), "-Wl,--no-as-needed", "-L"+dir, "-lneeded")
	must.Do(t, os.Remove(needed))
	for what, content := range map[string]string{
		"libneeded.so":       string(must.Get(os.ReadFile(driver))(t)),
		"file too short":     "",
		"invalid ELF header": strings.Repeat("no library\n", 200),
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, driverName), []byte(content), 0o755))
		o := runChild(t, "open", "LD_LIBRARY_PATH="+dir)
		if o.Err == "" {
			t.Skip("this machine has a driver")
		}
		must.Hold(t, o.Op == "dlopen" && slices.Equal(o.Kinds, []string{"load"}) && strings.Contains(o.Err, what) && o.Hint == "",
			"%s: %+v", what, o)
	}
}

func TestNoDriver(t *testing.T) {
	dir := t.TempDir()
	fakeSet(t, folder{dir, false}, 12, map[string]fake{"driver": {absent: true}})
	o := runChild(t, "open", "AMTRL_CUDA_LIB_DIR="+dir)
	if o.Err == "" {
		t.Skip("this machine has a driver")
	}
	must.Hold(t, (slices.Contains(o.Kinds, "not found") || o.Op != "dlopen") && o.Hint != "" && len(o.Steps) >= 3, "%+v", o)
	if o = runChild(t, "toolkit", "AMTRL_CUDA_LIB_DIR="+dir); o.Err != "" || o.Lib.Driver != nil {
		t.Errorf("the toolkit alone: %+v", o)
	}
}
