#include "blas/handle.hpp"

namespace standin {

static STANDIN_TABLE(handles, BlasHandle, kBlasHandles)

int blas_handle(uintptr_t handle, BlasHandle** out) {
  *out = handles().find(reinterpret_cast<const void*>(handle));
  if (*out == nullptr) return kBlasNotInitialized;
  return working(*out) ? kBlasOk : kBlasExecution;
}

int blas_submit(BlasHandle* h, bool workspace, Work run) {
  Stream* s = h->stream.get();
  if (workspace && s->capture != nullptr && h->workspace == 0) {
    invalidate(s->capture.get());
    return kBlasExecution;
  }
  const uintptr_t at = h->workspace;
  const size_t bytes = h->workspace_bytes;
  const bool queued = submit(h, [=, run = std::move(run)]() -> int {
    return workspace && at != 0 && !on_device(at, bytes) ? misused("the workspace of cuBLAS was freed before its work ran") : run();
  });
  return queued ? kBlasOk : kBlasExecution;
}

}  // namespace standin

using namespace standin;

namespace {

// any returns a handle even if its context has failed, or nullptr.
BlasHandle* any(uintptr_t handle) { return handles().find(reinterpret_cast<const void*>(handle)); }

int version() { return state().version[kBlas] != 0 ? state().version[kBlas] : standin_library.family; }

}  // namespace

int32_t cublasCreate_v2(uintptr_t* handle) {
  ENTER(int32_t);
  if (handle == nullptr) return kBlasInvalid;
  const Made made = make(handles(), handle);
  return made == Made::kDone ? kBlasOk : made == Made::kNoMemory ? kBlasAllocFailed : kBlasNotInitialized;
}

static int32_t destroy(uintptr_t handle) {
  BlasHandle* h = any(handle);
  if (h == nullptr) return kBlasNotInitialized;
  const bool works = working(h);
  if (works && h->stream->capture == nullptr) {
    disturb(h->ctx);
    drain(h->ctx);  // waits for all streams
  }
  handles().remove(h);
  return works ? kBlasOk : kBlasExecution;
}

int32_t cublasDestroy_v2(uintptr_t handle) { RELEASE(int32_t, destroy(handle)); }

// Like cuBLAS itself, it resets the workspace.
int32_t cublasSetStream_v2(uintptr_t handle, uintptr_t stream) {
  ENTER_BLAS(handle, h);
  if (!set_stream(h, stream)) return kBlasMapping;
  h->workspace = 0;
  h->workspace_bytes = 0;
  return kBlasOk;
}

int32_t cublasSetWorkspace_v2(uintptr_t handle, uint64_t workspace, uint64_t bytes) {
  ENTER_BLAS(handle, h);
  if (workspace % 256 != 0 || (workspace != 0 && !on_device(workspace, bytes))) return kBlasInvalid;
  h->workspace = workspace;
  h->workspace_bytes = bytes;
  return kBlasOk;
}

int32_t cublasSetMathMode(uintptr_t handle, int32_t mode) {
  ENTER_BLAS(handle, h);
  const int32_t base = mode & 15;
  if (mode < 0 || mode > 31 || (base > 3 && base != 8)) return kBlasInvalid;
  h->math = base;
  return kBlasOk;
}

int32_t cublasSetPointerMode_v2(uintptr_t handle, int32_t mode) {
  ENTER_BLAS(handle, h);
  if (mode != 0 && mode != 1) return kBlasInvalid;
  h->device_scalars = mode == 1;
  return kBlasOk;
}

int32_t cublasGetProperty(int32_t property, int32_t* value) {
  ENTER(int32_t);
  if (property < 0 || property > 2 || value == nullptr) return kBlasInvalid;
  *value = property == 0 ? version() : property == 1 ? 1 : 0;
  return kBlasOk;
}

namespace {

const struct {
  int32_t code;
  const char *name, *text;
} kTexts[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the requested functionality is not supported on this device"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
};

}  // namespace

const char* cublasGetStatusName(int32_t status) {
  for (const auto& t : kTexts)
    if (t.code == status) return t.name;
  return "CUBLAS_STATUS unknown";
}

const char* cublasGetStatusString(int32_t status) {
  for (const auto& t : kTexts)
    if (t.code == status) return t.text;
  return "unknown";
}
