// Products of matrices.
#include "blas/gemm.hpp"
#include "blas/handle.hpp"

using namespace standin;

namespace {

bool operation(int32_t t) { return t >= 0 && t <= 2; }

struct Strides {
  int64_t a = 0, b = 0, c = 0;
  int64_t batch = 1;
};

template <class T>
int product(BlasHandle* h, int32_t ta, int32_t tb, int64_t m, int64_t n, int64_t k, const T* alpha, uint64_t a, int64_t lda, uint64_t b,
            int64_t ldb, const T* beta, uint64_t c, int64_t ldc, Strides by, bool tf32) {
  if (!operation(ta) || !operation(tb) || m < 0 || n < 0 || k < 0 || by.batch < 0) return kBlasInvalid;
  const int64_t rows_a = ta == 0 ? m : k, cols_a = ta == 0 ? k : m;
  const int64_t rows_b = tb == 0 ? k : n, cols_b = tb == 0 ? n : k;
  const auto low = [](int64_t ld, int64_t rows) { return ld < (rows > 1 ? rows : 1); };
  if (low(lda, rows_a) || low(ldb, rows_b) || low(ldc, m)) return kBlasInvalid;
  if (alpha == nullptr || beta == nullptr) return kBlasInvalid;
  if (m == 0 || n == 0 || by.batch == 0) return kBlasOk;
  const Scalar<T> al(h, alpha), be(h, beta);
  if (by.batch > 1 && by.c < static_cast<int64_t>(span(m, n, ldc))) return kBlasInvalid;  // the results would overlap
  return blas_submit(h, true, [=]() -> int {
    if (!al.valid() || !be.valid()) return kIllegalAddress;
    for (int64_t i = 0; i < by.batch; i++) {
      const auto at = [&](uint64_t p, int64_t stride) { return p + static_cast<uint64_t>(i * stride) * sizeof(T); };
      const uint64_t pa = at(a, by.a), pb = at(b, by.b), pc = at(c, by.c);
      const bool reads = k > 0 && al.get() != T(0);
      if (!there<T>(pc, span(m, n, ldc))) return kIllegalAddress;
      if (reads && (!there<T>(pa, span(rows_a, cols_a, lda)) || !there<T>(pb, span(rows_b, cols_b, ldb)))) return kIllegalAddress;
      gemm(Gemm<T>{ta != 0, tb != 0, m, n, k, al.get(), reinterpret_cast<const T*>(pa), lda, reinterpret_cast<const T*>(pb), ldb, be.get(),
                   reinterpret_cast<T*>(pc), ldc, tf32});
    }
    return kSuccess;
  });
}

// What the types and the compute type of the Ex functions say.
enum Kind { kRefused, kFloat, kFloatTf32, kDouble };

Kind kind_of(int32_t at, int32_t bt, int32_t ct, int32_t compute) {
  if (at != bt || bt != ct) return kRefused;
  if (at == 0 && (compute == 68 || compute == 69)) return kFloat;
  if (at == 0 && compute == 77) return kFloatTf32;
  if (at == 1 && (compute == 70 || compute == 71)) return kDouble;
  return kRefused;
}

int product_ex(BlasHandle* h, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, const void* alpha, uint64_t a, int32_t at, int32_t lda,
               uint64_t b, int32_t bt, int32_t ldb, const void* beta, uint64_t c, int32_t ct, int32_t ldc, Strides by, int32_t compute) {
  switch (const Kind kind = kind_of(at, bt, ct, compute)) {
    case kFloat:
    case kFloatTf32:
      return product<float>(h, ta, tb, m, n, k, static_cast<const float*>(alpha), a, lda, b, ldb, static_cast<const float*>(beta), c, ldc, by,
                            kind == kFloatTf32 || (h->math == 3 && compute == 68));
    case kDouble:
      return product<double>(h, ta, tb, m, n, k, static_cast<const double*>(alpha), a, lda, b, ldb, static_cast<const double*>(beta), c, ldc,
                             by, false);
    default:
      return kBlasNotSupported;
  }
}

}  // namespace

#define STANDIN_GEMM(P, T)                                                                                                                \
  int32_t cublas##P##gemm_v2(uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, const T* alpha, uint64_t a,       \
                             int32_t lda, uint64_t b, int32_t ldb, const T* beta, uint64_t c, int32_t ldc) {                              \
    ENTER(int32_t);                                                                                                                       \
    NEED_BLAS(handle, h);                                                                                                                 \
    return product<T>(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, {}, sizeof(T) == 4 && h->math == 3);                       \
  }                                                                                                                                       \
  int32_t cublas##P##gemm_v2_64(uintptr_t handle, int32_t ta, int32_t tb, int64_t m, int64_t n, int64_t k, const T* alpha, uint64_t a,    \
                                int64_t lda, uint64_t b, int64_t ldb, const T* beta, uint64_t c, int64_t ldc) {                           \
    ENTER(int32_t);                                                                                                                       \
    NEED_BLAS(handle, h);                                                                                                                 \
    return product<T>(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, {}, sizeof(T) == 4 && h->math == 3);                       \
  }                                                                                                                                       \
  int32_t cublas##P##gemmStridedBatched(uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, const T* alpha,        \
                                        uint64_t a, int32_t lda, int64_t sa, uint64_t b, int32_t ldb, int64_t sb, const T* beta,          \
                                        uint64_t c, int32_t ldc, int64_t sc, int32_t batch) {                                             \
    ENTER(int32_t);                                                                                                                       \
    NEED_BLAS(handle, h);                                                                                                                 \
    return product<T>(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, {sa, sb, sc, batch}, sizeof(T) == 4 && h->math == 3);      \
  }

STANDIN_GEMM(S, float)
STANDIN_GEMM(D, double)

int32_t cublasGemmEx(uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, const void* alpha, uint64_t a, int32_t at,
                     int32_t lda, uint64_t b, int32_t bt, int32_t ldb, const void* beta, uint64_t c, int32_t ct, int32_t ldc, int32_t compute,
                     int32_t) {
  ENTER(int32_t);
  NEED_BLAS(handle, h);
  return product_ex(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, {}, compute);
}

int32_t cublasGemmStridedBatchedEx(uintptr_t handle, int32_t ta, int32_t tb, int32_t m, int32_t n, int32_t k, const void* alpha, uint64_t a,
                                   int32_t at, int32_t lda, int64_t sa, uint64_t b, int32_t bt, int32_t ldb, int64_t sb, const void* beta,
                                   uint64_t c, int32_t ct, int32_t ldc, int64_t sc, int32_t batch, int32_t compute, int32_t) {
  ENTER(int32_t);
  NEED_BLAS(handle, h);
  return product_ex(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, {sa, sb, sc, batch}, compute);
}
