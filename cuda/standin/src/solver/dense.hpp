// Column-major float64 matrices and the decompositions of the solver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace standin {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> v;

  Matrix() = default;
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), v(static_cast<size_t>(r * c)) {}
  double* column(int64_t j) { return v.data() + j * rows; }
  const double* column(int64_t j) const { return v.data() + j * rows; }
  double& at(int64_t i, int64_t j) { return v[static_cast<size_t>(j * rows + i)]; }
  double at(int64_t i, int64_t j) const { return v[static_cast<size_t>(j * rows + i)]; }
};

double dot(int64_t n, const double* x, const double* y);

// svd decomposes the m by n matrix a, m >= n, as U diag(s) V': u is m by
// `wanted` (n <= wanted <= m) with orthonormal columns, s descending, v n by n.
// It returns the sweeps taken, or -1 if they did not suffice or a is not finite.
int svd(const Matrix& a, int64_t wanted, double tolerance, int sweeps, Matrix* u, std::vector<double>* s, Matrix* v);

// complete fills the columns [from, to) of u so that the first `to` columns are orthonormal.
void complete(Matrix* u, int64_t from, int64_t to);

}  // namespace standin
