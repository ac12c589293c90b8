// scale_columns: A = A diag(x), a_ij *= x_j.
//
// Shapes   a: rows by cols, rows a_stride apart. x: cols elements.
// Launch   grid: ceil(rows cols / (EACH BLOCK)); block BLOCK, EACH elements per thread.
// Order    no sums.
// Traffic  a twice.
#include "common.cuh"

template <class T> __device__ inline void scale_columns(i64 rows, i64 cols, T *a, i64 a_stride, const T *x) {
  const i64 first = blockIdx.x * (i64)(EACH * BLOCK) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const i64 e = first + k * BLOCK;
    if (e < rows * cols) a[e / cols * a_stride + e % cols] *= __ldg(x + e % cols);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    scale_columns_f32(i64 rows, i64 cols, float *a, i64 a_stride, const float *x) {
  scale_columns<float>(rows, cols, a, a_stride, x);
}
REGISTER_KERNEL(scale_columns_f32, BLOCK)

extern "C" __global__ void __launch_bounds__(BLOCK)
    scale_columns_f64(i64 rows, i64 cols, double *a, i64 a_stride, const double *x) {
  scale_columns<double>(rows, cols, a, a_stride, x);
}
REGISTER_KERNEL(scale_columns_f64, BLOCK)
