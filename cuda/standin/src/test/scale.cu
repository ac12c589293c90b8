#include "common.cuh"
extern "C" __global__ void __launch_bounds__(128) standin_scale(int n, double by, double *x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
REGISTER_KERNEL(standin_scale, 128)
