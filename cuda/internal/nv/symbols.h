// The functions taken from the CUDA libraries, declared by hand with fixed-width
// types, under the names that the libraries export (cuda.h and cublas_v2.h map
// plain names to some of these by macros, and to other ones in other releases).
//
//   X(name, parameters, arguments)
//
// Every function returns a 32-bit status. Handles are pointers that are never
// followed here and so are declared uintptr_t; enumerations are int32_t; device
// addresses are uint64_t in the driver API and in the libraries alike.
// A test compiles these declarations against NVIDIA's own headers.

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
	X(cuCtxGetCurrent, (uintptr_t *ctx), (ctx)) \
	X(cuMemGetInfo_v2, (uint64_t *free, uint64_t *total), (free, total)) \
	X(cuMemAlloc_v2, (uint64_t *p, uint64_t bytes), (p, bytes)) \
	X(cuMemFree_v2, (uint64_t p), (p)) \
	X(cuMemHostAlloc, (void **p, uint64_t bytes, uint32_t flags), (p, bytes, flags)) \
	X(cuMemFreeHost, (void *p), (p)) \
	X(cuMemcpyHtoD_v2, (uint64_t dst, const void *src, uint64_t bytes), (dst, src, bytes)) \
	X(cuMemcpyDtoH_v2, (void *dst, uint64_t src, uint64_t bytes), (dst, src, bytes)) \
	X(cuMemcpyDtoD_v2, (uint64_t dst, uint64_t src, uint64_t bytes), (dst, src, bytes)) \
	X(cuMemcpyHtoDAsync_v2, (uint64_t dst, const void *src, uint64_t bytes, uintptr_t stream), (dst, src, bytes, stream)) \
	X(cuMemcpyDtoHAsync_v2, (void *dst, uint64_t src, uint64_t bytes, uintptr_t stream), (dst, src, bytes, stream)) \
	X(cuMemcpyDtoDAsync_v2, (uint64_t dst, uint64_t src, uint64_t bytes, uintptr_t stream), (dst, src, bytes, stream)) \
	X(cuMemsetD8_v2, (uint64_t p, uint8_t value, uint64_t n), (p, value, n)) \
	X(cuMemsetD32_v2, (uint64_t p, uint32_t value, uint64_t n), (p, value, n)) \
	X(cuMemsetD8Async, (uint64_t p, uint8_t value, uint64_t n, uintptr_t stream), (p, value, n, stream)) \
	X(cuMemsetD32Async, (uint64_t p, uint32_t value, uint64_t n, uintptr_t stream), (p, value, n, stream)) \
	X(cuStreamCreate, (uintptr_t *stream, uint32_t flags), (stream, flags)) \
	X(cuStreamDestroy_v2, (uintptr_t stream), (stream)) \
	X(cuStreamSynchronize, (uintptr_t stream), (stream)) \
	X(cuStreamWaitEvent, (uintptr_t stream, uintptr_t event, uint32_t flags), (stream, event, flags)) \
	X(cuEventCreate, (uintptr_t *event, uint32_t flags), (event, flags)) \
	X(cuEventDestroy_v2, (uintptr_t event), (event)) \
	X(cuEventRecord, (uintptr_t event, uintptr_t stream), (event, stream)) \
	X(cuEventSynchronize, (uintptr_t event), (event)) \
	X(cuEventElapsedTime, (float *ms, uintptr_t start, uintptr_t end), (ms, start, end)) \
	X(cuModuleLoadData, (uintptr_t *module, const void *image), (module, image)) \
	X(cuModuleUnload, (uintptr_t module), (module)) \
	X(cuModuleGetFunction, (uintptr_t *function, uintptr_t module, const char *name), (function, module, name)) \
	X(cuLaunchKernel, (uintptr_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, \
		uint32_t shared, uintptr_t stream, void **params, void **extra), \
		(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra))

// Required too, apart because C has no list of parameters that is empty and can be added to.
#define NV_DRIVER_PLAIN(X) X(cuCtxSynchronize, (void), ())

// Each of these is used where it is there.
#define NV_DRIVER_OPTIONAL(X) \
	X(cuDeviceGetUuid_v2, (uint8_t *uuid, int32_t device), (uuid, device)) \
	X(cuDeviceGetUuid, (uint8_t *uuid, int32_t device), (uuid, device)) \
	X(cuDeviceGetPCIBusId, (char *id, int32_t len, int32_t device), (id, len, device)) \
	X(cuDevicePrimaryCtxSetFlags_v2, (int32_t device, uint32_t flags), (device, flags)) \
	X(cuDevicePrimaryCtxGetState, (int32_t device, uint32_t *flags, int32_t *active), (device, flags, active)) \
	X(cuStreamQuery, (uintptr_t stream), (stream)) \
	X(cuStreamCreateWithPriority, (uintptr_t *stream, uint32_t flags, int32_t priority), (stream, flags, priority)) \
	X(cuCtxGetStreamPriorityRange, (int32_t *least, int32_t *greatest), (least, greatest)) \
	X(cuEventQuery, (uintptr_t event), (event)) \
	X(cuModuleLoadDataEx, (uintptr_t *module, const void *image, uint32_t n, int32_t *options, void **values), \
		(module, image, n, options, values)) \
	X(cuModuleGetGlobal_v2, (uint64_t *p, uint64_t *bytes, uintptr_t module, const char *name), (p, bytes, module, name)) \
	X(cuFuncGetAttribute, (int32_t *value, int32_t attribute, uintptr_t function), (value, attribute, function)) \
	X(cuFuncSetAttribute, (uintptr_t function, int32_t attribute, int32_t value), (function, attribute, value)) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int32_t *blocks, uintptr_t function, int32_t block, uint64_t shared), \
		(blocks, function, block, shared)) \
	X(cuOccupancyMaxPotentialBlockSize, (int32_t *min_grid, int32_t *block, uintptr_t function, uintptr_t size_of, uint64_t shared, int32_t limit), \
		(min_grid, block, function, size_of, shared, limit))

// The stream-ordered memory pool: all of these or none.
#define NV_DRIVER_POOL(X) \
	X(cuMemAllocAsync, (uint64_t *p, uint64_t bytes, uintptr_t stream), (p, bytes, stream)) \
	X(cuMemFreeAsync, (uint64_t p, uintptr_t stream), (p, stream)) \
	X(cuDeviceGetDefaultMemPool, (uintptr_t *pool, int32_t device), (pool, device)) \
	X(cuMemPoolSetAttribute, (uintptr_t pool, int32_t attribute, void *value), (pool, attribute, value)) \
	X(cuMemPoolGetAttribute, (uintptr_t pool, int32_t attribute, void *value), (pool, attribute, value)) \
	X(cuMemPoolTrimTo, (uintptr_t pool, uint64_t keep), (pool, keep))

// Graphs: all of these or none.
#define NV_DRIVER_GRAPH(X) \
	X(cuStreamBeginCapture_v2, (uintptr_t stream, int32_t mode), (stream, mode)) \
	X(cuStreamEndCapture, (uintptr_t stream, uintptr_t *graph), (stream, graph)) \
	X(cuStreamIsCapturing, (uintptr_t stream, int32_t *status), (stream, status)) \
	X(cuThreadExchangeStreamCaptureMode, (int32_t *mode), (mode)) \
	X(cuGraphInstantiateWithFlags, (uintptr_t *exec, uintptr_t graph, uint64_t flags), (exec, graph, flags)) \
	X(cuGraphLaunch, (uintptr_t exec, uintptr_t stream), (exec, stream)) \
	X(cuGraphUpload, (uintptr_t exec, uintptr_t stream), (exec, stream)) \
	X(cuGraphExecUpdate_v2, (uintptr_t exec, uintptr_t graph, nv_graph_update *info), (exec, graph, info)) \
	X(cuGraphExecDestroy, (uintptr_t exec), (exec)) \
	X(cuGraphDestroy, (uintptr_t graph), (graph)) \
	X(cuGraphDebugDotPrint, (uintptr_t graph, const char *path, uint32_t flags), (graph, path, flags))

// libcublas. The plain names of the functions with _v2 are an older interface.
#define NV_CUBLAS_REQUIRED(X) \
	X(cublasCreate_v2, (uintptr_t *handle), (handle)) \
	X(cublasDestroy_v2, (uintptr_t handle), (handle)) \
	X(cublasSetStream_v2, (uintptr_t handle, uintptr_t stream), (handle, stream)) \
	X(cublasSetWorkspace_v2, (uintptr_t handle, uint64_t workspace, uint64_t bytes), (handle, workspace, bytes)) \
	X(cublasSetMathMode, (uintptr_t handle, int32_t mode), (handle, mode)) \
	X(cublasSetPointerMode_v2, (uintptr_t handle, int32_t mode), (handle, mode)) \
	X(cublasGetProperty, (int32_t property, int32_t *value), (property, value)) \
	NV_CUBLAS_REAL(X, S, float) \
	NV_CUBLAS_REAL(X, D, double) \
	X(cublasGemmEx, (uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, const void *alpha, uint64_t a, int32_t at, int32_t lda, \
		uint64_t b, int32_t bt, int32_t ldb, const void *beta, uint64_t c, int32_t ct, int32_t ldc, int32_t compute, int32_t algo), \
		(handle, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, compute, algo)) \
	X(cublasGemmStridedBatchedEx, (uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, \
		const void *alpha, uint64_t a, int32_t at, int32_t lda, int64_t sa, uint64_t b, int32_t bt, int32_t ldb, int64_t sb, \
		const void *beta, uint64_t c, int32_t ct, int32_t ldc, int64_t sc, int32_t batch, int32_t compute, int32_t algo), \
		(handle, ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb, beta, c, ct, ldc, sc, batch, compute, algo))

#define NV_CUBLAS_REAL(X, P, T) \
	X(cublas##P##gemm_v2, (uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, \
		const T *alpha, uint64_t a, int32_t lda, uint64_t b, int32_t ldb, const T *beta, uint64_t c, int32_t ldc), \
		(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) \
	X(cublas##P##gemmStridedBatched, (uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, \
		const T *alpha, uint64_t a, int32_t lda, int64_t sa, uint64_t b, int32_t ldb, int64_t sb, const T *beta, uint64_t c, int32_t ldc, int64_t sc, int32_t batch), \
		(handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch)) \
	X(cublas##P##gemv_v2, (uintptr_t handle, int32_t ta, int32_t m, int32_t n, \
		const T *alpha, uint64_t a, int32_t lda, uint64_t x, int32_t incx, const T *beta, uint64_t y, int32_t incy), \
		(handle, ta, m, n, alpha, a, lda, x, incx, beta, y, incy)) \
	X(cublas##P##axpy_v2, (uintptr_t handle, int32_t n, const T *alpha, uint64_t x, int32_t incx, uint64_t y, int32_t incy), \
		(handle, n, alpha, x, incx, y, incy)) \
	X(cublas##P##scal_v2, (uintptr_t handle, int32_t n, const T *alpha, uint64_t x, int32_t incx), (handle, n, alpha, x, incx)) \
	X(cublas##P##nrm2_v2, (uintptr_t handle, int32_t n, uint64_t x, int32_t incx, uint64_t result), (handle, n, x, incx, result)) \
	X(cublas##P##dot_v2, (uintptr_t handle, int32_t n, uint64_t x, int32_t incx, uint64_t y, int32_t incy, uint64_t result), \
		(handle, n, x, incx, y, incy, result)) \
	X(cublas##P##dgmm, (uintptr_t handle, int32_t side, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t x, int32_t incx, uint64_t c, int32_t ldc), \
		(handle, side, m, n, a, lda, x, incx, c, ldc)) \
	X(cublas##P##geam, (uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, \
		const T *alpha, uint64_t a, int32_t lda, const T *beta, uint64_t b, int32_t ldb, uint64_t c, int32_t ldc), \
		(handle, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc))

#define NV_CUBLAS_OPTIONAL(X) \
	X(cublasGetVersion_v2, (uintptr_t handle, int32_t *version), (handle, version)) \
	X(cublasSetAtomicsMode, (uintptr_t handle, int32_t mode), (handle, mode)) \
	NV_CUBLAS_REAL_OPTIONAL(X, S, float) \
	NV_CUBLAS_REAL_OPTIONAL(X, D, double)

#define NV_CUBLAS_REAL_OPTIONAL(X, P, T) \
	X(cublas##P##gemm_v2_64, (uintptr_t handle, int32_t ta, int32_t tb, int64_t m, int64_t n, int64_t k, \
		const T *alpha, uint64_t a, int64_t lda, uint64_t b, int64_t ldb, const T *beta, uint64_t c, int64_t ldc), \
		(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) \
	X(cublas##P##syrk_v2, (uintptr_t handle, int32_t uplo, int32_t trans, int32_t n, int32_t k, \
		const T *alpha, uint64_t a, int32_t lda, const T *beta, uint64_t c, int32_t ldc), \
		(handle, uplo, trans, n, k, alpha, a, lda, beta, c, ldc)) \
	X(cublas##P##trsm_v2, (uintptr_t handle, int32_t side, int32_t uplo, int32_t trans, int32_t diag, int32_t m, int32_t n, \
		const T *alpha, uint64_t a, int32_t lda, uint64_t b, int32_t ldb), \
		(handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb))

// libcusolver. All solves are float64.
#define NV_CUSOLVER_REQUIRED(X) \
	X(cusolverDnCreate, (uintptr_t *handle), (handle)) \
	X(cusolverDnDestroy, (uintptr_t handle), (handle)) \
	X(cusolverDnSetStream, (uintptr_t handle, uintptr_t stream), (handle, stream)) \
	X(cusolverGetProperty, (int32_t property, int32_t *value), (property, value)) \
	X(cusolverDnDgesvd_bufferSize, (uintptr_t handle, int32_t m, int32_t n, int32_t *lwork), (handle, m, n, lwork)) \
	X(cusolverDnDgesvd, (uintptr_t handle, int8_t jobu, int8_t jobvt, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t s, uint64_t u, int32_t ldu, \
		uint64_t vt, int32_t ldvt, uint64_t work, int32_t lwork, uint64_t rwork, uint64_t info), \
		(handle, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork, info)) \
	X(cusolverDnDsyevd_bufferSize, (uintptr_t handle, int32_t jobz, int32_t uplo, int32_t n, uint64_t a, int32_t lda, uint64_t w, int32_t *lwork), \
		(handle, jobz, uplo, n, a, lda, w, lwork)) \
	X(cusolverDnDsyevd, (uintptr_t handle, int32_t jobz, int32_t uplo, int32_t n, uint64_t a, int32_t lda, uint64_t w, uint64_t work, int32_t lwork, uint64_t info), \
		(handle, jobz, uplo, n, a, lda, w, work, lwork, info)) \
	X(cusolverDnDpotrf_bufferSize, (uintptr_t handle, int32_t uplo, int32_t n, uint64_t a, int32_t lda, int32_t *lwork), (handle, uplo, n, a, lda, lwork)) \
	X(cusolverDnDpotrf, (uintptr_t handle, int32_t uplo, int32_t n, uint64_t a, int32_t lda, uint64_t work, int32_t lwork, uint64_t info), \
		(handle, uplo, n, a, lda, work, lwork, info)) \
	X(cusolverDnDpotrs, (uintptr_t handle, int32_t uplo, int32_t n, int32_t nrhs, uint64_t a, int32_t lda, uint64_t b, int32_t ldb, uint64_t info), \
		(handle, uplo, n, nrhs, a, lda, b, ldb, info))

#define NV_CUSOLVER_OPTIONAL(X) \
	X(cusolverDnSetDeterministicMode, (uintptr_t handle, int32_t mode), (handle, mode))

// Singular values by Jacobi rotations: all of these or none.
#define NV_CUSOLVER_JACOBI(X) \
	X(cusolverDnCreateGesvdjInfo, (uintptr_t *info), (info)) \
	X(cusolverDnDestroyGesvdjInfo, (uintptr_t info), (info)) \
	X(cusolverDnXgesvdjSetTolerance, (uintptr_t info, double tolerance), (info, tolerance)) \
	X(cusolverDnXgesvdjSetMaxSweeps, (uintptr_t info, int32_t sweeps), (info, sweeps)) \
	X(cusolverDnXgesvdjSetSortEig, (uintptr_t info, int32_t sort), (info, sort)) \
	X(cusolverDnXgesvdjGetSweeps, (uintptr_t handle, uintptr_t info, int32_t *sweeps), (handle, info, sweeps)) \
	X(cusolverDnXgesvdjGetResidual, (uintptr_t handle, uintptr_t info, double *residual), (handle, info, residual)) \
	X(cusolverDnDgesvdj_bufferSize, (uintptr_t handle, int32_t jobz, int32_t econ, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t s, \
		uint64_t u, int32_t ldu, uint64_t v, int32_t ldv, int32_t *lwork, uintptr_t params), \
		(handle, jobz, econ, m, n, a, lda, s, u, ldu, v, ldv, lwork, params)) \
	X(cusolverDnDgesvdj, (uintptr_t handle, int32_t jobz, int32_t econ, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t s, \
		uint64_t u, int32_t ldu, uint64_t v, int32_t ldv, uint64_t work, int32_t lwork, uint64_t info, uintptr_t params), \
		(handle, jobz, econ, m, n, a, lda, s, u, ldu, v, ldv, work, lwork, info, params))

// libnvrtc.
#define NV_NVRTC_REQUIRED(X) \
	X(nvrtcVersion, (int32_t *major, int32_t *minor), (major, minor)) \
	X(nvrtcCreateProgram, (uintptr_t *program, const char *source, const char *name, int32_t n, const char *const *headers, const char *const *names), \
		(program, source, name, n, headers, names)) \
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

#define NV_WITH_PARAMETERS(X) \
	NV_DRIVER_REQUIRED(X) NV_DRIVER_OPTIONAL(X) NV_DRIVER_POOL(X) NV_DRIVER_GRAPH(X) \
	NV_CUBLAS_REQUIRED(X) NV_CUBLAS_OPTIONAL(X) \
	NV_CUSOLVER_REQUIRED(X) NV_CUSOLVER_OPTIONAL(X) NV_CUSOLVER_JACOBI(X) \
	NV_NVRTC_REQUIRED(X) NV_NVRTC_OPTIONAL(X)

#define NV_FUNCTIONS(X) NV_DRIVER_PLAIN(X) NV_WITH_PARAMETERS(X)

#endif
