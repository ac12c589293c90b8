//go:build linux && cgo && (amd64 || arm64)

package nv

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/amtrl/amtrl/internal/must"
)

func init() {
	children["bindings"] = func(lib *Library) (string, error) {
		calls := map[string][]string{}
		for _, v := range []any{lib.Driver, lib.BLAS, lib.Solver, lib.NVRTC} {
			callAll(reflect.ValueOf(v), calls)
		}
		out, err := json.Marshal(calls)
		return string(out), err
	}
	children["launch"] = launch
	children["signals"] = func(lib *Library) (string, error) {
		_, _, err := lib.build("", nil, "", func(Program) ([]byte, error) { return nil, nil })
		return "", err
	}
	children["absent"] = callAbsent
}

// callAll calls every method of v with the arguments 1, 2, 3, ... and records them in calls.
func callAll(v reflect.Value, calls map[string][]string) {
	for i := range v.NumMethod() {
		method, name := v.Method(i), v.Type().Method(i).Name
		var args []reflect.Value
		var given []string
		n := 0
		for j := range method.Type().NumIn() {
			a := reflect.New(method.Type().In(j)).Elem()
			n++
			text := fmt.Sprint(n)
			switch a.Kind() {
			case reflect.Bool:
				a.SetBool(true)
				n, text = n-1, "1"
			case reflect.Float32, reflect.Float64:
				a.SetFloat(float64(n))
			case reflect.Int, reflect.Int32, reflect.Int64:
				a.SetInt(int64(n))
			case reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
				a.SetUint(uint64(n))
			case reflect.String:
				text = fmt.Sprint("s", n)
				a.SetString(text)
			case reflect.UnsafePointer:
				a.Set(reflect.ValueOf(unsafe.Pointer(new([64]byte))))
				text = ""
			case reflect.Array: // Dim3
				a.Set(reflect.ValueOf(Dim3{uint32(n), uint32(n + 1), uint32(n + 2)}))
				text = fmt.Sprint(n, " ", n+1, " ", n+2)
				n += 2
			case reflect.Slice:
				text = ""
				if a.Type().Elem().Kind() == reflect.Uint8 {
					a.SetBytes([]byte{0})
				}
			}
			args = append(args, a)
			if text != "" {
				given = append(given, text)
			}
		}
		method.Call(args)
		calls[v.Type().Elem().Name()+"."+name] = given
	}
}

// constant holds the expected call for functions whose bindings add constant arguments, or cannot pass their arguments
// on unchanged.
var constant = map[string]string{
	"cuStreamWaitEvent":   "cuStreamWaitEvent 1 2 0",
	"cuModuleLoadDataEx":  "cuModuleLoadDataEx - - 2 - -",
	"cuDeviceGetName":     "cuDeviceGetName - 255 1",
	"cuDeviceGetPCIBusId": "cuDeviceGetPCIBusId - 63 1",
	"nvrtcCreateProgram":  "nvrtcCreateProgram - s1 s2 0 - -",
	"nvrtcCompileProgram": "nvrtcCompileProgram 1 0 -",
	"nvrtcDestroyProgram": "nvrtcDestroyProgram -",
	"cuLaunchKernel":      "cuLaunchKernel 1 2 3 4 5 6 7 8 9 - - args 0",
}

// TestSignals compiles with a library that restores signal handlers without their flags: the binding must restore them
// too.
func TestSignals(t *testing.T) {
	dir := t.TempDir()
	fakeSet(t, folder{dir, false}, 12, nil)
	must.Equal(t, runChild(t, "signals", "AMTRL_CUDA_LIB_DIR="+dir).Err, "", "what failed")
}

// Every binding passes its arguments on in the order of the library's function, and every function has a binding.
func TestBindingsPassTheirArguments(t *testing.T) {
	dir := t.TempDir()
	fakeSet(t, folder{dir, false}, 12, nil)
	log := filepath.Join(dir, "log")
	o := runChild(t, "bindings", "AMTRL_CUDA_LIB_DIR="+dir, "NV_TEST_LOG="+log)
	if o.Err != "" {
		t.Fatal(o.Err)
	}
	var given map[string][]string
	must.Do(t, json.Unmarshal([]byte(o.Extra), &given))
	data := must.Get(os.ReadFile(log))(t)
	calls := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, " ")
		calls[name] = line // the last call: earlier ones are the loader's
	}
	for method, args := range given {
		function := functionOf(method)
		line, ok := calls[function]
		if !ok {
			t.Errorf("%s did not call %s", method, function)
			continue
		}
		delete(calls, function)
		if want, ok := constant[function]; ok {
			must.Equal(t, line, want, "what %s called", method)
			continue
		}
		got := slices.DeleteFunc(strings.Fields(line)[1:], func(s string) bool { return s == "-" })
		must.EqualSlices(t, got, args, "what %s was given, of %s", method, line)
	}
	for _, own := range []string{"cuInit", "cuDeviceGetUuid"} { // called by Open, and by DeviceGetUUID if there is no _v2
		delete(calls, own)
	}
	for function := range calls {
		t.Errorf("%s has no binding of its name", function)
	}
	must.Hold(t, len(given) >= 70, "only %d bindings were tried", len(given))
}

// functionOf returns the name of the library's function that a method calls.
func functionOf(method string) string {
	typ, name, _ := strings.Cut(method, ".")
	prefix := map[string]string{"Driver": "cu", "BLAS": "cublas", "Solver": "cusolverDn", "NVRTC": "nvrtc"}[typ]
	switch method {
	case "Driver.DeviceGetUUID":
		return "cuDeviceGetUuid_v2"
	case "Driver.DeviceGetPCIBusID":
		return "cuDeviceGetPCIBusId"
	case "Driver.ModuleLoadData":
		return "cuModuleLoadDataEx"
	case "Driver.GraphInstantiate":
		return "cuGraphInstantiateWithFlags"
	case "NVRTC.SupportedArchs":
		return "nvrtcGetNumSupportedArchs"
	case "NVRTC.GetCUBIN", "NVRTC.GetPTX", "NVRTC.GetProgramLog":
		return "nvrtc" + name + "Size"
	case "Solver.GetProperty":
		return "cusolverGetProperty"
	}
	if base, ok := strings.CutSuffix(name, "BufferSize"); ok {
		return prefix + base + "_bufferSize"
	}
	if slices.Contains(exported, prefix+name+"_v2") {
		return prefix + name + "_v2"
	}
	return prefix + name
}

// exported holds the functions whose names end in _v2.
var exported = func() (names []string) {
	data, err := os.ReadFile("symbols.h")
	if err != nil {
		return nil
	}
	for _, word := range strings.FieldsFunc(string(data), func(r rune) bool { return strings.ContainsRune(" (,\t\n", r) }) {
		if strings.HasSuffix(word, "_v2") {
			for _, p := range []string{"S", "D"} {
				names = append(names, strings.ReplaceAll(word, "##P##", p))
			}
		}
	}
	return names
}()

// launch launches a kernel with arguments of all kinds, and checks that launches allocate no Go memory.
func launch(lib *Library) (string, error) {
	args := []byte{1, 0, 0, 0, 0, 0, 0, 200, 3, 255}
	var err error
	n := testing.AllocsPerRun(100, func() {
		if e := lib.Driver.LaunchKernel(7, Dim3{1, 2, 3}, Dim3{4, 5, 6}, 8, 9, args); e != nil {
			err = e
		}
	})
	if n != 0 {
		return "", fmt.Errorf("%v allocations", n)
	}
	graph := testing.AllocsPerRun(100, func() { lib.Driver.GraphLaunch(1, 2) })
	copied := testing.AllocsPerRun(100, func() { lib.Driver.MemcpyHtoDAsync(1, unsafe.Pointer(&args[0]), 2, 3) })
	gemm := testing.AllocsPerRun(100, func() { lib.BLAS.Sgemm(1, OpN, OpT, 2, 3, 4, 1, 5, 6, 7, 8, 0, 9, 10) })
	if graph != 0 || copied != 0 || gemm != 0 {
		return "", fmt.Errorf("allocations: graph %v, copy %v, gemm %v", graph, copied, gemm)
	}
	if err == nil {
		err = lib.Driver.LaunchKernel(7, Dim3{1, 2, 3}, Dim3{4, 5, 6}, 8, 9, nil)
	}
	return "", err
}

func TestLaunchAllocatesNothing(t *testing.T) {
	dir := t.TempDir()
	fakeSet(t, folder{dir, false}, 12, nil)
	log := filepath.Join(dir, "log")
	o := runChild(t, "launch", "AMTRL_CUDA_LIB_DIR="+dir, "NV_TEST_LOG="+log)
	if o.Err != "" {
		t.Fatal(o.Err)
	}
	data := must.Get(os.ReadFile(log))(t)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	const with = "cuLaunchKernel 7 1 2 3 4 5 6 8 9 - - args 1 0 0 0 0 0 0 200 3 255"
	must.Hold(t, slices.Contains(lines, with), "no call like %s", with)
	if got, want := lines[len(lines)-1], "cuLaunchKernel 7 1 2 3 4 5 6 8 9 - - args"; got != want {
		t.Errorf("without arguments: %s, want %s", got, want)
	}
}

// callAbsent calls a function that the library does not have.
func callAbsent(lib *Library) (string, error) {
	if err := lib.Driver.StreamSynchronize(1); err != nil {
		return "", err
	}
	if err := lib.BLAS.Sgemm(1, OpN, OpN, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1); err != nil {
		return "", err
	}
	_, err := lib.NVRTC.SupportedArchs()
	return "", err
}

func TestAbsentFunction(t *testing.T) {
	dir := t.TempDir()
	fakeSet(t, folder{dir, false}, 12, map[string]fake{"nvrtc": {link: []string{hide(t, "nvrtcGetNumSupportedArchs")}}})
	o := runChild(t, "absent", "AMTRL_CUDA_LIB_DIR="+dir)
	if strings.Join(o.Kinds, " ") != "absent" || o.Op != "nvrtcGetNumSupportedArchs" || !strings.Contains(o.Err, "version 12.3") ||
		!strings.Contains(o.Err, "libnvrtc.so.12") {
		t.Errorf("%+v", o)
	}
}

// The error of a failed call names the function, the library's file and the status.
func TestErrorsOfCalls(t *testing.T) {
	for _, c := range []struct {
		part, function string
		status         int
		kind, says     string
	}{
		{"driver", "cuStreamSynchronize", 700, "lost", "CUDA_ERROR_FAKE (700): the fake says so; a kernel read or wrote outside its memory"},
		{"driver", "cuStreamSynchronize", 220, "lost", "NVLink"},
		{"driver", "cuStreamSynchronize", 810, "lost", "MPS"},
		{"driver", "cuStreamSynchronize", 2, "memory", "CUDA_ERROR_FAKE (2)"},
		{"driver", "cuStreamSynchronize", 222, "ptx", "update the driver"},
		{"driver", "cuStreamSynchronize", 12345, "", "(12345)"},
		{"cublas", "cublasSgemm_v2", 3, "memory", "CUBLAS_STATUS_FAKE (3): the fake says so"},
	} {
		dir := t.TempDir()
		fakeSet(t, folder{dir, false}, 12, map[string]fake{c.part: {fails: c.function, status: c.status}})
		o := runChild(t, "absent", "AMTRL_CUDA_LIB_DIR="+dir)
		if strings.Join(o.Kinds, " ") != c.kind || o.Op != c.function || o.Code != c.status || !strings.Contains(o.Err, c.says) ||
			!strings.Contains(o.Err, dir) {
			t.Errorf("%s: %+v", c.function, o)
		}
	}
}
