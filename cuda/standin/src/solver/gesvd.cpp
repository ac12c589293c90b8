// Singular value decompositions.
#include <algorithm>
#include <cmath>

#include "solver/handle.hpp"

using namespace standin;

namespace {

constexpr double kTolerance = 0x1p-50;
constexpr int kSweeps = 60;

int least(int32_t m, int32_t n) { return std::max(m, 1) * 4 + std::max(n, 1) * 32; }

struct Job {
  int8_t u, vt;
  int64_t m, n;
  uint64_t a;
  int64_t lda;
  uint64_t s, u_at;
  int64_t ldu;
  uint64_t vt_at;
  int64_t ldvt;
  uint64_t info;
};

int run(const Job& j) {
  const int64_t wanted = j.u == 'A' ? j.m : j.n;
  const bool want_u = j.u == 'A' || j.u == 'S', want_vt = j.vt == 'A' || j.vt == 'S';
  if (!there<double>(j.a, span(j.m, j.n, j.lda)) || !there<double>(j.s, static_cast<size_t>(j.n)) || !there<int32_t>(j.info, 1) ||
      (want_u && !there<double>(j.u_at, span(j.m, wanted, j.ldu))) || (want_vt && !there<double>(j.vt_at, span(j.n, j.n, j.ldvt))))
    return kIllegalAddress;
  Matrix u, v;
  std::vector<double> s;
  const Matrix a = load(j.a, j.m, j.n, j.lda);
  spoil(j.a, j.m, j.n, j.lda);
  const int sweeps = svd(a, wanted, kTolerance, kSweeps, &u, &s, &v);
  put_info(j.info, sweeps < 0 ? static_cast<int32_t>(j.n) : 0);
  if (sweeps < 0) {
    spoil(j.s, j.n, 1, j.n);
    if (want_u) spoil(j.u_at, j.m, wanted, j.ldu);
    if (want_vt) spoil(j.vt_at, j.n, j.n, j.ldvt);
    return kSuccess;
  }
  std::copy(s.begin(), s.end(), reinterpret_cast<double*>(j.s));
  if (want_u) store(u, j.m, wanted, j.u_at, j.ldu);
  if (j.u == 'O') store(u, j.m, j.n, j.a, j.lda);
  Matrix vt(j.n, j.n);
  for (int64_t c = 0; c < j.n; c++)
    for (int64_t r = 0; r < j.n; r++) vt.at(r, c) = v.at(c, r);
  if (want_vt) store(vt, j.n, j.n, j.vt_at, j.ldvt);
  if (j.vt == 'O') store(vt, j.n, j.n, j.a, j.lda);
  return kSuccess;
}

bool job(int8_t c) { return c == 'A' || c == 'S' || c == 'O' || c == 'N'; }

}  // namespace

int32_t cusolverDnDgesvd_bufferSize(uintptr_t handle, int32_t m, int32_t n, int32_t* lwork) {
  ENTER(int32_t);
  NEED_SOLVER(handle, h);
  if (m < 0 || n < 0 || m < n || lwork == nullptr) return kSolverInvalid;
  *lwork = least(m, n);
  return kSolverOk;
}

int32_t cusolverDnDgesvd(uintptr_t handle, int8_t jobu, int8_t jobvt, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t s, uint64_t u,
                         int32_t ldu, uint64_t vt, int32_t ldvt, uint64_t work, int32_t lwork, uint64_t, uint64_t info) {
  ENTER(int32_t);
  NEED_SOLVER(handle, h);
  if (m < 0 || n < 0 || m < n || lda < std::max(1, m) || !job(jobu) || !job(jobvt) || (jobu == 'O' && jobvt == 'O')) return kSolverInvalid;
  if ((jobu == 'A' || jobu == 'S') && ldu < std::max(1, m)) return kSolverInvalid;
  if ((jobvt == 'A' || jobvt == 'S') && ldvt < std::max(1, n)) return kSolverInvalid;
  if (lwork < least(m, n) || !on_device(work, static_cast<size_t>(lwork) * sizeof(double))) return kSolverInvalid;
  const Job j{jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, info};
  return solver_submit(h, [j]() { return run(j); });
}

// Jacobi.

namespace {

struct JacobiInfo {
  double tolerance = kTolerance;
  int sweeps = kSweeps;
  int taken = 0;
  double residual = 0;
};

Table<JacobiInfo>& infos() {
  static auto* t = new Table<JacobiInfo>(kSolverInfos);
  return *t;
}

// residual is ||A - U diag(s) V'||_F.
double residual(const Matrix& a, const Matrix& u, const std::vector<double>& s, const Matrix& v) {
  double sum = 0;
  for (int64_t j = 0; j < a.columns; j++)
    for (int64_t i = 0; i < a.rows; i++) {
      double r = a.at(i, j);
      for (int64_t k = 0; k < a.columns; k++) r -= u.at(i, k) * s[static_cast<size_t>(k)] * v.at(j, k);
      sum += r * r;
    }
  return std::sqrt(sum);
}

JacobiInfo* find(uintptr_t h) { return infos().find(reinterpret_cast<const void*>(h)); }

}  // namespace

int32_t cusolverDnCreateGesvdjInfo(uintptr_t* info) {
  ENTER(int32_t);
  if (info == nullptr) return kSolverInvalid;
  *info = reinterpret_cast<uintptr_t>(infos().add(std::make_shared<JacobiInfo>()));
  return kSolverOk;
}

int32_t cusolverDnDestroyGesvdjInfo(uintptr_t info) {
  RELEASE(int32_t, infos().remove(reinterpret_cast<const void*>(info)) ? kSolverOk : kSolverInvalid);
}

int32_t cusolverDnXgesvdjSetTolerance(uintptr_t info, double tolerance) {
  ENTER(int32_t);
  JacobiInfo* i = find(info);
  if (i == nullptr || !(tolerance >= 0)) return kSolverInvalid;
  i->tolerance = std::max(tolerance, kTolerance);
  return kSolverOk;
}

int32_t cusolverDnXgesvdjSetMaxSweeps(uintptr_t info, int32_t sweeps) {
  ENTER(int32_t);
  JacobiInfo* i = find(info);
  if (i == nullptr || sweeps < 1) return kSolverInvalid;
  i->sweeps = sweeps;
  return kSolverOk;
}

// Singular values are sorted in any case, which is one of the orders that 0 allows.
int32_t cusolverDnXgesvdjSetSortEig(uintptr_t info, int32_t) {
  ENTER(int32_t);
  return find(info) != nullptr ? kSolverOk : kSolverInvalid;
}

int32_t cusolverDnXgesvdjGetSweeps(uintptr_t handle, uintptr_t info, int32_t* sweeps) {
  ENTER(int32_t);
  NEED_SOLVER(handle, h);
  const JacobiInfo* i = find(info);
  if (i == nullptr || drain(h->stream.get()) != 0) return kSolverInvalid;
  *sweeps = i->taken;
  return kSolverOk;
}

int32_t cusolverDnXgesvdjGetResidual(uintptr_t handle, uintptr_t info, double* residual) {
  ENTER(int32_t);
  NEED_SOLVER(handle, h);
  const JacobiInfo* i = find(info);
  if (i == nullptr || drain(h->stream.get()) != 0) return kSolverInvalid;
  *residual = i->residual;
  return kSolverOk;
}

int32_t cusolverDnDgesvdj_bufferSize(uintptr_t handle, int32_t jobz, int32_t econ, int32_t m, int32_t n, uint64_t, int32_t lda, uint64_t, uint64_t,
                                     int32_t, uint64_t, int32_t, int32_t* lwork, uintptr_t params) {
  ENTER(int32_t);
  NEED_SOLVER(handle, h);
  if (jobz < 0 || jobz > 1 || econ < 0 || econ > 1 || m < 0 || n < 0 || lda < std::max(1, m) || lwork == nullptr || find(params) == nullptr)
    return kSolverInvalid;
  *lwork = least(m, n);
  return kSolverOk;
}

// Any shape; returns V, not V'. econ 0 wants square U and V.
int32_t cusolverDnDgesvdj(uintptr_t handle, int32_t jobz, int32_t econ, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t s, uint64_t u,
                          int32_t ldu, uint64_t v, int32_t ldv, uint64_t work, int32_t lwork, uint64_t info, uintptr_t params) {
  ENTER(int32_t);
  NEED_SOLVER(handle, h);
  const std::shared_ptr<JacobiInfo> p = infos().share(reinterpret_cast<const void*>(params));
  if (jobz < 0 || jobz > 1 || econ < 0 || econ > 1 || m < 0 || n < 0 || lda < std::max(1, m) || p == nullptr) return kSolverInvalid;
  if (jobz == 1 && (ldu < std::max(1, m) || ldv < std::max(1, n))) return kSolverInvalid;
  if (lwork < least(m, n) || !on_device(work, static_cast<size_t>(lwork) * sizeof(double))) return kSolverInvalid;
  return solver_submit(h, [=]() -> int {
    const int64_t least_side = std::min(m, n);
    const int64_t wide_u = econ == 1 ? least_side : m, wide_v = econ == 1 ? least_side : n;
    if (!there<double>(a, span(m, n, lda)) || !there<double>(s, static_cast<size_t>(least_side)) || !there<int32_t>(info, 1) ||
        (jobz == 1 && (!there<double>(u, span(m, wide_u, ldu)) || !there<double>(v, span(n, wide_v, ldv)))))
      return kIllegalAddress;
    const Matrix given = load(a, m, n, lda);
    spoil(a, m, n, lda);
    const bool flip = m < n;
    Matrix tall = given;
    if (flip) {
      tall = Matrix(n, m);
      for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) tall.at(j, i) = given.at(i, j);
    }
    Matrix left, right;
    std::vector<double> sigma;
    const int taken = svd(tall, flip ? wide_v : wide_u, p->tolerance, p->sweeps, &left, &sigma, &right);
    put_info(info, taken < 0 ? static_cast<int32_t>(least_side) + 1 : 0);
    p->taken = taken < 0 ? p->sweeps : taken;
    if (taken < 0) {
      spoil(s, least_side, 1, least_side);
      return kSuccess;
    }
    std::copy(sigma.begin(), sigma.end(), reinterpret_cast<double*>(s));
    p->residual = residual(tall, left, sigma, right);
    if (jobz == 1) {
      store(flip ? right : left, m, wide_u, u, ldu);
      store(flip ? left : right, n, wide_v, v, ldv);
    }
    return kSuccess;
  });
}
