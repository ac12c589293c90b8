// Vectors: axpy, scal, nrm2, dot.
#include <cmath>

#include "blas/handle.hpp"

using namespace standin;

namespace {

// A vector of BLAS: with a negative step its first element is the last in memory.
template <class T>
struct Strided {
  uint64_t p;
  int64_t n, step;
  T* at(int64_t i) const { return reinterpret_cast<T*>(p) + (step < 0 ? (i - n + 1) * step : i * step); }
  bool valid() const { return there<T>(p, n <= 0 ? 0 : static_cast<size_t>((n - 1) * std::llabs(step) + 1)); }
};

template <class T>
int axpy(BlasHandle* h, int32_t n, const T* alpha, uint64_t x, int32_t incx, uint64_t y, int32_t incy) {
  if (alpha == nullptr || incy == 0) return kBlasInvalid;
  if (n <= 0) return kBlasOk;
  const Scalar<T> al(h, alpha);
  const Strided<T> vx{x, n, incx}, vy{y, n, incy};
  return blas_submit(h, false, [=]() -> int {
    if (!al.valid() || !vx.valid() || !vy.valid()) return kIllegalAddress;
    const T v = al.get();
    for (int64_t i = 0; i < n; i++) *vy.at(i) += v * *vx.at(i);
    return kSuccess;
  });
}

template <class T>
int scal(BlasHandle* h, int32_t n, const T* alpha, uint64_t x, int32_t incx) {
  if (alpha == nullptr) return kBlasInvalid;
  if (n <= 0 || incx <= 0) return kBlasOk;
  const Scalar<T> al(h, alpha);
  const Strided<T> vx{x, n, incx};
  return blas_submit(h, false, [=]() -> int {
    if (!al.valid() || !vx.valid()) return kIllegalAddress;
    const T v = al.get();
    for (int64_t i = 0; i < n; i++) *vx.at(i) *= v;
    return kSuccess;
  });
}

// deliver runs a reduction that ends in *result: on the device, or in host
// memory, for which the call waits.
template <class T, class Reduce>
int deliver(BlasHandle* h, uint64_t result, Reduce reduce) {
  if (result == 0) return kBlasInvalid;
  const bool device = h->device_scalars;
  if (!device && h->stream->capture != nullptr) return blas_wait(h);
  const int code = blas_submit(h, false, [=]() -> int {
    if (device && !there<T>(result, 1)) return kIllegalAddress;
    return reduce(reinterpret_cast<T*>(result));
  });
  return code != kBlasOk || device ? code : blas_wait(h);
}

template <class T>
int nrm2(BlasHandle* h, int32_t n, uint64_t x, int32_t incx, uint64_t result) {
  const Strided<T> vx{x, incx > 0 ? n : 0, incx};
  return deliver<T>(h, result, [=](T* out) -> int {
    if (!vx.valid()) return kIllegalAddress;
    long double sum = 0;  // wide enough that no square over- or underflows
    for (int64_t i = 0; i < vx.n; i++) sum += static_cast<long double>(*vx.at(i)) * *vx.at(i);
    *out = static_cast<T>(std::sqrt(sum));
    return kSuccess;
  });
}

template <class T>
int dot(BlasHandle* h, int32_t n, uint64_t x, int32_t incx, uint64_t y, int32_t incy, uint64_t result) {
  const Strided<T> vx{x, n, incx}, vy{y, n, incy};
  return deliver<T>(h, result, [=](T* out) -> int {
    if (!vx.valid() || !vy.valid()) return kIllegalAddress;
    T lane[16] = {};
    for (int64_t i = 0; i < n; i++) lane[i & 15] += *vx.at(i) * *vy.at(i);
    for (int step = 8; step > 0; step /= 2)
      for (int i = 0; i < step; i++) lane[i] += lane[i + step];
    *out = lane[0];
    return kSuccess;
  });
}

}  // namespace

#define STANDIN_VECTOR(P, T)                                                                                                               \
  int32_t cublas##P##axpy_v2(uintptr_t handle, int32_t n, const T* alpha, uint64_t x, int32_t incx, uint64_t y, int32_t incy) {            \
    ENTER(int32_t);                                                                                                                        \
    NEED_BLAS(handle, h);                                                                                                                  \
    return axpy<T>(h, n, alpha, x, incx, y, incy);                                                                                         \
  }                                                                                                                                        \
  int32_t cublas##P##scal_v2(uintptr_t handle, int32_t n, const T* alpha, uint64_t x, int32_t incx) {                                      \
    ENTER(int32_t);                                                                                                                        \
    NEED_BLAS(handle, h);                                                                                                                  \
    return scal<T>(h, n, alpha, x, incx);                                                                                                  \
  }                                                                                                                                        \
  int32_t cublas##P##nrm2_v2(uintptr_t handle, int32_t n, uint64_t x, int32_t incx, uint64_t result) {                                     \
    ENTER(int32_t);                                                                                                                        \
    NEED_BLAS(handle, h);                                                                                                                  \
    return nrm2<T>(h, n, x, incx, result);                                                                                                 \
  }                                                                                                                                        \
  int32_t cublas##P##dot_v2(uintptr_t handle, int32_t n, uint64_t x, int32_t incx, uint64_t y, int32_t incy, uint64_t result) {            \
    ENTER(int32_t);                                                                                                                        \
    NEED_BLAS(handle, h);                                                                                                                  \
    return dot<T>(h, n, x, incx, y, incy, result);                                                                                         \
  }

STANDIN_VECTOR(S, float)
STANDIN_VECTOR(D, double)
