// transpose: B = A', to change between row-major and column-major.
//
// Shapes   a: rows by cols, rows a_stride apart. b: cols by rows, b_stride apart.
// Launch   grid: ceil(rows / TILE) ceil(cols / TILE), one block per tile; block (TILE,
//          TILE_LINES).
// Order    no sums.
// Traffic  a and b once, in lines of TILE elements on both sides.
#include "common.cuh"

template <class T>
__device__ inline void transpose(i64 rows, i64 cols, const T *a, i64 a_stride, T *b, i64 b_stride, T (*tile)[TILE + 1]) {
  const i64 across = (cols + TILE - 1) / TILE, i0 = blockIdx.x / across * TILE, j0 = blockIdx.x % across * TILE;
  for (int k = threadIdx.y; k < TILE; k += TILE_LINES) {
    if (i0 + k < rows && j0 + threadIdx.x < cols) tile[k][threadIdx.x] = a[(i0 + k) * a_stride + j0 + threadIdx.x];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < TILE; k += TILE_LINES) {
    if (j0 + k < cols && i0 + threadIdx.x < rows) b[(j0 + k) * b_stride + i0 + threadIdx.x] = tile[threadIdx.x][k];
  }
}

extern "C" __global__ void __launch_bounds__(TILE * TILE_LINES)
    transpose_f32(i64 rows, i64 cols, const float *a, i64 a_stride, float *b, i64 b_stride) {
  __shared__ float tile[TILE][TILE + 1];
  transpose<float>(rows, cols, a, a_stride, b, b_stride, tile);
}
REGISTER_KERNEL(transpose_f32, TILE * TILE_LINES)

extern "C" __global__ void __launch_bounds__(TILE * TILE_LINES)
    transpose_f64(i64 rows, i64 cols, const double *a, i64 a_stride, double *b, i64 b_stride) {
  __shared__ double tile[TILE][TILE + 1];
  transpose<double>(rows, cols, a, a_stride, b, b_stride, tile);
}
REGISTER_KERNEL(transpose_f64, TILE * TILE_LINES)
