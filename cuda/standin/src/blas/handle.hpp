#pragma once

#include "core/handle.hpp"

namespace standin {

enum BlasStatus {
  kBlasOk = 0,
  kBlasNotInitialized = 1,
  kBlasAllocFailed = 3,
  kBlasInvalid = 7,
  kBlasMapping = 11,
  kBlasExecution = 13,
};

struct BlasHandle : Handle {
  uintptr_t workspace = 0;
  size_t workspace_bytes = 0;
  int math = 0;
  bool device_scalars = false;
};

// blas_handle finds a handle, and returns an error unless its context is current and works.
int blas_handle(uintptr_t h, BlasHandle** out);

// blas_submit appends work to the handle's stream. Work that needs a workspace fails in a
// capture unless the handle was given one.
int blas_submit(BlasHandle* h, bool workspace, Work run);

inline int foreign() { return misused("an operand of cuBLAS is not in device memory"); }

// Scalar holds a scalar's value, or its place on the device, where it is read when the
// work runs.
template <class T>
struct Scalar {
  T value;
  const T* place;
  Scalar(const BlasHandle* h, const T* p) : value(h->device_scalars ? T(0) : *p), place(h->device_scalars ? p : nullptr) {}
  T get() const { return place != nullptr ? *place : value; }
  bool valid() const { return place == nullptr || on_device(reinterpret_cast<uintptr_t>(place), sizeof(T)); }
};

}  // namespace standin

#define ENTER_BLAS(handle, h)         \
  ENTER(int32_t);                     \
  standin::BlasHandle* h = nullptr;   \
  if (const int bad_ = standin::blas_handle(handle, &h); bad_ != 0) return bad_
