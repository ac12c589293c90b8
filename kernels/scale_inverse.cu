// scale_inverse: divides a matrix of singular vectors by the singular values; vectors of
// values up to the cut-off become zero.
//
//   keep_m = s_m > rcond s_0,  a_ij = keep_m ? a_ij / s_m : 0,  rank = number of keep_m
//
// with m = i where by_row is set, else m = j.
//
// Shapes   s: p float64, descending. a: rows by cols float64, rows a_stride apart, with p
//          rows where by_row is set, else p columns. rank: one int32, in device memory.
// Launch   grid: max(1, ceil(rows cols / (EACH BLOCK))); block BLOCK, EACH elements per
//          thread.
// Order    a count alone.
// Traffic  a twice.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    scale_inverse(int p, const double *s, double rcond, i64 rows, i64 cols, double *a, i64 a_stride, int by_row, int *rank) {
  __shared__ double counts[BLOCK / 32];
  const double cut = p > 0 ? rcond * s[0] : 0;
  const i64 first = blockIdx.x * (i64)(EACH * BLOCK) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const i64 e = first + k * BLOCK;
    if (e >= rows * cols) continue;
    const i64 i = e / cols, j = e % cols;
    const double v = s[by_row ? i : j];
    double *at = a + i * a_stride + j;
    *at = v > cut ? *at / v : 0;
  }
  if (blockIdx.x == 0) {
    double n = 0;
    for (int m = threadIdx.x; m < p; m += BLOCK) n += s[m] > cut;
    n = block_sum(n, counts);
    if (threadIdx.x == 0) *rank = (int)n;
  }
}
REGISTER_KERNEL(scale_inverse, BLOCK)
