#pragma once

#include <cstdint>
#include <memory>

#include "core/abi.hpp"
#include "core/memory.hpp"
#include "core/objects.hpp"
#include "core/stream.hpp"

namespace standin {

enum BlasStatus {
  kBlasOk = 0,
  kBlasNotInitialized = 1,
  kBlasInvalid = 7,
  kBlasMapping = 11,
  kBlasExecution = 13,
};

struct BlasHandle {
  Context* ctx = nullptr;
  std::shared_ptr<Stream> stream;
  uintptr_t workspace = 0;
  size_t workspace_bytes = 0;
  int math = 0;
  bool device_scalars = false;
};

// blas_handle finds a handle whose context is current and works.
int blas_handle(uintptr_t h, BlasHandle** out);

// blas_submit puts work into the handle's stream. What wants a workspace fails
// in a capture unless the handle was given one.
int blas_submit(BlasHandle* h, bool workspace, Work run);

// A scalar: its value now, or its place on the device.
template <class T>
struct Scalar {
  T value;
  const T* place;
  Scalar(const BlasHandle* h, const T* p) : value(h->device_scalars ? T(0) : *p), place(h->device_scalars ? p : nullptr) {}
  T get() const { return place != nullptr ? *place : value; }
  bool valid() const { return place == nullptr || on_device(reinterpret_cast<uintptr_t>(place), sizeof(T)); }
};

// span is the number of elements between the first and the last of a matrix, or
// of a vector, in column-major order.
inline size_t span(int64_t rows, int64_t columns, int64_t stride) {
  return rows == 0 || columns == 0 ? 0 : static_cast<size_t>((columns - 1) * stride + rows);
}

template <class T>
bool there(uint64_t p, size_t elements) {
  return elements == 0 || on_device(p, elements * sizeof(T));
}

}  // namespace standin

#define NEED_BLAS(handle, h)          \
  standin::BlasHandle* h = nullptr;   \
  if (const int bad_ = standin::blas_handle(handle, &h); bad_ != 0) return bad_
