// conv_grad_reduce: adds the partial sums of conv_grad_weight. With rows = 9 C,
//
//   dw_{r f} = sum_p part(p, r, f) for r < rows,  db_f = sum_p part(p, rows, f)
//
// Shapes   part: parts by (rows + 1) by F, contiguous. dw: rows by F, rows dw_stride
//          apart. db: F. Zeros where parts is 0.
// Launch   grid: ceil((rows + 1) F / 32); block BLOCK: a warp has 32 elements side by
//          side, and each warp of the block some of their parts. With one input
//          channel there are few elements and 2,048 parts, for which one thread would
//          wait one after the other.
// Order    fixed, in float64: warp v adds parts v, v + BLOCK / 32, ..., and the first
//          warp the sums of all in order.
// Traffic  part once; it is no larger than the second-level cache.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    conv_grad_reduce(i64 rows, int filters, int parts, const float *part, float *dw, i64 dw_stride, float *db) {
  const int warps = BLOCK / 32;
  __shared__ double sums[warps][32];
  int column = threadIdx.x % 32, turn = threadIdx.x / 32;
  i64 i = (i64)blockIdx.x * 32 + column, size = (rows + 1) * filters;
  double sum = 0;
  if (i < size) {
#pragma unroll 8
    for (int p = turn; p < parts; p += warps) sum += part[p * size + i];
  }
  sums[turn][column] = sum;
  __syncthreads();
  if (turn > 0 || i >= size) return;
  for (int v = 1; v < warps; v++) sum += sums[v][column];
  i64 r = i / filters;
  int f = (int)(i % filters);
  if (r < rows)
    dw[r * dw_stride + f] = (float)sum;
  else
    db[f] = (float)sum;
}
REGISTER_KERNEL(conv_grad_reduce, BLOCK)
