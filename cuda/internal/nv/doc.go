// Package nv opens NVIDIA's libraries at run time and calls them: the CUDA driver,
// cuBLAS, cuSOLVER and NVRTC. The build needs nothing of CUDA, and nothing is loaded
// until [Open] or [OpenToolkit] is called. The package works on Linux on amd64 or arm64
// with cgo; elsewhere both return [ErrUnsupported].
//
// The methods carry the libraries' own names without their prefixes: cuMemAlloc is
// [Driver.MemAlloc], cublasSgemm is [BLAS.Sgemm]. They do what NVIDIA's guides say and
// nothing more; a status other than 0 becomes an [*Error]. A method whose function is
// optional and absent from the library returns an error that matches [ErrAbsent].
//
// Matrices of cuBLAS and cuSOLVER are column-major. A context is current for one
// thread: callers lock their goroutine to its thread and make a context current before
// the calls that need it. No method keeps a pointer into Go's memory after it has
// returned, except that the asynchronous copies read or write their host buffer until
// the stream has passed them: that buffer must be memory from [Driver.MemHostAlloc].
package nv
