// task_gram_reduce: G_t and c_t from the products of chunks.
//
//   G_t = sum_i z_i z_i',  c_t = sum_i y_i z_i   over slots[t] <= s < slots[t + 1]
//
// Shapes   slots: T + 1 int32. part: as task_gram writes it. g: T blocks of k by k
//          float64, both triangles written. c: T by k float64, rows c_stride apart.
//          A task without slots gets zeros.
// Launch   grid: (T, ceil((k + 1)^2 / 256), fewer will do); block 256, an element a
//          thread.
// Order    fixed: the slots in order.
// Traffic  part once, g and c once.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
    task_gram_reduce(const int *slots, int k, const double *part, double *g, double *c, i64 c_stride) {
  const int t = blockIdx.x, lo = slots[t], hi = slots[t + 1];
  const i64 size = (i64)(k + 1) * (k + 1), step = gridDim.y * 256ll;
  g += (i64)t * k * k;
  c += t * c_stride;
  for (i64 e = blockIdx.y * 256ll + threadIdx.x; e < size; e += step) {
    const int i = (int)(e / (k + 1)), j = (int)(e % (k + 1));
    if (j > i || j == k) continue;
    double s = 0;
#pragma unroll 8
    for (int n = lo; n < hi; n++) s += part[n * size + e];
    if (i == k) {
      c[j] = s;
    } else {
      g[(i64)i * k + j] = s;
      g[(i64)j * k + i] = s;
    }
  }
}
REGISTER_KERNEL(task_gram_reduce, 256)
