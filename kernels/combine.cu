// combine: y = sum_i coef_i a_i + beta y over the rows a_i of a.
//
// Shapes   coef: rows float64, in device memory, rounded to the type. a: rows by n,
//          rows a_stride apart. y: n, not overlapping a; not read where beta is 0.
// Launch   grid: ceil(n / COMBINE_BLOCK); block COMBINE_BLOCK, one column per thread.
// Order    fixed: the rows in order, onto beta y.
// Traffic  a once, y once or twice. A thread has eight rows in flight.
#include "common.cuh"

template <class T> __device__ inline T multiply_add(T a, T b, T c);
template <> __device__ inline float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
template <> __device__ inline double multiply_add(double a, double b, double c) { return fma(a, b, c); }

template <class T>
__device__ inline void combine(const double *coef, const T *a, i64 a_stride, int rows, i64 n, T beta, T *y) {
  const i64 j = blockIdx.x * (i64)COMBINE_BLOCK + threadIdx.x;
  if (j >= n) return;
  T s = beta == 0 ? 0 : beta * y[j];
#pragma unroll 8
  for (int i = 0; i < rows; i++) s = multiply_add((T)__ldg(coef + i), __ldg(a + i * a_stride + j), s);
  y[j] = s;
}

extern "C" __global__ void __launch_bounds__(COMBINE_BLOCK)
    combine_f32(const double *coef, const float *a, i64 a_stride, int rows, i64 n, float beta, float *y) {
  combine<float>(coef, a, a_stride, rows, n, beta, y);
}
REGISTER_KERNEL(combine_f32, COMBINE_BLOCK)

extern "C" __global__ void __launch_bounds__(COMBINE_BLOCK)
    combine_f64(const double *coef, const double *a, i64 a_stride, int rows, i64 n, double beta, double *y) {
  combine<double>(coef, a, a_stride, rows, n, beta, y);
}
REGISTER_KERNEL(combine_f64, COMBINE_BLOCK)
