// head_residual: residuals of a minibatch under the heads of its tasks, and the
// gradient in its features.
//
//   r_i = z_i'w_t - y_i with t = task_i,  dz_i = scale r_i w_t
//
// r_i = 0 and dz_i = 0 where t is not one of the tasks.
//
// Shapes   z, dz: n by K; dz may be null. w: tasks by K. Rows of each are its stride
//          apart. y, task: n. r: n float64.
// Launch   grid: ceil(n / (BLOCK / 32)); block BLOCK, one warp per sample.
// Order    fixed, in float64: lane l sums the products l, l + 32, ..., the lanes are
//          added by a butterfly.
// Traffic  z and dz once; w stays in cache.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    head_residual(i64 n, int k, int tasks, const float *z, i64 z_stride, const float *y, const int *task, const float *w,
                  i64 w_stride, double scale, float *dz, i64 dz_stride, double *r) {
  i64 i = (i64)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (i >= n) return;
  int t = task[i];
  bool known = t >= 0 && t < tasks;
  const float *head = w + (known ? t * w_stride : 0);
  double sum = 0;
  if (known)
    for (int j = lane; j < k; j += 32) sum += (double)z[i * z_stride + j] * head[j];
  sum = warp_sum(sum);
  double residual = known ? sum - y[i] : 0;
  if (lane == 0) r[i] = residual;
  if (!dz) return;
  float g = (float)(scale * residual);
  for (int j = lane; j < k; j += 32) dz[i * dz_stride + j] = known ? g * head[j] : 0;
}
REGISTER_KERNEL(head_residual, BLOCK)
