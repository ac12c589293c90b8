// batch: lays out a minibatch of the samples that order names.
//
//   s = order_i of source m:  x_i = scale pool_m[rows_s],  y_ic = label c of s,  task_i = first task of m
//
// Shapes   order: n int32, each a sample. offsets: sources + 1 int32, source m has
//          samples offsets[m] up to offsets[m + 1]. all: one entry per source. x: n by d
//          float32, rows x_stride apart. y: n by outputs float32, rows y_stride
//          apart, NaN where the source has fewer outputs. task: n int32.
// Launch   grid: ceil(n / (BLOCK / 32)); block BLOCK, one warp per row.
// Order    no sums.
// Traffic  every stored element once, 4 d bytes written per sample; the source is found
//          by bisection of offsets, which stay in cache.
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    batch(int n, const int *order, const int *rows, const float *labels, const int *offsets, int sources,
          const SampleSource *all, int d, int outputs, float *x, i64 x_stride, float *y, i64 y_stride, int *task) {
  const int i = blockIdx.x * (BLOCK / 32) + (threadIdx.x >> 5);
  if (i >= n) return;
  const int s = order[i];
  int lo = 0, hi = sources; // offsets[lo] <= s < offsets[hi]
  while (hi - lo > 1) {
    const int mid = lo + (hi - lo) / 2;
    if (__ldg(offsets + mid) <= s) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  const SampleSource source = all[lo];
  write_features(source.pool, __ldg(rows + s), d, x + i * x_stride);
  const float *own = labels + source.labels + (i64)(s - __ldg(offsets + lo)) * source.outputs;
  for (int c = threadIdx.x & 31; c < outputs; c += 32) {
    y[i * y_stride + c] = c < source.outputs ? __ldg(own + c) : __uint_as_float(0x7fc00000u);
  }
  if ((threadIdx.x & 31) == 0) task[i] = source.task;
}
REGISTER_KERNEL(batch, BLOCK)
