// Rank-k updates of a triangle, and triangular systems.
#include <algorithm>
#include <vector>

#include "blas/gemm.hpp"
#include "blas/handle.hpp"

using namespace standin;

namespace {

template <class T>
int syrk(BlasHandle* h, int32_t uplo, int32_t trans, int32_t n, int32_t k, const T* alpha, uint64_t a, int32_t lda, const T* beta, uint64_t c,
         int32_t ldc) {
  if (uplo < 0 || uplo > 1 || trans < 0 || trans > 2 || n < 0 || k < 0) return kBlasInvalid;
  const int64_t rows = trans == 0 ? n : k, columns = trans == 0 ? k : n;
  if (lda < std::max<int64_t>(1, rows) || ldc < std::max(1, n) || alpha == nullptr || beta == nullptr) return kBlasInvalid;
  if (n == 0) return kBlasOk;
  const Scalar<T> al(h, alpha), be(h, beta);
  const bool tf32 = sizeof(T) == 4 && h->math == 3;
  return blas_submit(h, true, [=]() -> int {
    if (!al.valid() || !be.valid() || !there<T>(c, span(n, n, ldc)) || !there<T>(a, span(rows, columns, lda))) return kIllegalAddress;
    std::vector<T> whole(static_cast<size_t>(n) * static_cast<size_t>(n));
    const T* pa = reinterpret_cast<const T*>(a);
    gemm(Gemm<T>{trans != 0, trans == 0, n, n, k, al.get(), pa, lda, pa, lda, T(0), whole.data(), n, tf32});
    T* pc = reinterpret_cast<T*>(c);
    for (int64_t j = 0; j < n; j++) {
      const int64_t from = uplo == 0 ? j : 0, to = uplo == 0 ? n : j + 1;
      for (int64_t i = from; i < to; i++) {
        T& out = pc[j * ldc + i];
        out = (be.get() == T(0) ? T(0) : be.get() * out) + whole[static_cast<size_t>(j * n + i)];
      }
    }
    return kSuccess;
  });
}

// One system with the matrix op(A): x is overwritten, elements `step` apart.
template <class T>
void solve(bool lower, bool transposed, bool unit, int64_t n, const T* a, int64_t lda, T* x, int64_t step) {
  const bool forward = lower != transposed;
  const auto at = [&](int64_t i, int64_t j) { return transposed ? a[i * lda + j] : a[j * lda + i]; };
  for (int64_t s = 0; s < n; s++) {
    const int64_t i = forward ? s : n - 1 - s;
    T v = x[i * step];
    for (int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); j++) v -= at(i, j) * x[j * step];
    x[i * step] = unit ? v : v / at(i, i);
  }
}

template <class T>
int trsm(BlasHandle* h, int32_t side, int32_t uplo, int32_t trans, int32_t diag, int32_t m, int32_t n, const T* alpha, uint64_t a, int32_t lda,
         uint64_t b, int32_t ldb) {
  if (side < 0 || side > 1 || uplo < 0 || uplo > 1 || trans < 0 || trans > 2 || diag < 0 || diag > 1 || m < 0 || n < 0) return kBlasInvalid;
  const int64_t order = side == 0 ? m : n;
  if (lda < std::max<int64_t>(1, order) || ldb < std::max(1, m) || alpha == nullptr) return kBlasInvalid;
  if (m == 0 || n == 0) return kBlasOk;
  const Scalar<T> al(h, alpha);
  return blas_submit(h, true, [=]() -> int {
    if (!al.valid() || !there<T>(a, span(order, order, lda)) || !there<T>(b, span(m, n, ldb))) return kIllegalAddress;
    const T* pa = reinterpret_cast<const T*>(a);
    T* pb = reinterpret_cast<T*>(b);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < m; i++) pb[j * ldb + i] *= al.get();
    // X op(A) = B is op(A)' X' = B'.
    if (side == 0)
      for (int64_t j = 0; j < n; j++) solve(uplo == 0, trans != 0, diag == 1, order, pa, lda, pb + j * ldb, int64_t(1));
    else
      for (int64_t i = 0; i < m; i++) solve(uplo == 0, trans == 0, diag == 1, order, pa, lda, pb + i, int64_t(ldb));
    return kSuccess;
  });
}

}  // namespace

#define STANDIN_TRIANGLE(P, T)                                                                                                            \
  int32_t cublas##P##syrk_v2(uintptr_t handle, int32_t uplo, int32_t trans, int32_t n, int32_t k, const T* alpha, uint64_t a, int32_t lda, \
                             const T* beta, uint64_t c, int32_t ldc) {                                                                    \
    ENTER(int32_t);                                                                                                                       \
    NEED_BLAS(handle, h);                                                                                                                 \
    return syrk<T>(h, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);                                                                    \
  }                                                                                                                                       \
  int32_t cublas##P##trsm_v2(uintptr_t handle, int32_t side, int32_t uplo, int32_t trans, int32_t diag, int32_t m, int32_t n,             \
                             const T* alpha, uint64_t a, int32_t lda, uint64_t b, int32_t ldb) {                                          \
    ENTER(int32_t);                                                                                                                       \
    NEED_BLAS(handle, h);                                                                                                                 \
    return trsm<T>(h, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);                                                              \
  }

STANDIN_TRIANGLE(S, float)
STANDIN_TRIANGLE(D, double)
