// transpose: B = A', for a change between row-major and column-major.
//
// Shapes   a: rows by cols, rows a_stride apart. b: cols by rows, b_stride apart.
// Launch   grid: ceil(rows / 32) ceil(cols / 32), a block a tile; block (32, 8).
// Order    no sums.
// Traffic  a and b once, in lines of 32 elements on both sides.
#include "common.cuh"

template <class T>
__device__ inline void transpose(i64 rows, i64 cols, const T *a, i64 a_stride, T *b, i64 b_stride, T (*tile)[33]) {
  const i64 across = (cols + 31) / 32, i0 = blockIdx.x / across * 32, j0 = blockIdx.x % across * 32;
  for (int k = threadIdx.y; k < 32; k += 8) {
    if (i0 + k < rows && j0 + threadIdx.x < cols) tile[k][threadIdx.x] = a[(i0 + k) * a_stride + j0 + threadIdx.x];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) {
    if (j0 + k < cols && i0 + threadIdx.x < rows) b[(j0 + k) * b_stride + i0 + threadIdx.x] = tile[threadIdx.x][k];
  }
}

extern "C" __global__ void __launch_bounds__(256)
    transpose_f32(i64 rows, i64 cols, const float *a, i64 a_stride, float *b, i64 b_stride) {
  __shared__ float tile[32][33];
  transpose<float>(rows, cols, a, a_stride, b, b_stride, tile);
}
REGISTER_KERNEL(transpose_f32, 256)

extern "C" __global__ void __launch_bounds__(256)
    transpose_f64(i64 rows, i64 cols, const double *a, i64 a_stride, double *b, i64 b_stride) {
  __shared__ double tile[32][33];
  transpose<double>(rows, cols, a, a_stride, b, b_stride, tile);
}
REGISTER_KERNEL(transpose_f64, 256)
