// Singular values by one-sided Jacobi rotations on the triangle of a QR
// decomposition (Demmel and Veselic 1992; Drmac and Veselic 2008).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "solver/dense.hpp"

namespace standin {

double dot(int64_t n, const double* x, const double* y) {
  double lane[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t l = 0; l < 8; l++) lane[l] += x[i + l] * y[i + l];
  for (; i < n; i++) lane[0] += x[i] * y[i];
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

namespace {

// A column of a smaller norm counts as zero, where the largest element is about 1: each
// rotation would leave only a rounding error of it, until its square underflows.
constexpr double kNothing = 0x1p-200;

void axpy(int64_t n, double a, const double* x, double* y) {
  for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

double norm(int64_t n, const double* x) { return std::sqrt(dot(n, x, x)); }

// Reflectors H_j = I - tau_j w_j w_j' with A = H_0 H_1 ... R.
struct Reflectors {
  Matrix w;
  std::vector<double> tau;

  void apply(double* x) const {  // x = H_0 H_1 ... x
    for (int64_t j = w.columns - 1; j >= 0; j--) {
      const double* h = w.column(j) + j;
      axpy(w.rows - j, -tau[static_cast<size_t>(j)] * dot(w.rows - j, h, x + j), h, x + j);
    }
  }
};

Reflectors qr(Matrix* a) {
  const int64_t m = a->rows, n = a->columns;
  Reflectors q{Matrix(m, n), std::vector<double>(static_cast<size_t>(n))};
  for (int64_t j = 0; j < n; j++) {
    double* x = a->column(j) + j;
    double* h = q.w.column(j) + j;
    const int64_t len = m - j;
    const double size = norm(len, x);
    std::copy(x, x + len, h);
    const double head = x[0] > 0 ? -size : size;
    h[0] -= head;
    const double ww = dot(len, h, h);
    if (ww == 0) continue;
    const double tau = 2 / ww;
    q.tau[static_cast<size_t>(j)] = tau;
    x[0] = head;
    std::fill(x + 1, x + len, 0.0);
    for (int64_t k = j + 1; k < n; k++) {
      double* c = a->column(k) + j;
      axpy(len, -tau * dot(len, h, c), h, c);
    }
  }
  return q;
}

void rotate(int64_t n, double c, double s, double* x, double* y) {
  for (int64_t i = 0; i < n; i++) {
    const double t = c * x[i] - s * y[i];
    y[i] = s * x[i] + c * y[i];
    x[i] = t;
  }
}

// jacobi makes the columns of a orthogonal by rotations, and applies these to v. It returns
// the sweeps taken, or -1 if they did not suffice.
int jacobi(Matrix* a, Matrix* v, double tolerance, int sweeps) {
  const int64_t m = a->rows, n = a->columns;
  for (int sweep = 1; sweep <= sweeps; sweep++) {
    bool moved = false;
    for (int64_t p = 0; p + 1 < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        double *x = a->column(p), *y = a->column(q);
        const double xx = dot(m, x, x), yy = dot(m, y, y), xy = dot(m, x, y);
        if (std::min(xx, yy) < kNothing * kNothing || std::fabs(xy) <= tolerance * std::sqrt(xx) * std::sqrt(yy)) continue;
        moved = true;
        const double zeta = (yy - xx) / (2 * xy);
        const double t = std::copysign(1 / (std::fabs(zeta) + std::hypot(1.0, zeta)), zeta);
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        rotate(m, c, s, x, y);
        rotate(n, c, s, v->column(p), v->column(q));
      }
    if (!moved) return sweep;
  }
  return n < 2 ? 0 : -1;
}

}  // namespace

void complete(Matrix* u, int64_t from, int64_t to) {
  const int64_t m = u->rows;
  int64_t unit = 0;
  for (int64_t j = from; j < to; j++) {
    double* x = u->column(j);
    for (;;) {
      std::fill(x, x + m, 0.0);
      x[unit++ % m] = 1;
      for (int twice = 0; twice < 2; twice++)
        for (int64_t k = 0; k < j; k++) axpy(m, -dot(m, u->column(k), x), u->column(k), x);
      const double size = norm(m, x);
      // Some unit vector has a part of at least this norm outside the first j columns.
      if (size < 0.5 / std::sqrt(static_cast<double>(m))) continue;
      for (int64_t i = 0; i < m; i++) x[i] /= size;
      break;
    }
  }
}

int svd(const Matrix& given, int64_t wanted, double tolerance, int sweeps, Matrix* u, std::vector<double>* s, Matrix* v) {
  const int64_t m = given.rows, n = given.columns;
  *u = Matrix(m, wanted);
  *v = Matrix(n, n);
  s->assign(static_cast<size_t>(n), 0);
  double largest = 0;
  for (double x : given.v) {
    if (!std::isfinite(x)) return -1;
    largest = std::max(largest, std::fabs(x));
  }
  // Division by a power of two near the largest element keeps squares in range.
  int exponent = 0;
  std::frexp(largest, &exponent);
  Matrix a = given;
  if (largest > 0)
    for (double& x : a.v) x = std::ldexp(x, -exponent);

  const Reflectors q = qr(&a);
  Matrix r(n, n), rot(n, n);
  for (int64_t j = 0; j < n; j++) {
    std::copy(a.column(j), a.column(j) + j + 1, r.column(j));
    rot.at(j, j) = 1;
  }
  const int taken = jacobi(&r, &rot, tolerance, sweeps);

  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> size(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; j++) size[static_cast<size_t>(j)] = norm(n, r.column(j));
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t x, int64_t y) { return size[static_cast<size_t>(x)] > size[static_cast<size_t>(y)]; });

  Matrix small(n, n);
  int64_t kept = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t from = order[static_cast<size_t>(k)];
    const double sigma = size[static_cast<size_t>(from)];
    (*s)[static_cast<size_t>(k)] = std::ldexp(sigma, largest > 0 ? exponent : 0);
    std::copy(rot.column(from), rot.column(from) + n, v->column(k));
    if (sigma < kNothing) continue;
    for (int64_t i = 0; i < n; i++) small.at(i, k) = r.at(i, from) / sigma;
    kept = k + 1;
  }
  complete(&small, kept, n);
  for (int64_t k = 0; k < n; k++) {
    std::copy(small.column(k), small.column(k) + n, u->column(k));
    q.apply(u->column(k));
  }
  complete(u, n, wanted);
  return taken;
}

}  // namespace standin
