#include "solver/handle.hpp"

#include <algorithm>
#include <limits>

#include "core/module.hpp"

namespace standin {

static Table<SolverHandle>& handles() {
  static auto* t = new Table<SolverHandle>(kSolverHandles);
  return *t;
}

int solver_handle(uintptr_t handle, SolverHandle** out) {
  *out = handles().find(reinterpret_cast<const void*>(handle));
  if (*out == nullptr) return kSolverNotInitialized;
  Context* ctx = nullptr;
  if (current(&ctx) != 0 || ctx != (*out)->ctx) return kSolverExecution;
  return kSolverOk;
}

int solver_submit(SolverHandle* h, Work run) {
  Stream* s = h->stream.get();
  if (s->capture != nullptr) {
    invalidate(s->capture.get());
    return kSolverExecution;
  }
  const int code = enqueue(s, counted([run = std::move(run)]() -> int {
    const int failed = run();
    if (failed == kIllegalAddress) {
      misuse(kBadPointer);
      note_misuse("an operand of cuSOLVER is not in device memory");
    }
    return failed;
  }));
  return code == 0 ? kSolverOk : kSolverExecution;
}

Matrix load(uint64_t p, int64_t rows, int64_t columns, int64_t stride) {
  Matrix out(rows, columns);
  for (int64_t j = 0; j < columns; j++) std::copy_n(reinterpret_cast<const double*>(p) + j * stride, rows, out.column(j));
  return out;
}

void store(const Matrix& from, int64_t rows, int64_t columns, uint64_t p, int64_t stride) {
  for (int64_t j = 0; j < columns; j++) std::copy_n(from.column(j), rows, reinterpret_cast<double*>(p) + j * stride);
}

void put_info(uint64_t p, int32_t value) { *reinterpret_cast<int32_t*>(p) = value; }

void spoil(uint64_t p, int64_t rows, int64_t columns, int64_t stride) {
  for (int64_t j = 0; j < columns; j++)
    std::fill_n(reinterpret_cast<double*>(p) + j * stride, rows, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace standin

using namespace standin;

int32_t cusolverDnCreate(uintptr_t* handle) {
  ENTER(int32_t);
  if (handle == nullptr) return kSolverInvalid;
  Context* ctx = nullptr;
  if (current(&ctx) != 0 || unsafe_call() != 0) return kSolverNotInitialized;
  auto h = std::make_shared<SolverHandle>();
  h->ctx = ctx;
  h->stream = ctx->null_stream;
  *handle = reinterpret_cast<uintptr_t>(handles().add(h));
  return kSolverOk;
}

static int32_t destroy(uintptr_t handle) {
  SolverHandle* h = handles().find(reinterpret_cast<const void*>(handle));
  if (h == nullptr) return kSolverNotInitialized;
  Context* ctx = nullptr;
  const bool works = current(&ctx) == 0 && ctx == h->ctx;
  handles().remove(h);
  return works ? kSolverOk : kSolverExecution;
}

int32_t cusolverDnDestroy(uintptr_t handle) { RELEASE(int32_t, destroy(handle)); }

int32_t cusolverDnSetStream(uintptr_t handle, uintptr_t stream) {
  ENTER(int32_t);
  NEED_SOLVER(handle, h);
  std::shared_ptr<Stream> s = stream <= 1 ? h->ctx->null_stream : streams().share(reinterpret_cast<const void*>(stream));
  if (s == nullptr || s->ctx != h->ctx) return kSolverInvalid;
  h->stream = s;
  return kSolverOk;
}

// cuSOLVER counts one behind CUDA: 11 with CUDA 12.
int32_t cusolverGetProperty(int32_t property, int32_t* value) {
  ENTER(int32_t);
  if (property < 0 || property > 2 || value == nullptr) return kSolverInvalid;
  const int major = state().version[kSolver] != 0 ? state().version[kSolver] : standin_library.family - 1;
  const int late[3] = {major, major == 11 ? 7 : 0, 3};  // of CUDA 12.8, and 13.0
  *value = late[property];
  return kSolverOk;
}
