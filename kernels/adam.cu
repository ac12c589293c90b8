// adam: one step of Adam with decoupled weight decay, for each element.
//
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   theta -= pull theta + rate m / (sqrt(correct2 v) + epsilon)
//
// Shapes   g, m, v, theta: n. rates: 8 float32 in device memory, so that a graph can
//          be run with new values: beta1, 1 - beta1, beta2, 1 - beta2, correct2 =
//          1 / correction2, epsilon, rate / correction1, pull = rate decay.
// Launch   grid: ceil(n / BLOCK); block BLOCK, one element per thread.
// Order    no sums.
// Traffic  28 bytes per element.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    adam(i64 n, const float *rates, const float *g, float *m, float *v, float *theta) {
  i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  float x = g[i];
  float mi = rates[0] * m[i] + rates[1] * x;
  float vi = rates[2] * v[i] + rates[3] * (x * x);
  m[i] = mi;
  v[i] = vi;
  theta[i] -= rates[7] * theta[i] + rates[6] * mi / (sqrtf(rates[4] * vi) + rates[5]);
}
REGISTER_KERNEL(adam, BLOCK)
