// Gradient of a minibatch's squared loss in the heads, and the loss:
//
//   dw_t = scale sum_{i: task_i = t} r_i z_i,  loss += sum_i r_i^2
//
// with the residuals r of head_residual; dw_t = 0 for a task without samples.
// Shapes: z n by K, dw tasks by K, with row pitches in elements; task, r n. dw
// may be null, when the loss alone is wanted.
// Launch: blocks of 128; grid tasks + 1, or 1 without dw. The first block adds up
// the loss, block t + 1 has task t.
// Determinism: sums run over the samples in order, those of the loss in a fixed
// order of threads.
// Traffic: task once a block, from cache; z and dw once.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(128)
head_gradient(i64 n, int k, const float *z, i64 z_pitch, const int *task, const double *r, double scale,
              float *dw, i64 dw_pitch, double *loss) {
  __shared__ double sums[4];
  if (blockIdx.x == 0) {
    double sum = 0;
    for (i64 i = threadIdx.x; i < n; i += 128) sum += r[i] * r[i];
    sum = block_sum(sum, sums);
    if (threadIdx.x == 0) *loss += sum;
    return;
  }
  // A batch has few samples of a task: the block finds them 128 at a time.
  __shared__ u32 mine[4];
  int t = (int)blockIdx.x - 1;
  int column = threadIdx.x;
  float own = 0; // the sum of this column; those of the columns behind 128 are added up in dw
  for (int j = column + 128; j < k; j += 128) dw[t * dw_pitch + j] = 0;
  for (i64 first = 0; first < n; first += 128) {
    __syncthreads();
    i64 i = first + threadIdx.x;
    u32 found = __ballot_sync(FULL_WARP, i < n && task[i] == t);
    if (threadIdx.x % 32 == 0) mine[threadIdx.x / 32] = found;
    __syncthreads();
    for (int w = 0; w < 4; w++) {
      for (u32 left = mine[w]; left; left &= left - 1) {
        i64 s = first + 32 * w + __ffs((int)left) - 1;
        float g = (float)(scale * r[s]);
        if (column < k) own += g * z[s * z_pitch + column];
        for (int j = column + 128; j < k; j += 128) dw[t * dw_pitch + j] += g * z[s * z_pitch + j];
      }
    }
  }
  if (column < k) dw[t * dw_pitch + column] = own;
}
REGISTER_KERNEL(head_gradient, 128)
