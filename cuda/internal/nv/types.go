package nv

// Handles. The zero value is none; a zero Stream is the default stream, which
// nothing here should use.
type (
	// Device is a device of the driver, not its ordinal.
	Device int32
	// Context is a CUcontext.
	Context uintptr
	// Stream is a CUstream.
	Stream uintptr
	// Event is a CUevent.
	Event uintptr
	// Module is a CUmodule.
	Module uintptr
	// Function is a CUfunction.
	Function uintptr
	// MemPool is a CUmemoryPool.
	MemPool uintptr
	// Graph is a CUgraph.
	Graph uintptr
	// GraphExec is a CUgraphExec.
	GraphExec uintptr
	// DevicePtr is an address on a device; adding to it adds bytes.
	DevicePtr uint64
	// BLASHandle is a cublasHandle_t.
	BLASHandle uintptr
	// SolverHandle is a cusolverDnHandle_t.
	SolverHandle uintptr
	// GesvdjInfo is a gesvdjInfo_t.
	GesvdjInfo uintptr
	// Program is an nvrtcProgram.
	Program uintptr
)

// Flags of contexts, memory, streams and events (cuda.h).
const (
	CtxSchedBlockingSync   = 4 // CU_CTX_SCHED_BLOCKING_SYNC
	MemHostAllocPortable   = 1 // CU_MEMHOSTALLOC_PORTABLE
	StreamNonBlocking      = 1 // CU_STREAM_NON_BLOCKING
	EventDefault           = 0 // CU_EVENT_DEFAULT
	EventBlockingSync      = 1 // CU_EVENT_BLOCKING_SYNC
	EventDisableTiming     = 2 // CU_EVENT_DISABLE_TIMING
	CaptureGlobal          = 0 // CU_STREAM_CAPTURE_MODE_GLOBAL
	CaptureThreadLocal     = 1 // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
	CaptureRelaxed         = 2 // CU_STREAM_CAPTURE_MODE_RELAXED
	GraphUpdateSuccess     = 0 // CU_GRAPH_EXEC_UPDATE_SUCCESS
	PoolReleaseThreshold   = 4 // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
	PoolReservedMemCurrent = 5 // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
	PoolUsedMemCurrent     = 7 // CU_MEMPOOL_ATTR_USED_MEM_CURRENT
)

// DeviceAttribute is a CUdevice_attribute (cuda.h).
type DeviceAttribute int32

// Attributes of devices.
const (
	AttrMaxThreadsPerBlock          DeviceAttribute = 1
	AttrMaxSharedMemPerBlock        DeviceAttribute = 8
	AttrWarpSize                    DeviceAttribute = 10
	AttrMultiprocessorCount         DeviceAttribute = 16
	AttrIntegrated                  DeviceAttribute = 18
	AttrL2CacheSize                 DeviceAttribute = 38
	AttrMaxThreadsPerMultiprocessor DeviceAttribute = 39
	AttrComputeCapabilityMajor      DeviceAttribute = 75
	AttrComputeCapabilityMinor      DeviceAttribute = 76
	AttrMaxSharedMemPerBlockOptin   DeviceAttribute = 97
	AttrMemoryPoolsSupported        DeviceAttribute = 115
)

// FunctionAttribute is a CUfunction_attribute (cuda.h).
type FunctionAttribute int32

// Attributes of functions; only the last can be set.
const (
	FuncMaxThreadsPerBlock   FunctionAttribute = 0
	FuncSharedSizeBytes      FunctionAttribute = 1
	FuncLocalSizeBytes       FunctionAttribute = 3
	FuncNumRegs              FunctionAttribute = 4
	FuncMaxDynamicSharedSize FunctionAttribute = 8
)

// Operation is a cublasOperation_t (cublas_api.h).
type Operation int32

// Operations on a matrix.
const (
	OpN Operation = 0
	OpT Operation = 1
)

// FillMode is a cublasFillMode_t (cublas_api.h): which triangle is used.
type FillMode int32

// Triangles, in column-major terms.
const (
	FillLower FillMode = 0
	FillUpper FillMode = 1
)

// Side is a cublasSideMode_t (cublas_api.h).
type Side int32

// Sides that a matrix is multiplied from.
const (
	SideLeft  Side = 0
	SideRight Side = 1
)

// Diag is a cublasDiagType_t (cublas_api.h).
type Diag int32

// Diagonals of triangular matrices.
const (
	DiagNonUnit Diag = 0
	DiagUnit    Diag = 1
)

// MathMode is a cublasMath_t (cublas_api.h).
type MathMode int32

// Math modes. MathDisallowReducedPrecision is a flag to be added to another.
const (
	MathDefault                  MathMode = 0
	MathPedantic                 MathMode = 2
	MathTF32                     MathMode = 3
	MathDisallowReducedPrecision MathMode = 16
)

// PointerMode is a cublasPointerMode_t (cublas_api.h).
type PointerMode int32

// Where scalars are.
const (
	PointerHost   PointerMode = 0
	PointerDevice PointerMode = 1
)

// DataType is a cudaDataType_t (library_types.h).
type DataType int32

// Types of matrix elements.
const (
	R32F  DataType = 0
	R64F  DataType = 1
	R16F  DataType = 2
	R16BF DataType = 14
)

// ComputeType is a cublasComputeType_t (cublas_api.h).
type ComputeType int32

// Precisions of products. Scalars of all but the 64F ones are float32.
const (
	Compute32F         ComputeType = 68
	Compute32FPedantic ComputeType = 69
	Compute64F         ComputeType = 70
	Compute64FPedantic ComputeType = 71
	Compute32FFastTF32 ComputeType = 77
)

// GemmDefault is CUBLAS_GEMM_DEFAULT (cublas_api.h).
const GemmDefault = -1

// Jobz is a cusolverEigMode_t (cusolver_common.h).
type Jobz int32

// Whether vectors are wanted beside the values.
const (
	NoVectors Jobz = 0
	Vectors   Jobz = 1
)

// How much of U or V^T Dgesvd computes.
const (
	JobAll  = 'A' // all columns
	JobSome = 'S' // the first min(m, n) columns
	JobNone = 'N'
)

// Deterministic is a cusolverDeterministicMode_t (cusolver_common.h).
type Deterministic int32

// Whether runs give the same bits.
const (
	DeterministicResults         Deterministic = 1
	AllowNonDeterministicResults Deterministic = 2
)

// Header is a file that a program may include by name.
type Header struct {
	Name, Source string
}

// Dim3 is the shape of a grid or a block.
type Dim3 struct{ X, Y, Z uint32 }
