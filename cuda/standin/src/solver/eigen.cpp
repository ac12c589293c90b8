// Eigenvalues of a symmetric matrix by cyclic Jacobi rotations (Golub and Van
// Loan, Matrix Computations, 8.5).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "solver/dense.hpp"

namespace standin {

namespace {

bool negligible(const Matrix& a, int64_t p, int64_t q, double whole) {
  const double x = std::fabs(a.at(q, p));
  return x <= 0x1p-53 * std::sqrt(std::fabs(a.at(p, p))) * std::sqrt(std::fabs(a.at(q, q))) || x <= 0x1p-60 * whole;
}

}  // namespace

bool eigen(Matrix a, std::vector<double>* w, Matrix* z) {
  const int64_t n = a.rows;
  *z = Matrix(n, n);
  w->assign(static_cast<size_t>(n), 0);
  for (double x : a.v)
    if (!std::isfinite(x)) return false;
  Matrix v(n, n);
  for (int64_t j = 0; j < n; j++) v.at(j, j) = 1;
  const double whole = std::sqrt(dot(n * n, a.v.data(), a.v.data()));
  bool moved = true;
  for (int sweep = 0; moved; sweep++) {
    if (sweep == 60) return false;
    moved = false;
    for (int64_t p = 0; p + 1 < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        if (negligible(a, p, q, whole)) continue;
        moved = true;
        const double theta = (a.at(q, q) - a.at(p, p)) / (2 * a.at(q, p));
        const double t = std::copysign(1 / (std::fabs(theta) + std::hypot(1.0, theta)), theta);
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (int64_t i = 0; i < n; i++) {
          const double x = a.at(i, p), y = a.at(i, q);
          a.at(i, p) = c * x - s * y;
          a.at(i, q) = s * x + c * y;
        }
        for (int64_t i = 0; i < n; i++) {
          const double x = a.at(p, i), y = a.at(q, i);
          a.at(p, i) = c * x - s * y;
          a.at(q, i) = s * x + c * y;
        }
        a.at(p, q) = a.at(q, p) = 0;
        for (int64_t i = 0; i < n; i++) {
          const double x = v.at(i, p), y = v.at(i, q);
          v.at(i, p) = c * x - s * y;
          v.at(i, q) = s * x + c * y;
        }
      }
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return a.at(x, x) < a.at(y, y); });
  for (int64_t k = 0; k < n; k++) {
    const int64_t from = order[static_cast<size_t>(k)];
    (*w)[static_cast<size_t>(k)] = a.at(from, from);
    std::copy(v.column(from), v.column(from) + n, z->column(k));
  }
  return true;
}

}  // namespace standin
