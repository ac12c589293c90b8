// head_residual: residuals of a minibatch under the heads of its tasks, and the gradient
// with respect to its features.
//
//   r_ic = z_i'w_t - y_ic with t = task_i + c,  dz_i = scale sum_c r_ic w_t
//
// r_ic = 0 where y_ic is NaN, and where t or task_i is not one of the tasks.
//
// Shapes   z, dz: n by K; dz may be null. w: tasks by K. y: n by outputs. Rows of each
//          are its stride apart. task: n. r: n by outputs float64.
// Launch   grid: ceil(n / (BLOCK / 32)); block BLOCK, one warp per sample.
// Order    fixed: residuals in float64, lane l sums the products l, l + 32, ..., and the
//          lanes are added by a butterfly; dz in float32, in the order of the outputs.
// Traffic  z and dz once; w stays in cache.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    head_residual(i64 n, int k, int tasks, int outputs, const float *z, i64 z_stride, const float *y, i64 y_stride,
                  const int *task, const float *w, i64 w_stride, double scale, float *dz, i64 dz_stride, double *r) {
  i64 i = (i64)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (i >= n) return;
  const int first = task[i];
  for (int c = 0; c < outputs; c++) {
    const float label = y[i * y_stride + c];
    const bool known = first >= 0 && first < tasks - c && label == label; // not NaN
    const float *head = w + (known ? (i64)(first + c) * w_stride : 0);
    double sum = 0;
    if (known)
      for (int j = lane; j < k; j += 32) sum += (double)z[i * z_stride + j] * head[j];
    sum = warp_sum(sum);
    double residual = known ? sum - label : 0;
    if (lane == 0) r[i * outputs + c] = residual;
    if (!dz) continue;
    float g = (float)(scale * residual);
    for (int j = lane; j < k; j += 32) {
      float v = known ? g * head[j] : 0;
      dz[i * dz_stride + j] = c ? dz[i * dz_stride + j] + v : v;
    }
  }
}
REGISTER_KERNEL(head_residual, BLOCK)
