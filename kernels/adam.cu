// One step of Adam with decoupled weight decay, element by element:
//
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   theta -= pull theta + rate m / (sqrt(correct2 v) + epsilon)
//
// Shapes: n elements each. rates are 8 floats in device memory, so that a graph
// can be run with others: beta1, 1 - beta1, beta2, 1 - beta2, correct2 = 1 /
// correction2, epsilon, rate / correction1, pull = rate * decay.
// Launch: blocks of 256; grid ceil(n / 256). Determinism: no reduction.
// Traffic: 28 bytes an element.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
adam(i64 n, const float *rates, const float *g, float *m, float *v, float *theta) {
  i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float x = g[i];
  float mi = rates[0] * m[i] + rates[1] * x;
  float vi = rates[2] * v[i] + rates[3] * (x * x);
  m[i] = mi;
  v[i] = vi;
  theta[i] -= rates[7] * theta[i] + rates[6] * mi / (sqrtf(rates[4] * vi) + rates[5]);
}
REGISTER_KERNEL(adam, 256)
