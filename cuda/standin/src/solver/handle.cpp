#include "solver/handle.hpp"

#include <algorithm>
#include <limits>

namespace standin {

static STANDIN_TABLE(handles, Handle, kSolverHandles)

int solver_handle(uintptr_t handle, Handle** out) {
  *out = handles().find(reinterpret_cast<const void*>(handle));
  if (*out == nullptr) return kSolverNotInitialized;
  return working(*out) ? kSolverOk : kSolverExecution;
}

int solver_submit(Handle* h, Work run) {
  Stream* s = h->stream.get();
  if (s->capture != nullptr) {
    invalidate(s->capture.get());
    return kSolverExecution;
  }
  return submit(h, std::move(run)) ? kSolverOk : kSolverExecution;
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
  const Made made = make(handles(), handle);
  return made == Made::kDone ? kSolverOk : made == Made::kNoMemory ? kSolverAllocFailed : kSolverNotInitialized;
}

static int32_t destroy(uintptr_t handle) {
  Handle* h = handles().find(reinterpret_cast<const void*>(handle));
  if (h == nullptr) return kSolverNotInitialized;
  const bool works = working(h);
  if (works) disturb(h->ctx);
  handles().remove(h);
  return works ? kSolverOk : kSolverExecution;
}

int32_t cusolverDnDestroy(uintptr_t handle) { RELEASE(int32_t, destroy(handle)); }

int32_t cusolverDnSetStream(uintptr_t handle, uintptr_t stream) {
  ENTER_SOLVER(handle, h);
  return set_stream(h, stream) ? kSolverOk : kSolverInvalid;
}

// cuSOLVER's major version is one behind CUDA's: 11 with CUDA 12.
int32_t cusolverGetProperty(int32_t property, int32_t* value) {
  ENTER(int32_t);
  if (property < 0 || property > 2 || value == nullptr) return kSolverInvalid;
  const int major = state().version[kSolver] != 0 ? state().version[kSolver] : standin_library.family - 1;
  const int late[3] = {major, major == 11 ? 7 : 0, 3};  // the versions of CUDA 12.8 and 13.0
  *value = late[property];
  return kSolverOk;
}
