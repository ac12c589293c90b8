// Adds the partial sums of conv_grad_weight in order:
//
//   dw_{r f} = sum_p part(p, r, f) for r < rows,  db_f = sum_p part(p, rows, f)
//
// with rows = 9 C, and float64 sums; zeros when parts is 0.
// Shapes: part is parts by (rows + 1) by F, contiguous; dw rows by F with a row
// pitch in elements.
// Launch: blocks of 256, eight threads to each of 32 elements, which lie side by
// side; grid ceil((rows + 1) F / 32). With one input channel there are few elements
// and 2,048 parts, which one thread would wait for one after the other.
// Determinism: thread v of an element adds parts v, v + 8, ..., and the first one
// the eight sums in order.
// Traffic: part once; it is no larger than the second-level cache.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
conv_grad_reduce(i64 rows, int filters, int parts, const float *part, float *dw, i64 dw_pitch, float *db) {
  __shared__ double sums[8][32];
  int column = threadIdx.x % 32, turn = threadIdx.x / 32;
  i64 i = (i64)blockIdx.x * 32 + column, size = (rows + 1) * filters;
  double sum = 0;
  if (i < size) {
#pragma unroll 8
    for (int p = turn; p < parts; p += 8) sum += part[p * size + i];
  }
  sums[turn][column] = sum;
  __syncthreads();
  if (turn > 0 || i >= size) return;
  for (int v = 1; v < 8; v++) sum += sums[v][column];
  i64 r = i / filters;
  int f = (int)(i % filters);
  if (r < rows)
    dw[r * dw_pitch + f] = (float)sum;
  else
    db[f] = (float)sum;
}
REGISTER_KERNEL(conv_grad_reduce, 256)
