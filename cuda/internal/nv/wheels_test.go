//go:build linux && cgo && (amd64 || arm64)

package nv

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/amtrl/amtrl/internal/must"
)

// wheelsOf returns the folder in which make deps-cuda has installed NVIDIA's libraries and headers of a family. Without
// them it skips the test, or fails it if AMTRL_CUDA_WHEELS is set.
func wheelsOf(t *testing.T, family int) string {
	t.Helper()
	base := os.Getenv("AMTRL_CUDA_WHEELS")
	demanded := base != ""
	if !demanded {
		base = filepath.Join("..", "..", "..", "build")
	}
	dir := must.Get(filepath.Abs(filepath.Join(base, "cuda"+strconv.Itoa(family))))(t)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		if demanded {
			t.Fatalf("AMTRL_CUDA_WHEELS is set: %v", err)
		}
		t.Skipf("needs make deps-cuda: %v", err)
	}
	return dir
}

func init() { children["toolkit wheels"] = useToolkit }

// TestRealLibraries opens NVIDIA's own libraries and uses them as far as that works without a device.
func TestRealLibraries(t *testing.T) {
	for _, family := range families {
		t.Run(fmt.Sprint("CUDA ", family), func(t *testing.T) {
			dir := wheelsOf(t, family)
			o := runChild(t, "toolkit wheels", "AMTRL_CUDA_LIB_DIR="+dir)
			if o.Err != "" {
				t.Fatal(o.Err)
			}
			if o.Lib.Family != family || o.Lib.Dir != filepath.Join(dir, "nvidia") || len(o.Lib.Files) != len(parts)+1 {
				t.Errorf("%+v", o)
			}
			for _, f := range o.Lib.Files {
				if !strings.HasPrefix(f.Path, dir) {
					t.Errorf("%s comes from %s", f.Name, f.Path)
				}
			}
			t.Log(o.Versions, o.Extra)
		})
	}
}

// useToolkit calls functions that need no device, and checks that functions that need one say so.
func useToolkit(lib *Library) (string, error) {
	archs, err := lib.NVRTC.SupportedArchs()
	if err != nil {
		return "", err
	}
	// On a machine with a device these two calls succeed.
	if h, err := lib.BLAS.Create(); err == nil {
		err = lib.BLAS.Destroy(h)
		if err != nil {
			return "", err
		}
	} else if !strings.Contains(err.Error(), "CUBLAS_STATUS_NOT_INITIALIZED (1)") {
		return "", fmt.Errorf("a cuBLAS handle without a device: %w", err)
	}
	if h, err := lib.Solver.Create(); err == nil {
		err = lib.Solver.Destroy(h)
		if err != nil {
			return "", err
		}
	} else if h != 0 || !strings.Contains(err.Error(), "CUSOLVER_STATUS_NOT_INITIALIZED (1)") {
		return "", fmt.Errorf("a cuSOLVER handle without a device: %w", err)
	}
	headers := []Header{{"a.h", "#define A 2.0f\n"}, {"b.h", "#include \"a.h\"\n"}}
	const source = "#include \"b.h\"\nextern \"C\" __global__ void scale(float *x) { x[threadIdx.x] *= A; }\n"
	for _, arch := range archs {
		image, log, err := lib.build(source, headers, fmt.Sprintf("-arch=sm_%d", arch), lib.NVRTC.GetCUBIN)
		if err != nil {
			return "", fmt.Errorf("sm_%d: %w: %s", arch, err, log)
		}
		if !bytes.HasPrefix(image, []byte("\x7fELF")) {
			return "", fmt.Errorf("sm_%d: the cubin begins with %q", arch, image[:min(len(image), 4)])
		}
	}
	ptx, _, err := lib.build(source, headers, fmt.Sprintf("-arch=compute_%d", archs[0]), lib.NVRTC.GetPTX)
	if err != nil || !bytes.Contains(ptx, []byte(".entry scale")) || ptx[len(ptx)-1] != 0 {
		return "", fmt.Errorf("PTX %q: %w", ptx, err)
	}
	_, log, err := lib.build("extern \"C\" __global__ void f() { oops; }", nil, "-arch=sm_90", lib.NVRTC.GetCUBIN)
	if err == nil || !strings.Contains(err.Error(), "NVRTC_ERROR_COMPILATION") || !strings.Contains(log, "small.cu(1)") ||
		!strings.Contains(log, "oops") {
		return "", fmt.Errorf("a wrong program: %w, log %q", err, log)
	}
	_, _, err = lib.build(source, headers, "-arch=sm_1", lib.NVRTC.GetCUBIN)
	if err == nil || !strings.Contains(err.Error(), "NVRTC_ERROR_INVALID_OPTION (5)") {
		return "", fmt.Errorf("a wrong option: %w", err)
	}
	return fmt.Sprint(archs), nil
}

// signalActions returns the handler and the flags of each signal from the kernel.
func signalActions() (all [32][2]uint64) {
	for s := range all {
		var action [4]uint64 // handler, flags, restorer and mask
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&action)), 8, 0, 0)
		all[s] = [2]uint64{action[0], action[1]}
	}
	return all
}

// build compiles a program and returns the image that get reads from it, and the log. It checks that the compilation
// changes no signal handler.
func (lib *Library) build(source string, headers []Header, option string, get func(Program) ([]byte, error)) (image []byte, log string,
	err error) {
	n := lib.NVRTC
	p, err := n.CreateProgram(source, "small.cu", headers)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if e := n.DestroyProgram(p); err == nil {
			err = e
		}
	}()
	before := signalActions()
	compiled := n.CompileProgram(p, []string{option})
	if now := signalActions(); now != before {
		return nil, "", fmt.Errorf("handlers and flags of signals are %x after a compilation, %x before", now, before)
	}
	if log, err = n.GetProgramLog(p); compiled != nil || err != nil {
		return nil, log, errors.Join(compiled, err)
	}
	image, err = get(p)
	return image, log, err
}
