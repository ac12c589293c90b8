// publish: copies words of the device to pinned memory of the host, then sets a flag.
//
//   to_i = from_i,  then flag = 1
//
// Shapes   from: n 64-bit words in device memory. to: n 64-bit words, and flag: one of 32
//          bits, in memory of the host.
// Launch   grid: one block; block BLOCK.
// Order    a host that sees the flag sees the words: the writes of all threads come
//          before the barrier, after which one thread fences, then sets the flag.
// Traffic  n words over PCIe.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) publish(const u64 *from, i64 n, volatile u64 *to, volatile unsigned *flag) {
  for (i64 i = threadIdx.x; i < n; i += BLOCK) to[i] = from[i];
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence_system();
  *flag = 1;
}
REGISTER_KERNEL(publish, BLOCK)
