// Residuals of a minibatch under the heads of its tasks, and the gradient in its
// features:
//
//   r_i = z_i'w_t - y_i with t = task_i,  dz_i = scale r_i w_t;
//
// r_i = 0 and dz_i = 0 where t is not one of the tasks.
// Shapes: z and dz n by K, w tasks by K, with row pitches in elements; y, task, r
// n. r is float64; dz may be null.
// Launch: blocks of 256, a warp a sample; grid ceil(n / 8).
// Determinism: lane l sums the products l, l + 32, ... in float64; the lanes are
// added by a butterfly.
// Traffic: z and dz once; w stays in cache.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
head_residual(i64 n, int k, int tasks, const float *z, i64 z_pitch, const float *y, const int *task,
              const float *w, i64 w_pitch, double scale, float *dz, i64 dz_pitch, double *r) {
  i64 i = (i64)blockIdx.x * 8 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (i >= n) return;
  int t = task[i];
  bool known = t >= 0 && t < tasks;
  const float *head = w + (known ? t * w_pitch : 0);
  double sum = 0;
  if (known)
    for (int j = lane; j < k; j += 32) sum += (double)z[i * z_pitch + j] * head[j];
  sum = warp_sum(sum);
  double residual = known ? sum - y[i] : 0;
  if (lane == 0) r[i] = residual;
  if (!dz) return;
  float g = (float)(scale * residual);
  for (int j = lane; j < k; j += 32) dz[i * dz_pitch + j] = known ? g * head[j] : 0;
}
REGISTER_KERNEL(head_residual, 256)
