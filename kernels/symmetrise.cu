// symmetrise: the other triangle of a symmetric matrix, after a routine that
// writes one.
//
//   a_ji = a_ij   for i > j (lower set) or i < j
//
// Shapes   a: n by n, rows a_stride apart.
// Launch   grid: t (t + 1) / 2 with t = ceil(n / 32), a block a pair of tiles; block
//          (32, 8).
// Order    no sums.
// Traffic  half of a read, half written, in lines of 32 elements on both sides.
#include "tiles.cuh"

template <class T> __device__ inline void symmetrise(i64 n, T *a, i64 a_stride, int lower, T (*tile)[33]) {
  i64 row, column;
  lower_tile(blockIdx.x, row, column);
  const i64 i0 = (lower ? row : column) * 32, j0 = (lower ? column : row) * 32; // of the tile that is read
  for (int k = threadIdx.y; k < 32; k += 8) {
    if (i0 + k < n && j0 + threadIdx.x < n) tile[k][threadIdx.x] = a[(i0 + k) * a_stride + j0 + threadIdx.x];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) {
    const i64 i = j0 + k, j = i0 + threadIdx.x;
    if (i < n && j < n && (lower ? i < j : i > j)) a[i * a_stride + j] = tile[threadIdx.x][k];
  }
}

extern "C" __global__ void __launch_bounds__(256) symmetrise_f32(i64 n, float *a, i64 a_stride, int lower) {
  __shared__ float tile[32][33];
  symmetrise<float>(n, a, a_stride, lower, tile);
}
REGISTER_KERNEL(symmetrise_f32, 256)

extern "C" __global__ void __launch_bounds__(256) symmetrise_f64(i64 n, double *a, i64 a_stride, int lower) {
  __shared__ double tile[32][33];
  symmetrise<double>(n, a, a_stride, lower, tile);
}
REGISTER_KERNEL(symmetrise_f64, 256)
