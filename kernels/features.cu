// features: the features of samples lo to hi - 1 as float32 rows, for a matrix
// product.
//
//   x_(i - lo, j) = scale pool[rows_i, j]
//
// Shapes   chunks: those of the table that have some of the samples lo to hi - 1. x:
//          hi - lo by d, rows x_stride apart.
// Launch   grid: (chunks, blocks for the rows of one chunk); block BLOCK, one warp per
//          row. A large set has chunks of thousands of rows, and a matrix product takes
//          few chunks at a time: one block for each would leave the device idle.
// Order    no sums.
// Traffic  every stored element once, 4 d bytes written per sample. A warp loads and
//          stores whole lines, 512 columns at a time.
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    features(const SampleChunk *chunks, const int *rows, i64 lo, i64 hi, int d, float *x, i64 x_stride) {
  const SampleChunk c = chunks[blockIdx.x];
  const i64 begin = max(c.first, lo), end = min(c.first + c.count, hi);
  for (i64 i = begin + blockIdx.y * (BLOCK / 32) + (threadIdx.x >> 5); i < end; i += gridDim.y * (BLOCK / 32)) {
    write_features(c.pool, __ldg(rows + i), d, x + (i - lo) * x_stride);
  }
}
REGISTER_KERNEL(features, BLOCK)
