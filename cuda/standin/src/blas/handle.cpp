#include "blas/handle.hpp"

#include "core/module.hpp"

namespace standin {

static Table<BlasHandle>& handles() {
  static auto* t = new Table<BlasHandle>(kBlasHandles);
  return *t;
}

int blas_handle(uintptr_t handle, BlasHandle** out) {
  *out = handles().find(reinterpret_cast<const void*>(handle));
  if (*out == nullptr) return kBlasNotInitialized;
  Context* ctx = nullptr;
  if (current(&ctx) != 0 || ctx != (*out)->ctx) return kBlasExecution;
  return kBlasOk;
}

int blas_submit(BlasHandle* h, bool workspace, Work run) {
  Stream* s = h->stream.get();
  if (workspace && s->capture != nullptr && h->workspace == 0) {
    invalidate(s->capture.get());
    return kBlasExecution;
  }
  const uintptr_t at = h->workspace;
  const size_t bytes = h->workspace_bytes;
  const int code = enqueue(s, counted([=, run = std::move(run)]() -> int {
    if (workspace && at != 0 && !on_device(at, bytes)) {
      misuse(kBadPointer);
      note_misuse("the workspace of cuBLAS was freed before its work ran");
      return kIllegalAddress;
    }
    const int failed = run();
    if (failed == kIllegalAddress) {
      misuse(kBadPointer);
      note_misuse("an operand of cuBLAS is not in device memory");
    }
    return failed;
  }));
  return code == 0 ? kBlasOk : kBlasExecution;
}

}  // namespace standin

using namespace standin;

namespace {

// A call that neither runs nor queues anything works in a failed context too.
BlasHandle* any(uintptr_t handle) { return handles().find(reinterpret_cast<const void*>(handle)); }

int version() { return state().version[kBlas] != 0 ? state().version[kBlas] : standin_library.family; }

}  // namespace

int32_t cublasCreate_v2(uintptr_t* handle) {
  ENTER(int32_t);
  if (handle == nullptr) return kBlasInvalid;
  Context* ctx = nullptr;
  if (current(&ctx) != 0 || unsafe_call() != 0) return kBlasNotInitialized;
  auto h = std::make_shared<BlasHandle>();
  h->ctx = ctx;
  h->stream = ctx->null_stream;
  *handle = reinterpret_cast<uintptr_t>(handles().add(h));
  return kBlasOk;
}

static int32_t destroy(uintptr_t handle) {
  BlasHandle* h = any(handle);
  if (h == nullptr) return kBlasNotInitialized;
  Context* ctx = nullptr;
  const bool works = current(&ctx) == 0 && ctx == h->ctx;
  if (works && h->stream->capture == nullptr) drain(h->stream.get());
  handles().remove(h);
  return works ? kBlasOk : kBlasExecution;
}

int32_t cublasDestroy_v2(uintptr_t handle) { RELEASE(int32_t, destroy(handle)); }

// As the real one, it forgets the workspace.
int32_t cublasSetStream_v2(uintptr_t handle, uintptr_t stream) {
  ENTER(int32_t);
  NEED_BLAS(handle, h);
  std::shared_ptr<Stream> s = stream <= 1 ? h->ctx->null_stream : streams().share(reinterpret_cast<const void*>(stream));
  if (s == nullptr || s->ctx != h->ctx) return kBlasMapping;
  h->stream = s;
  h->workspace = 0;
  h->workspace_bytes = 0;
  return kBlasOk;
}

int32_t cublasSetWorkspace_v2(uintptr_t handle, uint64_t workspace, uint64_t bytes) {
  ENTER(int32_t);
  NEED_BLAS(handle, h);
  if (workspace % 256 != 0 || (workspace != 0 && !on_device(workspace, bytes))) return kBlasInvalid;
  h->workspace = workspace;
  h->workspace_bytes = bytes;
  return kBlasOk;
}

int32_t cublasSetMathMode(uintptr_t handle, int32_t mode) {
  ENTER(int32_t);
  NEED_BLAS(handle, h);
  const int32_t base = mode & 15;
  if (mode < 0 || mode > 31 || (base > 3 && base != 8)) return kBlasInvalid;
  h->math = base;
  return kBlasOk;
}

int32_t cublasSetPointerMode_v2(uintptr_t handle, int32_t mode) {
  ENTER(int32_t);
  NEED_BLAS(handle, h);
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
