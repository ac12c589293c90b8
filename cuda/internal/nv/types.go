package nv

// Handles. The zero value means none; a zero Stream is the default stream, to which no work should
// be added.
type (
	Device       int32   // a device of the driver, not its ordinal
	Context      uintptr // a CUcontext
	Stream       uintptr // a CUstream
	Event        uintptr // a CUevent
	Module       uintptr // a CUmodule
	Function     uintptr // a CUfunction
	Graph        uintptr // a CUgraph
	GraphExec    uintptr // a CUgraphExec
	DevicePtr    uint64  // an address on a device; adding to it adds bytes
	BLASHandle   uintptr // a cublasHandle_t
	SolverHandle uintptr // a cusolverDnHandle_t
	Program      uintptr // an nvrtcProgram
)

// Flags of contexts, memory, streams and events (cuda.h).
const (
	CtxSchedBlockingSync  = 4 // CU_CTX_SCHED_BLOCKING_SYNC
	MemHostAllocPortable  = 1 // CU_MEMHOSTALLOC_PORTABLE
	MemHostAllocDeviceMap = 2 // CU_MEMHOSTALLOC_DEVICEMAP
	StreamNonBlocking     = 1 // CU_STREAM_NON_BLOCKING
	EventBlockingSync     = 1 // CU_EVENT_BLOCKING_SYNC
	EventDisableTiming    = 2 // CU_EVENT_DISABLE_TIMING
	CaptureThreadLocal    = 1 // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
)

// DeviceAttribute is a CUdevice_attribute (cuda.h).
type DeviceAttribute int32

// Attributes of devices.
const (
	AttrClockRate              DeviceAttribute = 13 // kHz
	AttrMultiprocessorCount    DeviceAttribute = 16
	AttrMemoryClockRate        DeviceAttribute = 36 // kHz
	AttrMemoryBusWidth         DeviceAttribute = 37 // bits
	AttrComputeCapabilityMajor DeviceAttribute = 75
	AttrComputeCapabilityMinor DeviceAttribute = 76
)

// FunctionAttribute is a CUfunction_attribute (cuda.h).
type FunctionAttribute int32

// FuncMaxThreadsPerBlock is the most threads per block with which a kernel can be launched.
const FuncMaxThreadsPerBlock FunctionAttribute = 0

// Operation is a cublasOperation_t (cublas_api.h).
type Operation int32

// Operations on a matrix.
const (
	OpN Operation = 0
	OpT Operation = 1
)

// FillMode is a cublasFillMode_t (cublas_api.h): which triangle is used.
type FillMode int32

// FillUpper is the upper triangle, in column-major terms.
const FillUpper FillMode = 1

// Side is a cublasSideMode_t (cublas_api.h): on which side the triangular matrix stands.
type Side int32

// SideRight stands for X op(A).
const SideRight Side = 1

// Diagonal is a cublasDiagType_t (cublas_api.h): whether a triangular matrix has ones on its
// diagonal.
type Diagonal int32

// DiagonalGiven means that the diagonal is read, not taken to be ones.
const DiagonalGiven Diagonal = 0

// MathMode is a cublasMath_t (cublas_api.h).
type MathMode int32

// Math modes.
const (
	MathDefault MathMode = 0
	MathTF32    MathMode = 3
)

// PointerMode is a cublasPointerMode_t (cublas_api.h).
type PointerMode int32

// PointerHost means that scalars are in host memory.
const PointerHost PointerMode = 0

// Values of jobu and jobvt, how much of U and V^T Dgesvd computes.
const (
	JobSome = 'S' // the first min(m, n) columns of U or rows of V^T
	JobNone = 'N'
)

// Header is a file that a program may include by name.
type Header struct {
	Name, Source string
}

// Dim3 is the shape of a grid or a block.
type Dim3 [3]uint32
