// Kernels with the faults that the CPU build and the interpreter of PTX must find.
#include "common.cuh"

extern "C" __global__ void broken(int fault, float *x) {
  __shared__ float fixed[64];
  DYNAMIC_SHARED(float, sized);
  const int t = threadIdx.x, lane = t & 31;
  float v = 0;
  switch (fault) {
  case 0: // none
    fixed[t] = t;
    __syncthreads();
    v = fixed[63 - t];
    break;
  case 1: // a barrier that some threads never reach
    if (t >= 40) return;
    __syncthreads();
    break;
  case 2: // two barriers for one
    if (t < 40) {
      __syncthreads();
    } else {
      __syncthreads();
    }
    break;
  case 3: // a lane is missing
    if (lane != 7) v = __shfl_sync(FULL_WARP, v, 0);
    break;
  case 4: // two warp operations for one
    if (lane < 7) {
      v = __shfl_sync(FULL_WARP, v, 0);
    } else {
      v = __shfl_sync(FULL_WARP, v, 1);
    }
    break;
  case 5: // a part of a warp
    v = __shfl_sync(0xffffu, v, 0);
    break;
  case 6: // some at a barrier, some in a warp operation
    if (t == 3) {
      __syncthreads();
    } else {
      __syncwarp();
    }
    break;
  case 7: // beyond static shared memory
    fixed[t + 1] = 1;
    break;
  case 8: // beyond dynamic shared memory
    sized[t + 1] = 1;
    break;
  case 9: // beyond a buffer
    x[blockIdx.x * 64 + t + 1] = 1;
    return;
  case 10: // no barrier between writing and reading
    fixed[t] = t;
    v = fixed[63 - t];
    break;
  case 11: // no barrier within a warp
    fixed[t] = t;
    v = fixed[t ^ 1];
    break;
  case 12: // shared memory that nobody wrote
    v = fixed[t];
    break;
  case 13: // dynamic shared memory that nobody wrote
    v = sized[t];
    break;
  case 14: // the last block wins
    x[t] = blockIdx.x;
    return;
  case 15: // one buffer for two turns of a loop
    for (int k = 0; k < 2; k++) {
      if (t == 0) fixed[0] = k;
      __syncthreads();
      v = v * 4 + fixed[0];
    }
    break;
  case 16: { // a pair that begins at an odd element
    float2 pair = ((const float2 *)(x + blockIdx.x * 64 + 1))[t / 4];
    v = pair.x * pair.y;
    break;
  }
  case 17: // by the read-only path what others write
    x[64 + t] = t;
    __syncthreads();
    v = __ldg(x + 64 + (63 - t));
    break;
  case 18: // a neighbour's element of the block before
    if (t == 0 && blockIdx.x > 0) v = x[blockIdx.x * 64 - 1];
    break;
  }
  x[blockIdx.x * 64 + t] = v;
}
REGISTER_KERNEL(broken, 64)
