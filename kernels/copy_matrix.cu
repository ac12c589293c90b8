// copy_matrix: B = A, between row strides.
//
// Shapes   a, b: rows by cols, rows a_stride and b_stride apart.
// Launch   grid: ceil(rows cols / (EACH BLOCK)); block BLOCK, EACH elements per thread.
// Order    no sums.
// Traffic  a and b once.
#include "common.cuh"

template <class T> __device__ inline void copy_matrix(i64 rows, i64 cols, const T *a, i64 a_stride, T *b, i64 b_stride) {
  const i64 first = blockIdx.x * (i64)(EACH * BLOCK) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const i64 e = first + k * BLOCK;
    if (e < rows * cols) b[e / cols * b_stride + e % cols] = __ldg(a + e / cols * a_stride + e % cols);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    copy_matrix_f32(i64 rows, i64 cols, const float *a, i64 a_stride, float *b, i64 b_stride) {
  copy_matrix<float>(rows, cols, a, a_stride, b, b_stride);
}
REGISTER_KERNEL(copy_matrix_f32, BLOCK)

extern "C" __global__ void __launch_bounds__(BLOCK)
    copy_matrix_f64(i64 rows, i64 cols, const double *a, i64 a_stride, double *b, i64 b_stride) {
  copy_matrix<double>(rows, cols, a, a_stride, b, b_stride);
}
REGISTER_KERNEL(copy_matrix_f64, BLOCK)
