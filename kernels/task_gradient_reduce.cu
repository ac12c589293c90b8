// task_gradient_reduce: q_t, loss_t and total_t from the sums of chunks.
//
//   q_t = sum_s part_s,  (loss_t, total_t) = sum_s part_sums_s   over slots[t] <= s < slots[t + 1]
//
// Shapes   slots: T + 1 int32. part, part_sums: as task_gradient writes them. q: T
//          by d float32, rows q_stride apart. loss, total: T float64; total may be
//          null. A task without slots gets zeros.
// Launch   grid: (T, ceil(d / block.x)); block (BLOCK, 1), or (GRADIENT_REDUCE_COLUMNS,
//          GRADIENT_REDUCE_THREADS) where some task has many slots, so that several
//          threads share a column.
// Order    fixed for a shape of the block: a thread's slots in order, in float64,
//          then the threads of a column in order.
// Traffic  4 d bytes per slot, which the preceding pass left in L2, and 4 d per task.
#include "common.cuh"

#define GRADIENT_REDUCE_BLOCK (GRADIENT_REDUCE_COLUMNS * GRADIENT_REDUCE_THREADS)
static_assert(GRADIENT_REDUCE_BLOCK >= BLOCK, "either shape of the block");

extern "C" __global__ void __launch_bounds__(GRADIENT_REDUCE_BLOCK)
    task_gradient_reduce(const int *slots, int d, const float *part, const double *part_sums, float *q, i64 q_stride,
                         double *loss, double *total) {
  __shared__ double column[GRADIENT_REDUCE_BLOCK];
  const int t = blockIdx.x, stride = (d + 3) / 4 * 4, by = blockDim.y;
  const int lo = slots[t], hi = slots[t + 1];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * by;
  for (int j0 = blockIdx.y * blockDim.x; j0 < d; j0 += gridDim.y * blockDim.x) {
    const int j = j0 + threadIdx.x;
    double s = 0;
    if (j < d) {
#pragma unroll 4
      for (int k = lo + threadIdx.y; k < hi; k += by) s += part[(i64)k * stride + j];
    }
    if (by > 1) {
      column[thread] = s;
      __syncthreads();
      if (threadIdx.y == 0) {
        for (int i = 1; i < by; i++) s += column[i * blockDim.x + threadIdx.x];
      }
      __syncthreads();
    }
    if (threadIdx.y == 0 && j < d) q[t * q_stride + j] = (float)s;
  }
  for (int which = 0; which < (total ? 2 : 1) && blockIdx.y == 0; which++) {
    double s = 0;
    for (int k = lo + thread; k < hi; k += threads) s += part_sums[2 * (i64)k + which];
    __syncthreads();
    column[thread] = s;
    __syncthreads();
    if (thread == 0) {
      const int used = min(threads, hi - lo);
      s = 0;
      for (int i = 0; i < used; i++) s += column[i];
      (which ? total : loss)[t] = s;
    }
  }
}
REGISTER_KERNEL(task_gradient_reduce, GRADIENT_REDUCE_BLOCK)
