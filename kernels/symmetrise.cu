// symmetrise: fills the other triangle of a symmetric matrix, after a routine that
// writes one.
//
//   a_ji = a_ij   for i > j (lower set) or i < j
//
// Shapes   a: n by n, rows a_stride apart.
// Launch   grid: t (t + 1) / 2 with t = ceil(n / TILE), one block per pair of tiles;
//          block (TILE, TILE_LINES).
// Order    no sums.
// Traffic  half of a read, half written, in lines of TILE elements on both sides.
#include "common.cuh"

// lower_tile gives tile (row, column), column <= row, of number n in the order
// (0, 0), (1, 0), (1, 1), (2, 0), ...
__device__ inline void lower_tile(i64 n, i64 &row, i64 &column) {
  row = (i64)((sqrt(8.0 * (double)n + 1) - 1) / 2);
  while (row * (row + 1) / 2 > n) row--;
  while ((row + 1) * (row + 2) / 2 <= n) row++;
  column = n - row * (row + 1) / 2;
}

template <class T> __device__ inline void symmetrise(i64 n, T *a, i64 a_stride, int lower, T (*tile)[TILE + 1]) {
  i64 row, column;
  lower_tile(blockIdx.x, row, column);
  const i64 i0 = (lower ? row : column) * TILE, j0 = (lower ? column : row) * TILE; // of the tile that is read
  for (int k = threadIdx.y; k < TILE; k += TILE_LINES) {
    if (i0 + k < n && j0 + threadIdx.x < n) tile[k][threadIdx.x] = a[(i0 + k) * a_stride + j0 + threadIdx.x];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < TILE; k += TILE_LINES) {
    const i64 i = j0 + k, j = i0 + threadIdx.x;
    if (i < n && j < n && (lower ? i < j : i > j)) a[i * a_stride + j] = tile[threadIdx.x][k];
  }
}

extern "C" __global__ void __launch_bounds__(TILE * TILE_LINES)
    symmetrise_f32(i64 n, float *a, i64 a_stride, int lower) {
  __shared__ float tile[TILE][TILE + 1];
  symmetrise<float>(n, a, a_stride, lower, tile);
}
REGISTER_KERNEL(symmetrise_f32, TILE * TILE_LINES)

extern "C" __global__ void __launch_bounds__(TILE * TILE_LINES)
    symmetrise_f64(i64 n, double *a, i64 a_stride, int lower) {
  __shared__ double tile[TILE][TILE + 1];
  symmetrise<double>(n, a, a_stride, lower, tile);
}
REGISTER_KERNEL(symmetrise_f64, TILE * TILE_LINES)
