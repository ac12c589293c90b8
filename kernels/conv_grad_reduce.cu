// Adds the partial sums of conv_grad_weight in order:
//
//   dw_{r f} = sum_p part(p, r, f) for r < rows,  db_f = sum_p part(p, rows, f)
//
// with rows = 9 C, and float64 sums; zeros when parts is 0.
// Shapes: part is parts by (rows + 1) by F, contiguous; dw rows by F with a row
// pitch in elements.
// Launch: blocks of 256; grid ceil((rows + 1) F / 256). Determinism: one thread
// adds one sum.
// Traffic: part once; it is no larger than the second-level cache.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
conv_grad_reduce(i64 rows, int filters, int parts, const float *part, float *dw, i64 dw_pitch, float *db) {
  i64 i = (i64)blockIdx.x * 256 + threadIdx.x, size = (rows + 1) * filters;
  if (i >= size) return;
  double sum = 0;
  for (int p = 0; p < parts; p++) sum += part[p * size + i];
  i64 r = i / filters;
  int f = (int)(i % filters);
  if (r < rows)
    dw[r * dw_pitch + f] = (float)sum;
  else
    db[f] = (float)sum;
}
REGISTER_KERNEL(conv_grad_reduce, 256)
