// The functions of the CUDA libraries that this package calls, declared by hand
// with fixed-width types, under the names that the libraries export (cuda.h and
// cublas_v2.h map plain names to some of these by macros, and to other ones in
// other releases).
//
//   X(name, parameters, arguments)
//
// Every function returns a 32-bit status. Handles are pointers that are never
// followed here and so are declared uintptr_t; enumerations are int32_t; device
// addresses are uint64_t in the driver API and in the libraries alike. A test
// compiles these declarations against NVIDIA's own headers.

#ifndef AMTRL_NV_SYMBOLS_H
#define AMTRL_NV_SYMBOLS_H

// libcuda.so.1, present in every driver that runs CUDA 12.0.
#define NV_DRIVER_REQUIRED(X) \
	X(cuInit, (uint32_t flags), (flags)) \
	X(cuDriverGetVersion, (int32_t *version), (version)) \
	X(cuGetErrorName, (int32_t error, const char **name), (error, name)) \
	X(cuGetErrorString, (int32_t error, const char **text), (error, text)) \
	X(cuDeviceGetCount, (int32_t *count), (count)) \
	X(cuDeviceGet, (int32_t *device, int32_t ordinal), (device, ordinal)) \
	X(cuDeviceGetName, (char *name, int32_t len, int32_t device), (name, len, device)) \
	X(cuDeviceTotalMem_v2, (uint64_t *bytes, int32_t device), (bytes, device)) \
	X(cuDeviceGetAttribute, (int32_t *value, int32_t attribute, int32_t device), (value, attribute, device)) \
	X(cuDevicePrimaryCtxRetain, (uintptr_t *ctx, int32_t device), (ctx, device)) \
	X(cuDevicePrimaryCtxRelease_v2, (int32_t device), (device)) \
	X(cuCtxSetCurrent, (uintptr_t ctx), (ctx)) \
	X(cuMemGetInfo_v2, (uint64_t *free, uint64_t *total), (free, total)) \
	X(cuMemAlloc_v2, (uint64_t *p, uint64_t bytes), (p, bytes)) \
	X(cuMemFree_v2, (uint64_t p), (p)) \
	X(cuMemHostAlloc, (void **p, uint64_t bytes, uint32_t flags), (p, bytes, flags)) \
	X(cuMemFreeHost, (void *p), (p)) \
	X(cuMemcpyHtoD_v2, (uint64_t dst, const void *src, uint64_t bytes), (dst, src, bytes)) \
	X(cuMemcpyDtoH_v2, (void *dst, uint64_t src, uint64_t bytes), (dst, src, bytes)) \
	X(cuMemcpyHtoDAsync_v2, (uint64_t dst, const void *src, uint64_t bytes, uintptr_t stream), (dst, src, bytes, stream)) \
	X(cuMemcpyDtoHAsync_v2, (void *dst, uint64_t src, uint64_t bytes, uintptr_t stream), (dst, src, bytes, stream)) \
	X(cuMemcpyDtoDAsync_v2, (uint64_t dst, uint64_t src, uint64_t bytes, uintptr_t stream), (dst, src, bytes, stream)) \
	X(cuMemsetD8Async, (uint64_t p, uint8_t value, uint64_t n, uintptr_t stream), (p, value, n, stream)) \
	X(cuStreamCreate, (uintptr_t *stream, uint32_t flags), (stream, flags)) \
	X(cuStreamDestroy_v2, (uintptr_t stream), (stream)) \
	X(cuStreamSynchronize, (uintptr_t stream), (stream)) \
	X(cuStreamWaitEvent, (uintptr_t stream, uintptr_t event, uint32_t flags), (stream, event, flags)) \
	X(cuEventCreate, (uintptr_t *event, uint32_t flags), (event, flags)) \
	X(cuEventDestroy_v2, (uintptr_t event), (event)) \
	X(cuEventRecord, (uintptr_t event, uintptr_t stream), (event, stream)) \
	X(cuEventSynchronize, (uintptr_t event), (event)) \
	X(cuModuleLoadData, (uintptr_t *module, const void *image), (module, image)) \
	X(cuModuleUnload, (uintptr_t module), (module)) \
	X(cuModuleGetFunction, (uintptr_t *function, uintptr_t module, const char *name), (function, module, name)) \
	X(cuFuncGetAttribute, (int32_t *value, int32_t attribute, uintptr_t function), (value, attribute, function)) \
	X(cuLaunchKernel, (uintptr_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, \
		uint32_t shared, uintptr_t stream, void **params, void **extra), \
		(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra))

// Each of these is used where the driver has it.
#define NV_DRIVER_OPTIONAL(X) \
	X(cuDeviceGetUuid_v2, (uint8_t *uuid, int32_t device), (uuid, device)) \
	X(cuDeviceGetUuid, (uint8_t *uuid, int32_t device), (uuid, device)) \
	X(cuDeviceGetPCIBusId, (char *id, int32_t len, int32_t device), (id, len, device)) \
	X(cuDevicePrimaryCtxSetFlags_v2, (int32_t device, uint32_t flags), (device, flags)) \
	X(cuDevicePrimaryCtxGetState, (int32_t device, uint32_t *flags, int32_t *active), (device, flags, active)) \
	X(cuStreamQuery, (uintptr_t stream), (stream)) \
	X(cuModuleLoadDataEx, (uintptr_t *module, const void *image, uint32_t n, int32_t *options, void **values), \
		(module, image, n, options, values))

// Graphs: used only where the driver has all of these.
#define NV_DRIVER_GRAPH(X) \
	X(cuStreamBeginCapture_v2, (uintptr_t stream, int32_t mode), (stream, mode)) \
	X(cuStreamEndCapture, (uintptr_t stream, uintptr_t *graph), (stream, graph)) \
	X(cuGraphInstantiateWithFlags, (uintptr_t *exec, uintptr_t graph, uint64_t flags), (exec, graph, flags)) \
	X(cuGraphLaunch, (uintptr_t exec, uintptr_t stream), (exec, stream)) \
	X(cuGraphExecDestroy, (uintptr_t exec), (exec)) \
	X(cuGraphDestroy, (uintptr_t graph), (graph))

// libcublas. Where a name ends in _v2, the name without it is an older interface.
#define NV_CUBLAS_REQUIRED(X) \
	X(cublasCreate_v2, (uintptr_t *handle), (handle)) \
	X(cublasDestroy_v2, (uintptr_t handle), (handle)) \
	X(cublasSetStream_v2, (uintptr_t handle, uintptr_t stream), (handle, stream)) \
	X(cublasSetWorkspace_v2, (uintptr_t handle, uint64_t workspace, uint64_t bytes), (handle, workspace, bytes)) \
	X(cublasSetMathMode, (uintptr_t handle, int32_t mode), (handle, mode)) \
	X(cublasSetPointerMode_v2, (uintptr_t handle, int32_t mode), (handle, mode)) \
	X(cublasGetProperty, (int32_t property, int32_t *value), (property, value)) \
	X(cublasDtrsm_v2, (uintptr_t handle, int32_t side, int32_t uplo, int32_t ta, int32_t diag, int32_t m, int32_t n, \
		const double *alpha, uint64_t a, int32_t lda, uint64_t b, int32_t ldb), \
		(handle, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb)) \
	NV_CUBLAS_REAL(X, S, float) \
	NV_CUBLAS_REAL(X, D, double)

#define NV_CUBLAS_REAL(X, P, T) \
	X(cublas##P##gemm_v2, (uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, \
		const T *alpha, uint64_t a, int32_t lda, uint64_t b, int32_t ldb, const T *beta, uint64_t c, int32_t ldc), \
		(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) \
	X(cublas##P##gemv_v2, (uintptr_t handle, int32_t ta, int32_t m, int32_t n, \
		const T *alpha, uint64_t a, int32_t lda, uint64_t x, int32_t incx, const T *beta, uint64_t y, int32_t incy), \
		(handle, ta, m, n, alpha, a, lda, x, incx, beta, y, incy)) \
	X(cublas##P##geam, (uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, \
		const T *alpha, uint64_t a, int32_t lda, const T *beta, uint64_t b, int32_t ldb, uint64_t c, int32_t ldc), \
		(handle, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc))

// libcusolver. All solves are float64.
#define NV_CUSOLVER_REQUIRED(X) \
	X(cusolverDnCreate, (uintptr_t *handle), (handle)) \
	X(cusolverDnDestroy, (uintptr_t handle), (handle)) \
	X(cusolverDnSetStream, (uintptr_t handle, uintptr_t stream), (handle, stream)) \
	X(cusolverGetProperty, (int32_t property, int32_t *value), (property, value)) \
	X(cusolverDnDgesvd_bufferSize, (uintptr_t handle, int32_t m, int32_t n, int32_t *lwork), (handle, m, n, lwork)) \
	X(cusolverDnDgesvd, (uintptr_t handle, int8_t jobu, int8_t jobvt, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t s, uint64_t u, \
		int32_t ldu, uint64_t vt, int32_t ldvt, uint64_t work, int32_t lwork, uint64_t rwork, uint64_t info), \
		(handle, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork, info)) \
	X(cusolverDnDpotrf_bufferSize, (uintptr_t handle, int32_t uplo, int32_t n, uint64_t a, int32_t lda, int32_t *lwork), \
		(handle, uplo, n, a, lda, lwork)) \
	X(cusolverDnDpotrf, (uintptr_t handle, int32_t uplo, int32_t n, uint64_t a, int32_t lda, uint64_t work, int32_t lwork, uint64_t info), \
		(handle, uplo, n, a, lda, work, lwork, info)) \
	X(cusolverDnDpotrs, (uintptr_t handle, int32_t uplo, int32_t n, int32_t nrhs, uint64_t a, int32_t lda, uint64_t b, int32_t ldb, \
		uint64_t info), (handle, uplo, n, nrhs, a, lda, b, ldb, info))

// libnvrtc.
#define NV_NVRTC_REQUIRED(X) \
	X(nvrtcVersion, (int32_t *major, int32_t *minor), (major, minor)) \
	X(nvrtcCreateProgram, (uintptr_t *program, const char *source, const char *name, int32_t n, const char *const *headers, \
		const char *const *names), (program, source, name, n, headers, names)) \
	X(nvrtcCompileProgram, (uintptr_t program, int32_t n, const char *const *options), (program, n, options)) \
	X(nvrtcDestroyProgram, (uintptr_t *program), (program)) \
	X(nvrtcGetCUBINSize, (uintptr_t program, uint64_t *bytes), (program, bytes)) \
	X(nvrtcGetCUBIN, (uintptr_t program, char *cubin), (program, cubin)) \
	X(nvrtcGetProgramLogSize, (uintptr_t program, uint64_t *bytes), (program, bytes)) \
	X(nvrtcGetProgramLog, (uintptr_t program, char *log), (program, log))

#define NV_NVRTC_OPTIONAL(X) \
	X(nvrtcGetNumSupportedArchs, (int32_t *n), (n)) \
	X(nvrtcGetSupportedArchs, (int32_t *archs), (archs)) \
	X(nvrtcGetPTXSize, (uintptr_t program, uint64_t *bytes), (program, bytes)) \
	X(nvrtcGetPTX, (uintptr_t program, char *ptx), (program, ptx))

// These return a name or a text instead of a status.
//   X(library, name)
#define NV_TEXTS(X) \
	X(NV_CUBLAS, cublasGetStatusName) \
	X(NV_CUBLAS, cublasGetStatusString) \
	X(NV_NVRTC, nvrtcGetErrorString)

#define NV_FUNCTIONS(X) \
	NV_DRIVER_REQUIRED(X) NV_DRIVER_OPTIONAL(X) NV_DRIVER_GRAPH(X) \
	NV_CUBLAS_REQUIRED(X) \
	NV_CUSOLVER_REQUIRED(X) \
	NV_NVRTC_REQUIRED(X) NV_NVRTC_OPTIONAL(X)

#endif
