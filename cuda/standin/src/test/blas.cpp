#include <algorithm>

#include "core/memory.hpp"
#include "core/state.hpp"
#include "test/test.hpp"

using namespace standin;

namespace {

struct Blas : test::Device {
  uintptr_t h = 0;
  Blas() {
    EQUAL(cublasCreate_v2(&h), 0);
    EQUAL(cublasSetStream_v2(h, stream), 0);
  }
  ~Blas() { EQUAL(cublasDestroy_v2(h), 0); }
};

int size_at_most(int n) { return static_cast<int>(test::random()() % static_cast<uint64_t>(n + 1)); }

template <class T>
std::vector<T> values(size_t n) {
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(test::uniform());
  return v;
}

int32_t call(uintptr_t h, int ta, int tb, int m, int n, int k, const float* alpha, uint64_t a, int lda, uint64_t b, int ldb,
             const float* beta, uint64_t c, int ldc) {
  return cublasSgemm_v2(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int32_t call(uintptr_t h, int ta, int tb, int m, int n, int k, const double* alpha, uint64_t a, int lda, uint64_t b, int ldb,
             const double* beta, uint64_t c, int ldc) {
  return cublasDgemm_v2(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class T>
void products(Blas& d, int limit, double tolerance) {
  for (int ta = 0; ta < 2; ta++)
    for (int tb = 0; tb < 2; tb++) {
      const int m = size_at_most(limit), n = size_at_most(limit), k = size_at_most(4 * limit);
      const int lda = (ta ? k : m) + 1 + size_at_most(3), ldb = (tb ? n : k) + 1 + size_at_most(3), ldc = m + 1 + size_at_most(3);
      const auto a = values<T>(static_cast<size_t>(lda * (ta ? m : k))), b = values<T>(static_cast<size_t>(ldb * (tb ? k : n)));
      auto c = values<T>(static_cast<size_t>(ldc * n));
      T alpha = static_cast<T>(test::uniform()), beta = test::random()() % 2 ? T(0) : T(0.5);
      if (beta == 0)
        for (int j = 0; j < n; j++) std::fill_n(&c[static_cast<size_t>(j * ldc)], m, static_cast<T>(NAN));
      const uint64_t pa = test::upload(a), pb = test::upload(b), pc = test::upload(c);
      EQUAL(call(d.h, ta, tb, m, n, k, &alpha, pa, lda, pb, ldb, &beta, pc, ldc), 0);
      const auto got = test::download<T>(pc, c.size());
      for (int j = 0; j < n; j++)
        for (int i = 0; i < ldc; i++) {
          double want = 0;
          for (int p = 0; p < k && i < m; p++)
            want += double(a[static_cast<size_t>(ta ? i * lda + p : p * lda + i)]) * b[static_cast<size_t>(tb ? p * ldb + j : j * ldb + p)];
          const T old = c[static_cast<size_t>(j * ldc + i)];
          want = i < m ? alpha * want + (beta == 0 ? 0 : double(beta) * old) : double(old);
          NEAR(got[static_cast<size_t>(j * ldc + i)], want, i < m ? tolerance * (k + 1) : 0);
        }
      for (const uint64_t p : {pa, pb, pc}) EQUAL(cuMemFree_v2(p), 0);
    }
}

}  // namespace

TEST(products_of_all_transposes) {
  Blas d;
  for (int i = 0; i < 12; i++) {
    products<float>(d, i < 10 ? 40 : 90, 2e-7);
    products<double>(d, i < 10 ? 40 : 90, 4e-16);
  }
}

TEST(products_are_checked) {
  Blas d;
  const float one = 1;
  const uint64_t p = test::upload(std::vector<float>(64));
  EQUAL(cublasSgemm_v2(d.h, 3, 0, 1, 1, 1, &one, p, 1, p, 1, &one, p, 1), 7);
  EQUAL(cublasSgemm_v2(d.h, 0, 0, 4, 4, 2, &one, p, 3, p, 2, &one, p, 4), 7);
  EQUAL(cublasSgemm_v2(d.h, 0, 0, -1, 4, 2, &one, p, 4, p, 2, &one, p, 4), 7);
  EQUAL(cublasSgemm_v2(d.h + 8, 0, 0, 1, 1, 1, &one, p, 1, p, 1, &one, p, 1), 1);
  EQUAL(cublasSgemm_v2(d.h, 0, 0, 0, 4, 2, &one, 0, 1, 0, 2, &one, 0, 1), 0);
  EQUAL(cuMemFree_v2(p), 0);
}

// An operand that reaches beyond its block fails only when the work runs, as on a device.
TEST(products_find_bad_addresses) {
  const float one = 1;
  test::Device d;
  uint64_t h = 0;
  EQUAL(cublasCreate_v2(&h), 0);
  const uint64_t p = test::upload(std::vector<float>(15));
  EQUAL(cublasSgemm_v2(h, 0, 0, 5, 5, 1, &one, p, 5, p, 1, &one, p, 5), 0);
  EQUAL(cuStreamSynchronize(0), kIllegalAddress);
  EQUAL(cublasSgemm_v2(h, 0, 0, 1, 1, 1, &one, p, 1, p, 1, &one, p, 1), 13);
  EQUAL(state().misuse[kBadPointer], 1);
  EQUAL(cublasDestroy_v2(h), 13);
}

TEST(capture_wants_a_workspace) {
  for (const bool given : {false, true}) {
    Blas d;
    const float one = 1;
    const uint64_t p = test::upload(std::vector<float>(1024)), w = test::upload(std::vector<float>(1024));
    uintptr_t graph = 0;
    EQUAL(cublasSetWorkspace_v2(d.h, w + 4, 1024), 7);
    EQUAL(cublasSetWorkspace_v2(d.h, w, 1 << 20), 7);
    EQUAL(cublasSetWorkspace_v2(d.h, w, 4096), 0);
    if (!given) EQUAL(cublasSetStream_v2(d.h, d.stream), 0);  // resets the workspace
    EQUAL(cuStreamBeginCapture_v2(d.stream, 1), 0);
    EQUAL(cublasSgemm_v2(d.h, 0, 0, 2, 2, 2, &one, p, 2, p + 64, 2, &one, p + 128, 2), given ? 0 : 13);
    EQUAL(cuStreamEndCapture(d.stream, &graph), given ? 0 : kCaptureInvalidated);
    if (given) EQUAL(cuGraphDestroy(graph), 0);
    EQUAL(cuMemFree_v2(p), 0);
    EQUAL(cuMemFree_v2(w), 0);
  }
}

TEST(tf32_rounds) {
  Blas d;
  const float one = 1, zero = 0;
  const uint64_t p = test::upload(std::vector<float>{1 + 0x1p-12f, 1, 0});
  for (const bool tf32 : {false, true}) {
    EQUAL(cublasSetMathMode(d.h, tf32 ? 3 : 0), 0);
    EQUAL(cublasSgemm_v2(d.h, 0, 0, 1, 1, 1, &one, p, 1, p + 4, 1, &zero, p + 8, 1), 0);
    EQUAL(test::download<float>(p + 8, 1)[0], tf32 ? 1 : 1 + 0x1p-12f);
  }
  EQUAL(cuMemFree_v2(p), 0);
}

TEST(matrices) {
  Blas d;
  const int m = 1 + size_at_most(40), n = 1 + size_at_most(40), ld = m + 2;
  const auto a = values<double>(static_cast<size_t>(ld * n)), x = values<double>(200), y = values<double>(200);
  const uint64_t pa = test::upload(a), px = test::upload(x), py = test::upload(y);
  const uint64_t pc = test::upload(std::vector<double>(static_cast<size_t>(50 * 50)));
  const double alpha = test::uniform(), beta = test::uniform(), zero = 0;
  const auto at = [&](int i, int j) { return a[static_cast<size_t>(j * ld + i)]; };
  for (int t = 0; t < 2; t++) {
    EQUAL(cuMemcpyHtoD_v2(py, y.data(), 200 * 8), 0);
    EQUAL(cublasDgemv_v2(d.h, t, m, n, &alpha, pa, ld, px, 2, &beta, py, 3), 0);
    const auto got = test::download<double>(py, 200);
    for (int i = 0; i < (t ? n : m); i++) {
      double want = 0;
      for (int j = 0; j < (t ? m : n); j++) want += (t ? at(j, i) : at(i, j)) * x[static_cast<size_t>(2 * j)];
      NEAR(got[static_cast<size_t>(3 * i)], alpha * want + beta * y[static_cast<size_t>(3 * i)], 1e-13);
    }
  }
  EQUAL(cublasDgeam(d.h, 1, 0, n, m, &alpha, pa, ld, &zero, pc, 50, pc, 50), 0);
  const auto turned = test::download<double>(pc, 2500);
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) NEAR(turned[static_cast<size_t>(j * 50 + i)], alpha * at(j, i), 0);
  // Scalars on the device, read when the work runs.
  EQUAL(cublasSetPointerMode_v2(d.h, 1), 0);
  EQUAL(cublasDgeam(d.h, 0, 0, m, n, reinterpret_cast<const double*>(px), pa, ld, reinterpret_cast<const double*>(px + 8), pa, ld, pc,
                    50), 0);
  EQUAL(cublasSetPointerMode_v2(d.h, 0), 0);
  EQUAL(cublasSetPointerMode_v2(d.h, 2), 7);
  const auto sums = test::download<double>(pc, 2500);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) NEAR(sums[static_cast<size_t>(j * 50 + i)], (x[0] + x[1]) * at(i, j), 1e-13);
  EQUAL(cublasDgeam(d.h, 1, 0, n, n, &alpha, pa, ld, &zero, pa, ld, pa, ld), 7);
  for (const uint64_t p : {pa, px, py, pc}) EQUAL(cuMemFree_v2(p), 0);
}

TEST(triangles) {
  Blas d;
  for (int form = 0; form < 16; form++) {
    const int side = form & 1, uplo = form >> 1 & 1, trans = form >> 2 & 1, diag = form >> 3;
    const int m = 1 + size_at_most(20), n = 1 + size_at_most(20), order = side ? n : m, lda = order + 1, ldb = m + 2;
    auto a = values<double>(static_cast<size_t>(lda * order));
    for (int i = 0; i < order; i++) a[static_cast<size_t>(i * (lda + 1))] += 30;
    if (diag)
      for (double& v : a) v /= 30;
    const auto b = values<double>(static_cast<size_t>(ldb * n));
    const uint64_t pa = test::upload(a), pb = test::upload(b);
    const double alpha = test::uniform();
    EQUAL(cublasDtrsm_v2(d.h, side, uplo, trans, diag, m, n, &alpha, pa, lda, pb, ldb), 0);
    const auto x = test::download<double>(pb, b.size());
    // Element (i, j) of op(A).
    const auto at = [&](int i, int j) {
      if (trans) std::swap(i, j);
      if (i == j) return diag ? 1.0 : a[static_cast<size_t>(i * (lda + 1))];
      return (uplo == 0) == (i > j) ? a[static_cast<size_t>(j * lda + i)] : 0.0;
    };
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        double got = 0;
        for (int k = 0; k < order; k++)
          got += side ? x[static_cast<size_t>(k * ldb + i)] * at(k, j) : at(i, k) * x[static_cast<size_t>(j * ldb + k)];
        NEAR(got, alpha * b[static_cast<size_t>(j * ldb + i)], 1e-12);
      }
    EQUAL(cublasDtrsm_v2(d.h, side, 2, trans, diag, m, n, &alpha, pa, lda, pb, ldb), 7);
    EQUAL(cublasDtrsm_v2(d.h, side, uplo, trans, diag, m, n, &alpha, pa, order - 1, pb, ldb), 7);
    for (const uint64_t p : {pa, pb}) EQUAL(cuMemFree_v2(p), 0);
  }
}
