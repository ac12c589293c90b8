// norm: out = ||x||_2 without undue overflow or underflow, in two stages.
//
//   part = (sum (SCALE_UP x_j)^2 of the small, sum x_j^2 of the others, sum (SCALE_DOWN x_j)^2 of the large)
//
// over the elements of chunk c, and the norm from the sums over the chunks (Blue 1978;
// Anderson 2017). A NaN is one of the others.
//
// Shapes   x: n float64. Chunk c has the elements c span to (c + 1) span - 1. part: 3
//          by chunks float64. out: one float64, in device memory.
// Launch   norm: grid chunks, block BLOCK. norm_reduce: grid 1, block 32.
// Order    fixed, as in dots.cu.
// Traffic  x once.
#include "common.cuh"

#define SMALL 0x1p-511
#define LARGE 0x1p486
#define SCALE_UP 0x1p537
#define SCALE_DOWN 0x1p-538

extern "C" __global__ void __launch_bounds__(BLOCK)
    norm_f64(const double *x, i64 n, i64 span, double *part) {
  const int warps = BLOCK / 32;
  __shared__ double sums[3 * warps];
  const i64 lo = blockIdx.x * span, hi = min(n, lo + span);
  double low = 0, mid = 0, high = 0;
#pragma unroll 4
  for (i64 j = lo + threadIdx.x; j < hi; j += BLOCK) {
    const double v = fabs(x[j]);
    if (v > LARGE) {
      high = fma(v * SCALE_DOWN, v * SCALE_DOWN, high);
    } else if (v < SMALL) {
      low = fma(v * SCALE_UP, v * SCALE_UP, low);
    } else {
      mid = fma(v, v, mid);
    }
  }
  low = block_sum(low, sums);
  mid = block_sum(mid, sums + warps);
  high = block_sum(high, sums + 2 * warps);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = low;
    part[gridDim.x + blockIdx.x] = mid;
    part[2 * gridDim.x + blockIdx.x] = high;
  }
}
REGISTER_KERNEL(norm_f64, BLOCK)

extern "C" __global__ void __launch_bounds__(32)
    norm_reduce(const double *part, int chunks, double *out) {
  double low = 0, mid = 0, high = 0;
  for (int c = threadIdx.x; c < chunks; c += 32) {
    low += part[c];
    mid += part[chunks + c];
    high += part[2 * (i64)chunks + c];
  }
  low = warp_sum(low);
  mid = warp_sum(mid);
  high = warp_sum(high);
  if (threadIdx.x != 0) return;
  if (high > 0) {
    out[0] = sqrt(high + mid * SCALE_DOWN * SCALE_DOWN) / SCALE_DOWN;
  } else if (low > 0) {
    const double a = sqrt(mid), b = sqrt(low) / SCALE_UP;
    const double most = a < b ? b : a, least = a < b ? a : b; // a may be NaN: then it is `most`
    out[0] = most * sqrt(1 + (least / most) * (least / most));
  } else {
    out[0] = sqrt(mid);
  }
}
REGISTER_KERNEL(norm_reduce, 32)
