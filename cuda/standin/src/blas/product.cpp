// Products of matrices.
#include "blas/gemm.hpp"
#include "blas/handle.hpp"

using namespace standin;

namespace {

bool operation(int32_t t) { return t >= 0 && t <= 2; }

template <class T>
int product(BlasHandle* h, int32_t ta, int32_t tb, int64_t m, int64_t n, int64_t k, const T* alpha, uint64_t a, int64_t lda, uint64_t b,
            int64_t ldb, const T* beta, uint64_t c, int64_t ldc, bool tf32) {
  if (!operation(ta) || !operation(tb) || m < 0 || n < 0 || k < 0) return kBlasInvalid;
  const int64_t rows_a = ta == 0 ? m : k, cols_a = ta == 0 ? k : m;
  const int64_t rows_b = tb == 0 ? k : n, cols_b = tb == 0 ? n : k;
  const auto low = [](int64_t stride, int64_t rows) { return stride < (rows > 1 ? rows : 1); };
  if (low(lda, rows_a) || low(ldb, rows_b) || low(ldc, m)) return kBlasInvalid;
  if (alpha == nullptr || beta == nullptr) return kBlasInvalid;
  if (m == 0 || n == 0) return kBlasOk;
  const Scalar<T> al(h, alpha), be(h, beta);
  return blas_submit(h, true, [=]() -> int {
    if (!al.valid() || !be.valid() || !there<T>(c, span(m, n, ldc))) return foreign();
    const bool reads = k > 0 && al.get() != T(0);
    if (reads && (!there<T>(a, span(rows_a, cols_a, lda)) || !there<T>(b, span(rows_b, cols_b, ldb)))) return foreign();
    gemm(Gemm<T>{ta != 0, tb != 0, m, n, k, al.get(), reinterpret_cast<const T*>(a), lda, reinterpret_cast<const T*>(b), ldb, be.get(),
                 reinterpret_cast<T*>(c), ldc, tf32});
    return kSuccess;
  });
}

}  // namespace

#define STANDIN_GEMM(P, T)                                                                                                                \
  int32_t cublas##P##gemm_v2(uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, const T* alpha, uint64_t a,       \
                             int32_t lda, uint64_t b, int32_t ldb, const T* beta, uint64_t c, int32_t ldc) {                              \
    ENTER_BLAS(handle, h);                                                                                                                \
    return product<T>(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizeof(T) == 4 && h->math == 3);                           \
  }

STANDIN_GEMM(S, float)
STANDIN_GEMM(D, double)
