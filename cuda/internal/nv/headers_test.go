//go:build linux && cgo && (amd64 || arm64)

package nv

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// constants holds, for each constant of types.go, its name in NVIDIA's headers and its value here.
var constants = map[string]struct {
	theirs string
	ours   int64
}{
	"CtxSchedBlockingSync":       {"CU_CTX_SCHED_BLOCKING_SYNC", CtxSchedBlockingSync},
	"MemHostAllocPortable":       {"CU_MEMHOSTALLOC_PORTABLE", MemHostAllocPortable},
	"MemHostAllocDeviceMap":      {"CU_MEMHOSTALLOC_DEVICEMAP", MemHostAllocDeviceMap},
	"StreamNonBlocking":          {"CU_STREAM_NON_BLOCKING", StreamNonBlocking},
	"EventBlockingSync":          {"CU_EVENT_BLOCKING_SYNC", EventBlockingSync},
	"EventDisableTiming":         {"CU_EVENT_DISABLE_TIMING", EventDisableTiming},
	"CaptureThreadLocal":         {"CU_STREAM_CAPTURE_MODE_THREAD_LOCAL", CaptureThreadLocal},
	"AttrClockRate":              {"CU_DEVICE_ATTRIBUTE_CLOCK_RATE", int64(AttrClockRate)},
	"AttrMemoryClockRate":        {"CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE", int64(AttrMemoryClockRate)},
	"AttrMemoryBusWidth":         {"CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH", int64(AttrMemoryBusWidth)},
	"AttrMultiprocessorCount":    {"CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", int64(AttrMultiprocessorCount)},
	"AttrComputeCapabilityMajor": {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR", int64(AttrComputeCapabilityMajor)},
	"AttrComputeCapabilityMinor": {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR", int64(AttrComputeCapabilityMinor)},
	"FuncMaxThreadsPerBlock":     {"CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK", int64(FuncMaxThreadsPerBlock)},
	"OpN":                        {"CUBLAS_OP_N", int64(OpN)},
	"OpT":                        {"CUBLAS_OP_T", int64(OpT)},
	"FillUpper":                  {"CUBLAS_FILL_MODE_UPPER", int64(FillUpper)},
	"SideRight":                  {"CUBLAS_SIDE_RIGHT", int64(SideRight)},
	"DiagonalGiven":              {"CUBLAS_DIAG_NON_UNIT", int64(DiagonalGiven)},
	"MathDefault":                {"CUBLAS_DEFAULT_MATH", int64(MathDefault)},
	"MathTF32":                   {"CUBLAS_TF32_TENSOR_OP_MATH", int64(MathTF32)},
	"PointerHost":                {"CUBLAS_POINTER_MODE_HOST", int64(PointerHost)},
}

// others holds NVIDIA's constants that other files use.
var others = map[string]int64{
	"CUDA_ERROR_OUT_OF_MEMORY": 2, "CUDA_ERROR_NOT_INITIALIZED": 3, "CUDA_ERROR_STUB_LIBRARY": 34,
	"CUDA_ERROR_NO_DEVICE": 100, "CUDA_ERROR_INVALID_DEVICE": 101, "CUDA_ERROR_INVALID_CONTEXT": 201,
	"CUDA_ERROR_NO_BINARY_FOR_GPU": 209, "CUDA_ERROR_ECC_UNCORRECTABLE": 214, "CUDA_ERROR_INVALID_PTX": 218,
	"CUDA_ERROR_NVLINK_UNCORRECTABLE": 220, "CUDA_ERROR_MPS_CLIENT_TERMINATED": 810,
	"CUDA_ERROR_UNSUPPORTED_PTX_VERSION": 222, "CUDA_ERROR_NOT_READY": notReady, "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
	"CUDA_ERROR_LAUNCH_TIMEOUT": 702, "CUDA_ERROR_ASSERT": 710, "CUDA_ERROR_HARDWARE_STACK_ERROR": 714,
	"CUDA_ERROR_ILLEGAL_INSTRUCTION": 715, "CUDA_ERROR_MISALIGNED_ADDRESS": 716, "CUDA_ERROR_INVALID_ADDRESS_SPACE": 717,
	"CUDA_ERROR_INVALID_PC": 718, "CUDA_ERROR_LAUNCH_FAILED": 719, "CUDA_ERROR_SYSTEM_NOT_READY": 802,
	"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": 803, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": 804, "CUDA_ERROR_UNKNOWN": 999,
	"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": 900, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": 901, "CUDA_ERROR_STREAM_CAPTURE_MERGE": 902,
	"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED": 903, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED": 904, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION": 905,
	"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": 906, "CUDA_ERROR_CAPTURED_EVENT": 907, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD": 908,
	"CUBLAS_STATUS_NOT_INITIALIZED": 1, "CUBLAS_STATUS_ALLOC_FAILED": 3, "CUBLAS_STATUS_ARCH_MISMATCH": 8,
	"NVRTC_ERROR_INVALID_OPTION": 5, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE": 7,
	"CU_JIT_ERROR_LOG_BUFFER": 5, "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES": 6,
	"MAJOR_VERSION": 0, "MINOR_VERSION": 1, "PATCH_LEVEL": 2,
}

// newer holds those that CUDA 12.0 does not have.
var newer = map[string]int64{"CUDA_ERROR_CONTAINED": 226, "CUDA_ERROR_TENSOR_MEMORY_LEAK": 721}

func TestDeclarationsMatchHeaders(t *testing.T) {
	for _, family := range families {
		t.Run(fmt.Sprint("CUDA ", family), func(t *testing.T) {
			nvidia := filepath.Join(wheelsOf(t, family), "nvidia")
			includes, err := filepath.Glob(filepath.Join(escape(nvidia), "*", "include"))
			if err != nil || len(includes) == 0 {
				t.Fatalf("no headers under %s (%v)", nvidia, err)
			}
			dir := t.TempDir()
			var inc strings.Builder
			for _, c := range constants {
				fmt.Fprintf(&inc, "CONSTANT(%s, %d)\n", c.theirs, c.ours)
			}
			for name, v := range others {
				fmt.Fprintf(&inc, "CONSTANT(%s, %d)\n", name, v)
			}
			if family > 12 {
				for name, v := range newer {
					fmt.Fprintf(&inc, "CONSTANT(%s, %d)\n", name, v)
				}
			}
			for v, name := range solverNames {
				fmt.Fprintf(&inc, "CONSTANT(%s, %d)\n", name, v)
			}
			must.Do(t, os.WriteFile(filepath.Join(dir, "constants.inc"), []byte(inc.String()), 0o644))
			exe := filepath.Join(dir, "headers")
			args := []string{"-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-I.", "-I" + dir}
			for _, i := range includes {
				args = append(args, "-isystem", i)
			}
			args = append(args, "-isystem", "testdata/shim")
			args = append(args, "testdata/headers.cpp", "-o", exe)
			if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out := must.Get(exec.Command(exe).CombinedOutput())(t)
			// This function has the same parameters under both names.
			want := map[int]string{12: "", 13: "cuDeviceGetUuid cuDeviceGetUuid_v2\n"}[family]
			must.Equal(t, string(out), want, "macros that the headers rename")
		})
	}
}

// Every constant of types.go is in constants, and every code of driverMeans is compared too.
func TestConstantsAreChecked(t *testing.T) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), "types.go", nil, 0))(t)
	seen := 0
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, spec := range decl.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				seen++
				if _, ok := constants[name.Name]; !ok && !strings.HasPrefix(name.Name, "Job") {
					t.Errorf("%s is not compared with NVIDIA's headers", name.Name)
				}
			}
		}
	}
	if seen != len(constants)+2 { // JobSome and JobNone are letters of LAPACK
		t.Errorf("types.go has %d constants, %d are compared", seen, len(constants))
	}
	both := maps.Clone(others)
	maps.Copy(both, newer)
	for code := range driverMeans {
		found := false
		for name, v := range both {
			found = found || v == int64(code) && strings.HasPrefix(name, "CUDA_ERROR_")
		}
		must.Hold(t, found, "code %d of the driver is not compared with NVIDIA's headers", code)
	}
}
