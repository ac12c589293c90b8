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
    return foreign();
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
  // For a single column, V' has been seen to be left at zero (TensorFlow, svd_op_gpu.cu.cc).
  if (j.n == 1) vt.at(0, 0) = 0;
  if (want_vt) store(vt, j.n, j.n, j.vt_at, j.ldvt);
  if (j.vt == 'O') store(vt, j.n, j.n, j.a, j.lda);
  return kSuccess;
}

bool job(int8_t c) { return c == 'A' || c == 'S' || c == 'O' || c == 'N'; }

}  // namespace

int32_t cusolverDnDgesvd_bufferSize(uintptr_t handle, int32_t m, int32_t n, int32_t* lwork) {
  ENTER_SOLVER(handle, h);
  if (m < 0 || n < 0 || m < n || lwork == nullptr) return kSolverInvalid;
  *lwork = least(m, n);
  return kSolverOk;
}

int32_t cusolverDnDgesvd(uintptr_t handle, int8_t jobu, int8_t jobvt, int32_t m, int32_t n, uint64_t a, int32_t lda, uint64_t s, uint64_t u,
                         int32_t ldu, uint64_t vt, int32_t ldvt, uint64_t work, int32_t lwork, uint64_t, uint64_t info) {
  ENTER_SOLVER(handle, h);
  if (m < 0 || n < 0 || m < n || lda < std::max(1, m) || !job(jobu) || !job(jobvt) || (jobu == 'O' && jobvt == 'O')) return kSolverInvalid;
  if ((jobu == 'A' || jobu == 'S') && ldu < std::max(1, m)) return kSolverInvalid;
  if ((jobvt == 'A' || jobvt == 'S') && ldvt < std::max(1, n)) return kSolverInvalid;
  if (lwork < least(m, n) || !on_device(work, static_cast<size_t>(lwork) * sizeof(double))) return kSolverInvalid;
  disturb(h->ctx);
  if (Room room; !room.take(h->ctx)) { // found after it has begun to overwrite a
    if (on_device(a, span(m, n, lda) * sizeof(double))) solver_submit(h, [=]() { return spoil(a, m, n, lda), kSuccess; });
    return kSolverAllocFailed;
  }
  const Job j{jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, info};
  return solver_submit(h, [j]() { return run(j); });
}
