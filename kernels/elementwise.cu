// elementwise: axpy (y += alpha x), scale (x *= alpha), fill (x = v) and convert
// (y = x in the other type).
//
// Shapes   x, y: n elements. alpha and v are values, rounded to the type.
// Launch   grid: ceil(n / (EACH BLOCK)); block BLOCK, EACH elements per thread, BLOCK
//          apart, so that each warp asks for that number of whole lines at once.
// Order    no sums.
// Traffic  axpy 3 n elements, scale and convert 2 n, fill n.
#include "common.cuh"

#define ELEMENTWISE(name, body, ...)                                             \
  extern "C" __global__ void __launch_bounds__(BLOCK) name(i64 n, __VA_ARGS__) { \
    const i64 first = blockIdx.x * (i64)(EACH * BLOCK) + threadIdx.x;            \
    _Pragma("unroll") for (int k = 0; k < EACH; k++) {                           \
      const i64 i = first + k * BLOCK;                                           \
      if (i < n) body;                                                           \
    }                                                                            \
  }                                                                              \
  REGISTER_KERNEL(name, BLOCK)

ELEMENTWISE(scale_f32, x[i] *= alpha, float alpha, float *x)
ELEMENTWISE(scale_f64, x[i] *= alpha, double alpha, double *x)
ELEMENTWISE(fill_f32, x[i] = v, float v, float *x)
ELEMENTWISE(fill_f64, x[i] = v, double v, double *x)
ELEMENTWISE(convert_f32_f64, y[i] = x[i], const float *__restrict__ x, double *__restrict__ y)
ELEMENTWISE(convert_f64_f32, y[i] = (float)x[i], const double *__restrict__ x, float *__restrict__ y)

// x may be y, so the loads come before the stores by hand.
#define AXPY(name, type, multiply_add)                                                                  \
  extern "C" __global__ void __launch_bounds__(BLOCK) name(i64 n, type alpha, const type *x, type *y) { \
    const i64 first = blockIdx.x * (i64)(EACH * BLOCK) + threadIdx.x;                                   \
    type a[EACH], b[EACH];                                                                              \
    _Pragma("unroll") for (int k = 0; k < EACH; k++) {                                                  \
      const i64 i = first + k * BLOCK;                                                                  \
      a[k] = i < n ? x[i] : 0;                                                                          \
      b[k] = i < n ? y[i] : 0;                                                                          \
    }                                                                                                   \
    _Pragma("unroll") for (int k = 0; k < EACH; k++) {                                                  \
      const i64 i = first + k * BLOCK;                                                                  \
      if (i < n) y[i] = multiply_add(alpha, a[k], b[k]);                                                \
    }                                                                                                   \
  }                                                                                                     \
  REGISTER_KERNEL(name, BLOCK)

AXPY(axpy_f32, float, fmaf)
AXPY(axpy_f64, double, fma)
