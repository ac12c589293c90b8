// C = alpha op(A) op(B) + beta C, column-major, accumulated in T.
#pragma once

#include <cstddef>
#include <cstdint>

namespace standin {

template <class T>
struct Gemm {
  bool ta, tb;
  int64_t m, n, k;
  T alpha;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  T beta;
  T* c;
  int64_t ldc;
  bool tf32;  // round A and B to ten bits of mantissa
};

void gemm(const Gemm<float>& g);
void gemm(const Gemm<double>& g);

}  // namespace standin
