// head_gradient: gradient of a minibatch's squared loss with respect to the heads, and the
// loss. With the residuals r of head_residual,
//
//   dw_t = scale sum_{i, c: task_i + c = t} r_ic z_i,  loss += sum_i,c r_ic^2
//
// and dw_t = 0 for a task without samples.
//
// Shapes   z: n by K. dw: tasks by K; it may be null, when the loss alone is wanted.
//          Rows of each are its stride apart. task: n. r: n by outputs. loss: one float64.
// Launch   grid: tasks + 1, or 1 without dw; block HEAD_BLOCK. The first block adds up
//          the loss, block t + 1 computes dw_t.
// Order    fixed: dw over the samples in order; the loss by threads, lanes by butterfly,
//          warps in order.
// Traffic  task once per block, from cache; z and dw once.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(HEAD_BLOCK)
    head_gradient(i64 n, int k, int outputs, const float *z, i64 z_stride, const int *task, const double *r, double scale, float *dw,
                  i64 dw_stride, double *loss) {
  const int warps = HEAD_BLOCK / 32;
  __shared__ double sums[warps];
  if (blockIdx.x == 0) {
    double sum = 0;
    for (i64 i = threadIdx.x; i < n * outputs; i += HEAD_BLOCK) sum += r[i] * r[i];
    sum = block_sum(sum, sums);
    if (threadIdx.x == 0) *loss += sum;
    return;
  }
  // A batch has few samples of a task: the block finds them HEAD_BLOCK at a time.
  __shared__ u32 mine[warps];
  int t = (int)blockIdx.x - 1;
  int column = threadIdx.x;
  float own = 0; // the sum of this column; those of the columns from HEAD_BLOCK on are added up in dw
  for (int j = column + HEAD_BLOCK; j < k; j += HEAD_BLOCK) dw[t * dw_stride + j] = 0;
  for (i64 first = 0; first < n; first += HEAD_BLOCK) {
    __syncthreads();
    i64 i = first + threadIdx.x;
    u32 found = __ballot_sync(FULL_WARP, i < n && task[i] >= 0 && task[i] <= t && t - task[i] < outputs);
    if (threadIdx.x % 32 == 0) mine[threadIdx.x / 32] = found;
    __syncthreads();
    for (int w = 0; w < warps; w++) {
      for (u32 left = mine[w]; left; left &= left - 1) {
        i64 s = first + 32 * w + __ffs((int)left) - 1;
        float g = (float)(scale * r[s * outputs + t - task[s]]);
        if (column < k) own += g * z[s * z_stride + column];
        for (int j = column + HEAD_BLOCK; j < k; j += HEAD_BLOCK) dw[t * dw_stride + j] += g * z[s * z_stride + j];
      }
    }
  }
  if (column < k) dw[t * dw_stride + column] = own;
}
REGISTER_KERNEL(head_gradient, HEAD_BLOCK)
