// task_gram: the Gram products of a chunk of samples, in float64.
//
//   part_s = sum_i u_i u_i',  u_i = (z_i, y_i),  over the samples i of chunk s
//
// task_gram_reduce adds the chunks of a task.
//
// Shapes   z: N by k float32, rows z_stride apart, row i for sample i. part: k + 1
//          by k + 1 float64 for each chunk's slot, of which the lower triangle is
//          written.
// Launch   grid: (chunks, any height up to t (t + 1) / 2 with t = ceil((k + 1) / 32)):
//          a tile of 32 by 32 on or below the diagonal at a time. Block 256, two by
//          two elements a thread.
// Order    fixed: the samples in order.
// Traffic  z about t times, mostly from L2, and 8 (k + 1)^2 bytes a chunk. At k = 50
//          this is bound by shared memory, 1 load a multiply-add: under 0.1 ms for
//          33,000 samples.
#include "tiles.cuh"

__device__ inline double gram_value(const float *z, i64 z_stride, const float *y, i64 sample, int column, int k) {
  return column < k ? z[sample * z_stride + column] : column == k ? y[sample] : 0;
}

extern "C" __global__ void __launch_bounds__(256)
    task_gram(const SampleChunk *chunks, const float *y, const float *z, i64 z_stride, int k, double *part) {
  __shared__ double left[32][33], right[32][33];
  const SampleChunk c = chunks[blockIdx.x];
  const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4, column = threadIdx.x & 31, row = threadIdx.x >> 5;
  const i64 t = (k + 32) / 32, tiles = t * (t + 1) / 2;
  for (i64 tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
    i64 ti, tj;
    lower_tile(tile, ti, tj);
    const int i0 = (int)ti * 32, j0 = (int)tj * 32;
    double s[2][2] = {{0, 0}, {0, 0}};
    for (int begin = 0; begin < c.count; begin += 32) {
      const int live = min(32, c.count - begin);
      for (int n = row; n < live; n += 8) {
        left[n][column] = gram_value(z, z_stride, y, c.first + begin + n, i0 + column, k);
        right[n][column] = gram_value(z, z_stride, y, c.first + begin + n, j0 + column, k);
      }
      __syncthreads();
      for (int n = 0; n < live; n++) {
        const double a0 = left[n][ty], a1 = left[n][ty + 16], b0 = right[n][tx], b1 = right[n][tx + 16];
        s[0][0] = fma(a0, b0, s[0][0]);
        s[0][1] = fma(a0, b1, s[0][1]);
        s[1][0] = fma(a1, b0, s[1][0]);
        s[1][1] = fma(a1, b1, s[1][1]);
      }
      __syncthreads();
    }
    double *out = part + (i64)c.slot * (k + 1) * (k + 1);
#pragma unroll
    for (int u = 0; u < 2; u++) {
#pragma unroll
      for (int v = 0; v < 2; v++) {
        const int i = i0 + ty + 16 * u, j = j0 + tx + 16 * v;
        if (i <= k && j <= i) out[(i64)i * (k + 1) + j] = s[u][v];
      }
    }
  }
}
REGISTER_KERNEL(task_gram, 256)
