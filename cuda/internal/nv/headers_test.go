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
)

// constants are the names that NVIDIA's headers have for those of types.go.
var constants = map[string]struct {
	theirs string
	ours   int64
}{
	"CtxSchedBlockingSync":            {"CU_CTX_SCHED_BLOCKING_SYNC", CtxSchedBlockingSync},
	"MemHostAllocPortable":            {"CU_MEMHOSTALLOC_PORTABLE", MemHostAllocPortable},
	"StreamNonBlocking":               {"CU_STREAM_NON_BLOCKING", StreamNonBlocking},
	"EventDefault":                    {"CU_EVENT_DEFAULT", EventDefault},
	"EventBlockingSync":               {"CU_EVENT_BLOCKING_SYNC", EventBlockingSync},
	"EventDisableTiming":              {"CU_EVENT_DISABLE_TIMING", EventDisableTiming},
	"CaptureGlobal":                   {"CU_STREAM_CAPTURE_MODE_GLOBAL", CaptureGlobal},
	"CaptureThreadLocal":              {"CU_STREAM_CAPTURE_MODE_THREAD_LOCAL", CaptureThreadLocal},
	"CaptureRelaxed":                  {"CU_STREAM_CAPTURE_MODE_RELAXED", CaptureRelaxed},
	"GraphUpdateSuccess":              {"CU_GRAPH_EXEC_UPDATE_SUCCESS", GraphUpdateSuccess},
	"PoolReleaseThreshold":            {"CU_MEMPOOL_ATTR_RELEASE_THRESHOLD", PoolReleaseThreshold},
	"PoolReservedMemCurrent":          {"CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT", PoolReservedMemCurrent},
	"PoolUsedMemCurrent":              {"CU_MEMPOOL_ATTR_USED_MEM_CURRENT", PoolUsedMemCurrent},
	"AttrMaxThreadsPerBlock":          {"CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK", int64(AttrMaxThreadsPerBlock)},
	"AttrMaxSharedMemPerBlock":        {"CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK", int64(AttrMaxSharedMemPerBlock)},
	"AttrWarpSize":                    {"CU_DEVICE_ATTRIBUTE_WARP_SIZE", int64(AttrWarpSize)},
	"AttrMultiprocessorCount":         {"CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", int64(AttrMultiprocessorCount)},
	"AttrIntegrated":                  {"CU_DEVICE_ATTRIBUTE_INTEGRATED", int64(AttrIntegrated)},
	"AttrL2CacheSize":                 {"CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE", int64(AttrL2CacheSize)},
	"AttrMaxThreadsPerMultiprocessor": {"CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR", int64(AttrMaxThreadsPerMultiprocessor)},
	"AttrComputeCapabilityMajor":      {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR", int64(AttrComputeCapabilityMajor)},
	"AttrComputeCapabilityMinor":      {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR", int64(AttrComputeCapabilityMinor)},
	"AttrMaxSharedMemPerBlockOptin":   {"CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", int64(AttrMaxSharedMemPerBlockOptin)},
	"AttrMemoryPoolsSupported":        {"CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED", int64(AttrMemoryPoolsSupported)},
	"FuncMaxThreadsPerBlock":          {"CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK", int64(FuncMaxThreadsPerBlock)},
	"FuncSharedSizeBytes":             {"CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES", int64(FuncSharedSizeBytes)},
	"FuncLocalSizeBytes":              {"CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES", int64(FuncLocalSizeBytes)},
	"FuncNumRegs":                     {"CU_FUNC_ATTRIBUTE_NUM_REGS", int64(FuncNumRegs)},
	"FuncMaxDynamicSharedSize":        {"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", int64(FuncMaxDynamicSharedSize)},
	"OpN":                             {"CUBLAS_OP_N", int64(OpN)},
	"OpT":                             {"CUBLAS_OP_T", int64(OpT)},
	"FillLower":                       {"CUBLAS_FILL_MODE_LOWER", int64(FillLower)},
	"FillUpper":                       {"CUBLAS_FILL_MODE_UPPER", int64(FillUpper)},
	"SideLeft":                        {"CUBLAS_SIDE_LEFT", int64(SideLeft)},
	"SideRight":                       {"CUBLAS_SIDE_RIGHT", int64(SideRight)},
	"DiagNonUnit":                     {"CUBLAS_DIAG_NON_UNIT", int64(DiagNonUnit)},
	"DiagUnit":                        {"CUBLAS_DIAG_UNIT", int64(DiagUnit)},
	"MathDefault":                     {"CUBLAS_DEFAULT_MATH", int64(MathDefault)},
	"MathPedantic":                    {"CUBLAS_PEDANTIC_MATH", int64(MathPedantic)},
	"MathTF32":                        {"CUBLAS_TF32_TENSOR_OP_MATH", int64(MathTF32)},
	"MathDisallowReducedPrecision":    {"CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION", int64(MathDisallowReducedPrecision)},
	"PointerHost":                     {"CUBLAS_POINTER_MODE_HOST", int64(PointerHost)},
	"PointerDevice":                   {"CUBLAS_POINTER_MODE_DEVICE", int64(PointerDevice)},
	"R32F":                            {"CUDA_R_32F", int64(R32F)},
	"R64F":                            {"CUDA_R_64F", int64(R64F)},
	"R16F":                            {"CUDA_R_16F", int64(R16F)},
	"R16BF":                           {"CUDA_R_16BF", int64(R16BF)},
	"Compute32F":                      {"CUBLAS_COMPUTE_32F", int64(Compute32F)},
	"Compute32FPedantic":              {"CUBLAS_COMPUTE_32F_PEDANTIC", int64(Compute32FPedantic)},
	"Compute64F":                      {"CUBLAS_COMPUTE_64F", int64(Compute64F)},
	"Compute64FPedantic":              {"CUBLAS_COMPUTE_64F_PEDANTIC", int64(Compute64FPedantic)},
	"Compute32FFastTF32":              {"CUBLAS_COMPUTE_32F_FAST_TF32", int64(Compute32FFastTF32)},
	"GemmDefault":                     {"CUBLAS_GEMM_DEFAULT", GemmDefault},
	"NoVectors":                       {"CUSOLVER_EIG_MODE_NOVECTOR", int64(NoVectors)},
	"Vectors":                         {"CUSOLVER_EIG_MODE_VECTOR", int64(Vectors)},
	"DeterministicResults":            {"CUSOLVER_DETERMINISTIC_RESULTS", int64(DeterministicResults)},
	"AllowNonDeterministicResults":    {"CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS", int64(AllowNonDeterministicResults)},
}

// others are constants that stand in other files.
var others = map[string]int64{
	"CUDA_ERROR_OUT_OF_MEMORY": 2, "CUDA_ERROR_NOT_INITIALIZED": 3, "CUDA_ERROR_STUB_LIBRARY": 34,
	"CUDA_ERROR_NO_DEVICE": 100, "CUDA_ERROR_INVALID_DEVICE": 101, "CUDA_ERROR_INVALID_CONTEXT": 201,
	"CUDA_ERROR_NO_BINARY_FOR_GPU": 209, "CUDA_ERROR_ECC_UNCORRECTABLE": 214, "CUDA_ERROR_INVALID_PTX": 218,
	"CUDA_ERROR_UNSUPPORTED_PTX_VERSION": 222, "CUDA_ERROR_NOT_READY": notReady, "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
	"CUDA_ERROR_LAUNCH_TIMEOUT": 702, "CUDA_ERROR_ASSERT": 710, "CUDA_ERROR_HARDWARE_STACK_ERROR": 714,
	"CUDA_ERROR_ILLEGAL_INSTRUCTION": 715, "CUDA_ERROR_MISALIGNED_ADDRESS": 716, "CUDA_ERROR_INVALID_ADDRESS_SPACE": 717,
	"CUDA_ERROR_INVALID_PC": 718, "CUDA_ERROR_LAUNCH_FAILED": 719, "CUDA_ERROR_SYSTEM_NOT_READY": 802,
	"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": 803, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": 804, "CUDA_ERROR_UNKNOWN": 999,
	"CUBLAS_STATUS_NOT_INITIALIZED": 1, "CUBLAS_STATUS_ALLOC_FAILED": 3, "CUBLAS_STATUS_ARCH_MISMATCH": 8,
	"CUBLAS_ATOMICS_ALLOWED": 1, "NVRTC_ERROR_INVALID_OPTION": 5, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE": 7,
	"CU_JIT_ERROR_LOG_BUFFER": 5, "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES": 6,
	"MAJOR_VERSION": 0, "MINOR_VERSION": 1, "PATCH_LEVEL": 2,
}

// newer are those that CUDA 12.0 does not know.
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
			if err := os.WriteFile(filepath.Join(dir, "constants.inc"), []byte(inc.String()), 0o644); err != nil {
				t.Fatal(err)
			}
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
			out, err := exec.Command(exe).CombinedOutput()
			if err != nil {
				t.Fatal(err)
			}
			// These have the same parameters under both names.
			want := map[int]string{12: "", 13: "cuEventElapsedTime cuEventElapsedTime_v2\ncuDeviceGetUuid cuDeviceGetUuid_v2\n"}[family]
			if string(out) != want {
				t.Errorf("macros of the headers rename\n%swant\n%s", out, want)
			}
		})
	}
}

// Every constant of types.go has its line above.
func TestConstantsAreChecked(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "types.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
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
	if seen != len(constants)+3 { // JobAll, JobSome and JobNone are letters of LAPACK
		t.Errorf("types.go has %d constants, %d are compared", seen, len(constants))
	}
	both := maps.Clone(others)
	maps.Copy(both, newer)
	for code := range driverKinds {
		found := false
		for name, v := range both {
			found = found || v == int64(code) && strings.HasPrefix(name, "CUDA_ERROR_")
		}
		if !found {
			t.Errorf("code %d of the driver is not compared with NVIDIA's headers", code)
		}
	}
}
