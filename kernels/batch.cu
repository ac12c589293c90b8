// batch: a minibatch, laid out from the samples that order names.
//
//   s = order_i:  x_i = scale pool_t[rows_s],  y_i = labels_s,  task_i = t, the task of s
//
// Shapes   order: n int32, each a sample. offsets: tasks + 1 int32, task t has
//          samples offsets[t] up to offsets[t + 1]. pools: one per task. x: n by d
//          float32, rows x_stride apart. y: n float32. task: n int32.
// Launch   grid: ceil(n / (BLOCK / 32)); block BLOCK, one warp per row.
// Order    no sums.
// Traffic  every stored element once, 4 d bytes written per sample; the task is found
//          by bisection of offsets, which stay in cache.
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    batch(int n, const int *order, const int *rows, const float *labels, const int *offsets, int tasks,
          const PoolRows *pools, int d, float *x, i64 x_stride, float *y, int *task) {
  const int i = blockIdx.x * (BLOCK / 32) + (threadIdx.x >> 5);
  if (i >= n) return;
  const int s = order[i];
  int lo = 0, hi = tasks; // offsets[lo] <= s < offsets[hi]
  while (hi - lo > 1) {
    const int mid = lo + (hi - lo) / 2;
    if (__ldg(offsets + mid) <= s) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  write_features(pools[lo], __ldg(rows + s), d, x + i * x_stride);
  if ((threadIdx.x & 31) == 0) {
    y[i] = __ldg(labels + s);
    task[i] = lo;
  }
}
REGISTER_KERNEL(batch, BLOCK)
