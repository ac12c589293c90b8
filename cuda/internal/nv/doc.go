// Package nv opens NVIDIA's libraries at run time and calls them: the CUDA
// driver, cuBLAS, cuSOLVER and NVRTC. Nothing of CUDA is needed to build it, and
// nothing happens until [Open] is called. On Linux with cgo it works; elsewhere
// Open returns [ErrUnsupported].
//
// The methods carry the libraries' own names without their prefixes: cuMemAlloc
// is [Driver.MemAlloc], cublasSgemm is [BLAS.Sgemm]. They do what NVIDIA's guides
// say and nothing more; a status other than 0 becomes an [*Error]. A method whose
// function is optional and absent from the library returns an error that matches
// [ErrAbsent].
//
// Matrices of cuBLAS and cuSOLVER are column-major. Contexts are current per
// thread: callers lock theirs and make one current before the calls that need it. No
// method keeps a pointer into Go's memory after it has returned, except that the
// asynchronous copies read or write their host buffer until the stream has passed them:
// that buffer must be memory from [Driver.MemHostAlloc].
package nv
