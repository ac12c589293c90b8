#include <algorithm>

#include "core/memory.hpp"
#include "core/state.hpp"
#include "test/test.hpp"

using namespace standin;

namespace {

struct Solver : test::Device {
  uintptr_t h = 0;
  uint64_t work = 0, info = 0;
  static constexpr int kWork = 1 << 16;
  Solver() {
    EQUAL(cusolverDnCreate(&h), 0);
    EQUAL(cusolverDnSetStream(h, stream), 0);
    work = test::upload(std::vector<double>(kWork));
    info = test::upload(std::vector<int32_t>{-7});
  }
  ~Solver() {
    EQUAL(cuMemFree_v2(work), 0);
    EQUAL(cuMemFree_v2(info), 0);
    EQUAL(cusolverDnDestroy(h), 0);
  }
  int32_t result() { return test::download<int32_t>(info, 1)[0]; }
};

using Values = std::vector<double>;

// of_rank returns a product of random factors, of the given rank and with elements near `size`.
Values of_rank(int m, int n, int rank, double size) {
  Values a(static_cast<size_t>(m * n));
  for (int r = 0; r < rank; r++) {
    Values u(static_cast<size_t>(m)), v(static_cast<size_t>(n));
    for (double& x : u) x = test::uniform();
    for (double& x : v) x = test::uniform() * size;
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) a[static_cast<size_t>(j * m + i)] += u[static_cast<size_t>(i)] * v[static_cast<size_t>(j)];
  }
  return a;
}

void orthonormal(const Values& q, int rows, int columns) {
  for (int j = 0; j < columns; j++)
    for (int k = 0; k <= j; k++) {
      double sum = 0;
      for (int i = 0; i < rows; i++) sum += q[static_cast<size_t>(j * rows + i)] * q[static_cast<size_t>(k * rows + i)];
      NEAR(sum, j == k, 1e-12);
    }
}

void decompose(Solver& d, int m, int n, int rank, double size) {
  const Values a = of_rank(m, n, rank, size);
  const uint64_t pa = test::upload(a), ps = test::upload(Values(static_cast<size_t>(n)));
  const uint64_t pu = test::upload(Values(static_cast<size_t>(m * m))), pv = test::upload(Values(static_cast<size_t>(n * n)));
  for (const char job : {'S', 'A'}) {
    EQUAL(cuMemcpyHtoD_v2(pa, a.data(), a.size() * 8), 0);
    EQUAL(cusolverDnDgesvd(d.h, job, job, m, n, pa, std::max(m, 1), ps, pu, std::max(m, 1), pv, std::max(n, 1), d.work,
                           Solver::kWork, 0, d.info), 0);
    EQUAL(d.result(), 0);
    const int wide = job == 'A' ? m : n;
    const Values s = test::download<double>(ps, static_cast<size_t>(n)), u = test::download<double>(pu, static_cast<size_t>(m * wide));
    Values vt = test::download<double>(pv, static_cast<size_t>(n * n));
    if (n == 1) {
      EQUAL(vt[0], 0);
      double along = 0;
      for (int i = 0; i < m; i++) along += u[static_cast<size_t>(i)] * a[static_cast<size_t>(i)];
      vt[0] = along < 0 ? -1 : 1;
    }
    orthonormal(u, m, wide);
    orthonormal(vt, n, n);
    for (int k = 0; k < n; k++)
      EQUAL(s[static_cast<size_t>(k)] >= 0 && (k == 0 || s[static_cast<size_t>(k)] <= s[static_cast<size_t>(k - 1)]), true);
    for (int k = rank; k < n; k++) NEAR(s[static_cast<size_t>(k)], 0, 1e-13 * s[0]);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++)
          sum += u[static_cast<size_t>(k * m + i)] * s[static_cast<size_t>(k)] * vt[static_cast<size_t>(j * n + k)];
        NEAR(sum, a[static_cast<size_t>(j * m + i)], 1e-13 * (s[0] + 1e-300));
      }
  }
  for (const uint64_t p : {pa, ps, pu, pv}) EQUAL(cuMemFree_v2(p), 0);
}

}  // namespace

TEST(singular_values) {
  Solver d;
  decompose(d, 0, 0, 0, 1);
  decompose(d, 1, 1, 1, 1);
  decompose(d, 5, 3, 0, 1);
  decompose(d, 30, 30, 30, 1e150);
  decompose(d, 30, 20, 20, 1e-150);
  for (int i = 0; i < 20; i++) {
    const int n = 1 + static_cast<int>(test::random()() % 25), m = n + static_cast<int>(test::random()() % 30);
    decompose(d, m, n, static_cast<int>(test::random()() % static_cast<uint64_t>(n + 1)), 1);
  }
}

TEST(singular_values_are_checked) {
  Solver d;
  int32_t n = 0;
  EQUAL(cusolverDnDgesvd_bufferSize(d.h, 3, 4, &n), 3);
  EQUAL(cusolverDnDgesvd_bufferSize(d.h, 4, 3, &n), 0);
  const uint64_t a = test::upload(Values{1, NAN, 2, 3}), s = test::upload(Values(2));
  EQUAL(cusolverDnDgesvd(d.h, 'N', 'N', 1, 2, a, 1, s, 0, 1, 0, 1, d.work, Solver::kWork, 0, d.info), 3);
  EQUAL(cusolverDnDgesvd(d.h, 'N', 'N', 2, 2, a, 2, s, 0, 1, 0, 1, d.work, 3, 0, d.info), 3);
  EQUAL(cusolverDnDgesvd(d.h, 'N', 'N', 2, 2, a, 2, s, 0, 1, 0, 1, d.work, Solver::kWork, 0, d.info), 0);
  EQUAL(d.result() > 0, true);
  uintptr_t graph = 0;
  EQUAL(cuStreamBeginCapture_v2(d.stream, 1), 0);
  EQUAL(cusolverDnDgesvd(d.h, 'N', 'N', 2, 2, a, 2, s, 0, 1, 0, 1, d.work, Solver::kWork, 0, d.info), 6);
  EQUAL(cuStreamEndCapture(d.stream, &graph), kCaptureInvalidated);
  EQUAL(cuMemFree_v2(a), 0);
  EQUAL(cuMemFree_v2(s), 0);
}

TEST(symmetric_systems) {
  Solver d;
  for (const int uplo : {0, 1}) {
    const int n = 1 + static_cast<int>(test::random()() % 30), ld = n + 1, r = 3;
    const Values f = of_rank(n, n, n, 1);
    Values a(static_cast<size_t>(ld * n), NAN), b(static_cast<size_t>(n * r)), whole(static_cast<size_t>(n * n));
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        double sum = i == j ? 1 : 0;
        for (int k = 0; k < n; k++) sum += f[static_cast<size_t>(k * n + i)] * f[static_cast<size_t>(k * n + j)];
        whole[static_cast<size_t>(j * n + i)] = sum;
        if (uplo == 0 ? i >= j : i <= j) a[static_cast<size_t>(j * ld + i)] = sum;
      }
    double trace = 0;
    for (int j = 0; j < n; j++) trace += whole[static_cast<size_t>(j * n + j)];
    for (double& v : b) v = test::uniform();
    const uint64_t pa = test::upload(a), pb = test::upload(b);
    EQUAL(cusolverDnDpotrf(d.h, uplo, n, pa, ld, d.work, Solver::kWork, d.info), 0);
    EQUAL(d.result(), 0);
    EQUAL(cusolverDnDpotrs(d.h, uplo, n, r, pa, ld, pb, n, d.info), 0);
    const Values x = test::download<double>(pb, b.size());
    for (int c = 0; c < r; c++)
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += whole[static_cast<size_t>(k * n + i)] * x[static_cast<size_t>(c * n + k)];
        NEAR(sum, b[static_cast<size_t>(c * n + i)], 1e-11 * trace);
      }
    a[0] = -1;
    EQUAL(cuMemcpyHtoD_v2(pa, a.data(), a.size() * 8), 0);
    EQUAL(cusolverDnDpotrf(d.h, uplo, n, pa, ld, d.work, Solver::kWork, d.info), 0);
    EQUAL(d.result(), 1);
    for (const uint64_t p : {pa, pb}) EQUAL(cuMemFree_v2(p), 0);
  }
}
