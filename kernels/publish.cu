// publish: words of the device to pinned memory of the host, and a flag behind them.
//
//   to_i = from_i,  then flag = 1
//
// Shapes   from: n 64-bit words in device memory. to, flag: n words and one of 32 bits
//          in memory that the host sees.
// Launch   grid: one block; block BLOCK.
// Order    a host that sees the flag sees the words: each thread's writes are before
//          its fence, all fences before the barrier, the flag after it.
// Traffic  n words, by way of PCIe.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) publish(const u64 *from, i64 n, volatile u64 *to, volatile unsigned *flag) {
  for (i64 i = threadIdx.x; i < n; i += BLOCK) to[i] = from[i];
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}
REGISTER_KERNEL(publish, BLOCK)
