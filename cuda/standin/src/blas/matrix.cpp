// Matrix times vector, sums and transposes, triangular systems.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "blas/handle.hpp"

using namespace standin;

namespace {

size_t reach(int64_t n, int64_t inc) { return n == 0 ? 0 : static_cast<size_t>((n - 1) * std::llabs(inc) + 1); }

template <class T>
T* first(uint64_t p, int64_t n, int64_t inc) {
  return reinterpret_cast<T*>(p) + (inc < 0 ? (1 - n) * inc : 0);
}

template <class T>
int gemv(BlasHandle* h, int32_t ta, int32_t m, int32_t n, const T* alpha, uint64_t a, int32_t lda, uint64_t x, int32_t incx, const T* beta,
         uint64_t y, int32_t incy) {
  if (ta < 0 || ta > 2 || m < 0 || n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0) return kBlasInvalid;
  if (alpha == nullptr || beta == nullptr) return kBlasInvalid;
  if (m == 0 || n == 0) return kBlasOk;
  const Scalar<T> al(h, alpha), be(h, beta);
  return blas_submit(h, true, [=]() -> int {
    const int64_t in = ta == 0 ? n : m, out = ta == 0 ? m : n;
    if (!al.valid() || !be.valid() || !there<T>(a, span(m, n, lda)) || !there<T>(x, reach(in, incx)) || !there<T>(y, reach(out, incy)))
      return foreign();
    const T* pa = reinterpret_cast<const T*>(a);
    const T* px = first<T>(x, in, incx);
    T* py = first<T>(y, out, incy);
    std::vector<T> sum(static_cast<size_t>(out)), flat(static_cast<size_t>(in));
    for (int64_t i = 0; i < in; i++) flat[static_cast<size_t>(i)] = px[i * incx];
    for (int64_t j = 0; j < n; j++) {
      const T* column = pa + j * lda;
      if (ta == 0) {
        const T v = flat[static_cast<size_t>(j)];
        for (int64_t i = 0; i < m; i++) sum[static_cast<size_t>(i)] += v * column[i];
      } else {
        T lane[16] = {};
        int64_t i = 0;
        for (; i + 16 <= m; i += 16)
          for (int64_t l = 0; l < 16; l++) lane[l] += column[i + l] * flat[static_cast<size_t>(i + l)];
        for (; i < m; i++) lane[i & 15] += column[i] * flat[static_cast<size_t>(i)];
        for (int step = 8; step > 0; step /= 2)
          for (int l = 0; l < step; l++) lane[l] += lane[l + step];
        sum[static_cast<size_t>(j)] = lane[0];
      }
    }
    for (int64_t i = 0; i < out; i++) {
      T& o = py[i * incy];
      o = al.get() * sum[static_cast<size_t>(i)] + (be.get() == T(0) ? T(0) : be.get() * o);
    }
    return kSuccess;
  });
}

template <class T>
int geam(BlasHandle* h, int32_t ta, int32_t tb, int32_t m, int32_t n, const T* alpha, uint64_t a, int32_t lda, const T* beta, uint64_t b,
         int32_t ldb, uint64_t c, int32_t ldc) {
  if (ta < 0 || ta > 2 || tb < 0 || tb > 2 || m < 0 || n < 0 || alpha == nullptr || beta == nullptr) return kBlasInvalid;
  const int64_t rows_a = ta == 0 ? m : n, rows_b = tb == 0 ? m : n;
  if (lda < std::max<int64_t>(1, rows_a) || ldb < std::max<int64_t>(1, rows_b) || ldc < std::max(1, m)) return kBlasInvalid;
  // C may be A or B only if no element moves.
  if ((c == a && (lda != ldc || ta != 0)) || (c == b && (ldb != ldc || tb != 0))) return kBlasInvalid;
  if (m == 0 || n == 0) return kBlasOk;
  const Scalar<T> al(h, alpha), be(h, beta);
  return blas_submit(h, false, [=]() -> int {
    if (!al.valid() || !be.valid() || !there<T>(c, span(m, n, ldc))) return foreign();
    const T va = al.get(), vb = be.get();
    if (va != T(0) && !there<T>(a, span(rows_a, ta == 0 ? n : m, lda))) return foreign();
    if (vb != T(0) && !there<T>(b, span(rows_b, tb == 0 ? n : m, ldb))) return foreign();
    const T *pa = reinterpret_cast<const T*>(a), *pb = reinterpret_cast<const T*>(b);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < m; i++) {
        T sum = 0;
        if (va != T(0)) sum += va * pa[ta == 0 ? j * lda + i : i * lda + j];
        if (vb != T(0)) sum += vb * pb[tb == 0 ? j * ldb + i : i * ldb + j];
        reinterpret_cast<T*>(c)[j * ldc + i] = sum;
      }
    return kSuccess;
  });
}

}  // namespace

#define STANDIN_MATRIX(P, T)                                                                                                              \
  int32_t cublas##P##gemv_v2(uintptr_t handle, int32_t ta, int32_t m, int32_t n, const T* alpha, uint64_t a, int32_t lda, uint64_t x,      \
                             int32_t incx, const T* beta, uint64_t y, int32_t incy) {                                                     \
    ENTER_BLAS(handle, h);                                                                                                                \
    return gemv<T>(h, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);                                                                   \
  }                                                                                                                                       \
  int32_t cublas##P##geam(uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, const T* alpha, uint64_t a, int32_t lda,        \
                          const T* beta, uint64_t b, int32_t ldb, uint64_t c, int32_t ldc) {                                              \
    ENTER_BLAS(handle, h);                                                                                                                \
    return geam<T>(h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                                                                 \
  }

STANDIN_MATRIX(S, float)
STANDIN_MATRIX(D, double)

int32_t cublasDtrsm_v2(uintptr_t handle, int32_t side, int32_t uplo, int32_t ta, int32_t diag, int32_t m, int32_t n, const double* alpha,
                       uint64_t a, int32_t lda, uint64_t b, int32_t ldb) {
  ENTER_BLAS(handle, h);
  if (side < 0 || side > 1 || uplo < 0 || uplo > 1 || ta < 0 || ta > 2 || diag < 0 || diag > 1 || m < 0 || n < 0) return kBlasInvalid;
  const int64_t order = side == 0 ? m : n, count = side == 0 ? n : m;
  if (alpha == nullptr || lda < std::max<int64_t>(1, order) || ldb < std::max(1, m)) return kBlasInvalid;
  if (m == 0 || n == 0) return kBlasOk;
  const Scalar<double> al(h, alpha);
  return blas_submit(h, true, [=]() -> int {
    if (!al.valid() || !there<double>(a, span(order, order, lda)) || !there<double>(b, span(m, n, ldb))) return foreign();
    // With op(A) on the right, each row x of X solves op(A)' x' = b'.
    const bool turned = (ta != 0) != (side == 1), lower = (uplo == 0) != turned;
    const int64_t step = side == 0 ? 1 : ldb, next = side == 0 ? ldb : 1;
    const double* p = reinterpret_cast<const double*>(a);
    for (int64_t c = 0; c < count; c++) {
      double* x = reinterpret_cast<double*>(b) + c * next;
      for (int64_t k = 0; k < order; k++) {
        const int64_t i = lower ? k : order - 1 - k;
        double sum = al.get() == 0 ? 0 : al.get() * x[i * step];
        for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : order); j++) sum -= p[turned ? i * lda + j : j * lda + i] * x[j * step];
        x[i * step] = diag == 1 ? sum : sum / p[i * (lda + 1)];
      }
    }
    return kSuccess;
  });
}
