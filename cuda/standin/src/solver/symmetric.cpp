// Cholesky factors of symmetric matrices. uplo 0 is the lower
// triangle, 1 the upper one; the other is not read.
#include <algorithm>
#include <cmath>

#include "solver/handle.hpp"

using namespace standin;

namespace {

constexpr int kBlock = 32;

bool bad_symmetric(int32_t uplo, int32_t n, int32_t lda) { return uplo < 0 || uplo > 1 || n < 0 || lda < std::max(1, n); }

// lower_of returns the triangle that uplo names, as a lower one.
Matrix lower_of(int32_t uplo, int64_t n, uint64_t a, int64_t lda) {
  const double* p = reinterpret_cast<const double*>(a);
  Matrix out(n, n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) out.at(i, j) = uplo == 0 ? p[j * lda + i] : p[i * lda + j];
  return out;
}

// cholesky overwrites the lower triangle of a by L. It returns 0, or the order of the first
// leading minor that is not positive.
int32_t cholesky(Matrix* a) {
  const int64_t n = a->rows;
  for (int64_t j = 0; j < n; j++) {
    const double pivot = a->at(j, j);
    if (!(pivot > 0) || std::isinf(pivot)) return static_cast<int32_t>(j) + 1;
    const double root = std::sqrt(pivot);
    for (int64_t i = j; i < n; i++) a->at(i, j) /= root;
    for (int64_t k = j + 1; k < n; k++) {
      const double v = a->at(k, j);
      for (int64_t i = k; i < n; i++) a->at(i, k) -= a->at(i, j) * v;
    }
  }
  return 0;
}

}  // namespace

int32_t cusolverDnDpotrf_bufferSize(uintptr_t handle, int32_t uplo, int32_t n, uint64_t, int32_t lda, int32_t* lwork) {
  ENTER_SOLVER(handle, h);
  if (bad_symmetric(uplo, n, lda) || lwork == nullptr) return kSolverInvalid;
  *lwork = std::max(n, 1) * kBlock;
  return kSolverOk;
}

int32_t cusolverDnDpotrf(uintptr_t handle, int32_t uplo, int32_t n, uint64_t a, int32_t lda, uint64_t work, int32_t lwork, uint64_t info) {
  ENTER_SOLVER(handle, h);
  if (bad_symmetric(uplo, n, lda)) return kSolverInvalid;
  if (lwork < std::max(n, 1) * kBlock || !on_device(work, static_cast<size_t>(lwork) * sizeof(double))) return kSolverInvalid;
  return solver_submit(h, [=]() -> int {
    if (!there<double>(a, span(n, n, lda)) || !there<int32_t>(info, 1)) return foreign();
    Matrix l = lower_of(uplo, n, a, lda);
    put_info(info, cholesky(&l));
    double* p = reinterpret_cast<double*>(a);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = j; i < n; i++) p[uplo == 0 ? j * lda + i : i * lda + j] = l.at(i, j);
    return kSuccess;
  });
}

int32_t cusolverDnDpotrs(uintptr_t handle, int32_t uplo, int32_t n, int32_t nrhs, uint64_t a, int32_t lda, uint64_t b, int32_t ldb,
                         uint64_t info) {
  ENTER_SOLVER(handle, h);
  if (bad_symmetric(uplo, n, lda) || nrhs < 0 || ldb < std::max(1, n)) return kSolverInvalid;
  return solver_submit(h, [=]() -> int {
    if (!there<double>(a, span(n, n, lda)) || !there<double>(b, span(n, nrhs, ldb)) || !there<int32_t>(info, 1)) return foreign();
    const Matrix l = lower_of(uplo, n, a, lda);
    for (int64_t c = 0; c < nrhs; c++) {
      double* x = reinterpret_cast<double*>(b) + c * ldb;
      for (int64_t j = 0; j < n; j++) {
        x[j] /= l.at(j, j);
        for (int64_t i = j + 1; i < n; i++) x[i] -= l.at(i, j) * x[j];
      }
      for (int64_t j = n - 1; j >= 0; j--) {
        double sum = x[j];
        for (int64_t i = j + 1; i < n; i++) sum -= l.at(i, j) * x[i];
        x[j] = sum / l.at(j, j);
      }
    }
    put_info(info, 0);
    return kSuccess;
  });
}
