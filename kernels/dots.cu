// dots: out_ji = a_i'x_j for the rows a_i of a and x_j of x, in two stages.
//
//   part[j, i, c] = sum over k in chunk c of a_ik x_jk,  out_ji = sum_c part[j, i, c]
//
// Shapes   a: rows by n, rows a_stride apart, float64 with x of float64, else stored
//          as uint8, float16 or float32. x: vectors by n, rows x_stride apart. Chunk c
//          has the elements c span to (c + 1) span - 1. part: vectors by rows by chunks
//          float64. out: vectors by rows float64, rows out_stride apart, in device
//          memory. With n == 0 one empty chunk gives zeros.
// Launch   dots: grid (chunks, groups of DOTS_ROWS rows times vectors, vectors
//          innermost; a smaller grid takes turns), block BLOCK: the rows of a group share
//          one read of x_j. dots_reduce: grid vectors times rows, block 32.
// Order    fixed: products of float64, a thread's in order, lanes by butterfly,
//          warps in order; then a lane's chunks in order, lanes by butterfly.
// Traffic  a and x once from DRAM; a another vectors - 1 times from L2 and x another
//          ceil(rows / DOTS_ROWS) - 1 times.
#include "common.cuh"

template <class A, class T>
__device__ inline void chunk_dots(int group, const A *a, i64 a_stride, int rows, const T *x, i64 n, i64 span,
                                  double *part, double *sums) {
  const i64 lo = blockIdx.x * span, hi = min(n, lo + span);
  const int first = group * DOTS_ROWS, live = min(DOTS_ROWS, rows - first);
  a += first * a_stride;
  double s[DOTS_ROWS] = {};
#pragma unroll(sizeof(A) == 1 || sizeof(A) == 8 ? 2 : 4) // unrolled by four, these types do not fit the registers of sm_120
  for (i64 j = lo + threadIdx.x; j < hi; j += BLOCK) {
    const double v = x[j];
#pragma unroll
    for (int k = 0; k < DOTS_ROWS; k++) {
      if (k < live) s[k] = fma((double)widen(a[k * a_stride + j]), v, s[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < DOTS_ROWS; k++) {
    const double total = block_sum(s[k], sums + BLOCK / 32 * k);
    if (threadIdx.x == 0 && k < live) part[(i64)(first + k) * gridDim.x + blockIdx.x] = total;
  }
}

#define DOTS(name, of_a, type)                                                                                      \
  extern "C" __global__ void __launch_bounds__(BLOCK) name(const of_a *a, i64 a_stride, int rows, const type *x,    \
                                                         i64 x_stride, int vectors, i64 n, i64 span, double *part) { \
    __shared__ double sums[DOTS_ROWS * (BLOCK / 32)];                                                               \
    const int pairs = (rows + DOTS_ROWS - 1) / DOTS_ROWS * vectors;                                                 \
    for (int pair = blockIdx.y; pair < pairs; pair += gridDim.y) {                                                  \
      const i64 j = pair % vectors;                                                                                 \
      chunk_dots(pair / vectors, a, a_stride, rows, x + j * x_stride, n, span, part + j * rows * gridDim.x, sums);  \
    }                                                                                                               \
  }                                                                                                                 \
  REGISTER_KERNEL(name, BLOCK)

DOTS(dots_u8, u8, float)
DOTS(dots_f16, half, float)
DOTS(dots_f32, float, float)
DOTS(dots_f64, double, double)

extern "C" __global__ void __launch_bounds__(32)
    dots_reduce(const double *part, int chunks, int rows, double *out, i64 out_stride) {
  double s = 0;
  for (int c = threadIdx.x; c < chunks; c += 32) s += part[(i64)blockIdx.x * chunks + c];
  s = warp_sum(s);
  if (threadIdx.x == 0) out[blockIdx.x / rows * out_stride + blockIdx.x % rows] = s;
}
REGISTER_KERNEL(dots_reduce, 32)
