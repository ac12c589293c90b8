#include "blas/gemm.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__x86_64__) && !defined(STANDIN_NO_CLONES)
#define STANDIN_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define STANDIN_CLONES
#endif

namespace standin {

namespace {

constexpr int kColumns = 6;     // columns of a tile
constexpr int64_t kDepth = 256; // depth of a packed block
constexpr int64_t kWidth = 1020;

typedef float Lanes32 __attribute__((vector_size(64)));
typedef double Lanes64 __attribute__((vector_size(64)));

// STANDIN_TILE defines tile, which computes a tile out = A B over depth terms, of 64 bytes
// of rows and kColumns columns.
#define STANDIN_TILE(T, Lanes)                                                           \
  STANDIN_CLONES void tile(int64_t depth, const T* a, const T* b, T* out) {              \
    Lanes sum[kColumns] = {};                                                            \
    for (int64_t p = 0; p < depth; p++) {                                                \
      const Lanes column = *reinterpret_cast<const Lanes*>(a + p * int64_t(64 / sizeof(T))); \
      for (int j = 0; j < kColumns; j++) sum[j] += column * b[p * kColumns + j];         \
    }                                                                                    \
    std::memcpy(out, sum, sizeof sum);                                                   \
  }

STANDIN_TILE(float, Lanes32)
STANDIN_TILE(double, Lanes64)

float round_tf32(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  if ((bits & 0x7F800000u) != 0x7F800000u) bits = (bits + 0x0FFFu + ((bits >> 13) & 1)) & ~0x1FFFu;
  std::memcpy(&v, &bits, 4);
  return v;
}

double round_tf32(double v) { return v; }

// pack writes panels of `width` rows of op(A), each as depth x width, padded with zeros.
// It serves for the columns of op(B) too, which are rows of op(B)'.
template <class T>
void pack(T* out, int64_t width, const T* x, int64_t stride, bool rows_contiguous, int64_t row0, int64_t rows,
          int64_t depth0, int64_t depth, bool tf32) {
  for (int64_t r = 0; r < rows; r += width) {
    const int64_t here = std::min(width, rows - r);
    if (rows_contiguous) {
      for (int64_t p = 0; p < depth; p++) {
        const T* from = x + (depth0 + p) * stride + row0 + r;
        for (int64_t i = 0; i < here; i++) out[p * width + i] = from[i];
        for (int64_t i = here; i < width; i++) out[p * width + i] = 0;
      }
    } else {
      for (int64_t i = 0; i < width; i++) {
        const T* from = x + (row0 + r + std::min(i, here - 1)) * stride + depth0;
        for (int64_t p = 0; p < depth; p++) out[p * width + i] = i < here ? from[p] : T(0);
      }
    }
    if (tf32)
      for (int64_t i = 0; i < depth * width; i++) out[i] = round_tf32(out[i]);
    out += width * depth;
  }
}

template <class T>
T* aligned(std::vector<T>& v, size_t n) {
  v.resize(n + 64 / sizeof(T));
  const auto at = reinterpret_cast<uintptr_t>(v.data());
  return reinterpret_cast<T*>((at + 63) / 64 * 64);
}

template <class T>
void scale(const Gemm<T>& g) {
  for (int64_t j = 0; j < g.n; j++) {
    T* c = g.c + j * g.ldc;
    if (g.beta == T(0)) std::fill(c, c + g.m, T(0));
    else if (g.beta != T(1))
      for (int64_t i = 0; i < g.m; i++) c[i] *= g.beta;
  }
}

template <class T>
void run(const Gemm<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  scale(g);
  if (g.k == 0 || g.alpha == T(0)) return;
  constexpr int64_t kRows = 64 / sizeof(T);
  const auto up = [](int64_t n, int64_t by) { return (n + by - 1) / by * by; };
  const int64_t deepest = std::min(g.k, kDepth);
  std::vector<T> store_a, store_b;
  T* pa = aligned(store_a, static_cast<size_t>(up(g.m, kRows) * deepest));
  T* pb = aligned(store_b, static_cast<size_t>(std::min(up(g.n, kColumns), kWidth) * deepest));
  alignas(64) T sum[kRows * kColumns];
  for (int64_t p = 0; p < g.k; p += kDepth) {
    const int64_t depth = std::min(kDepth, g.k - p);
    pack(pa, kRows, g.a, g.lda, !g.ta, 0, g.m, p, depth, g.tf32);
    for (int64_t j0 = 0; j0 < g.n; j0 += kWidth) {
      const int64_t columns = std::min(kWidth, g.n - j0);
      pack(pb, kColumns, g.b, g.ldb, g.tb, j0, columns, p, depth, g.tf32);
      for (int64_t j = 0; j < columns; j += kColumns) {
        for (int64_t i = 0; i < g.m; i += kRows) {
          tile(depth, pa + i * depth, pb + j * depth, sum);
          const int64_t rows = std::min(kRows, g.m - i), wide = std::min<int64_t>(kColumns, columns - j);
          for (int64_t jj = 0; jj < wide; jj++) {
            T* c = g.c + (j0 + j + jj) * g.ldc + i;
            for (int64_t ii = 0; ii < rows; ii++) c[ii] += g.alpha * sum[jj * kRows + ii];
          }
        }
      }
    }
  }
}

}  // namespace

void gemm(const Gemm<float>& g) { run(g); }
void gemm(const Gemm<double>& g) { run(g); }

}  // namespace standin
