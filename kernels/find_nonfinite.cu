// find_nonfinite: the first NaN or infinity of a matrix.
//
//   first = min(first, i cols + j)   over the elements (i, j) that are not finite
//
// Shapes   a: rows by cols float64, rows a_stride apart. first: one uint64, in device
//          memory, which must hold 2^64 - 1 before (a fill with 0xff).
// Launch   grid: any number of blocks; block BLOCK, in strides of the grid.
// Order    any: an integer minimum does not depend on it.
// Traffic  a once.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    find_nonfinite(i64 rows, i64 cols, const double *a, i64 a_stride, u64 *first) {
  const i64 n = rows * cols, step = gridDim.x * (i64)BLOCK;
  u64 found = ~0ull;
  for (i64 e = blockIdx.x * (i64)BLOCK + threadIdx.x; e < n; e += step) {
    if (!isfinite(__ldg(a + e / cols * a_stride + e % cols))) {
      found = (u64)e;
      break; // a thread's elements ascend
    }
  }
  if (found != ~0ull) atomicMin(first, found);
}
REGISTER_KERNEL(find_nonfinite, BLOCK)
