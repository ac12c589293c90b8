// conv_grad_reduce: adds the partial sums of conv_grad_weight. With rows = 9 C,
//
//   dw_{r f} = sum_p part(p, r, f) for r < rows,  db_f = sum_p part(p, rows, f)
//
// Shapes   part: parts by (rows + 1) by F, contiguous. dw: rows by F, rows dw_stride
//          apart. db: F. Zeros where parts is 0.
// Launch   grid: ceil((rows + 1) F / GRAD_COLUMNS); block GRAD_COLUMNS GRAD_TURNS: thread
//          GRAD_COLUMNS v + c takes turn v at element c of the block. With one input
//          channel there are few elements and 2,048 parts: narrow blocks spread them
//          over more multiprocessors, and a thread waits once for AHEAD loads.
// Order    fixed, in float64: turn v adds parts v, v + GRAD_TURNS, ..., and turn 0 then
//          adds the sums of all turns in order.
// Traffic  part once; it is no larger than the second-level cache.
#include "common.cuh"

#define AHEAD 32

extern "C" __global__ void __launch_bounds__(GRAD_COLUMNS *GRAD_TURNS)
    conv_grad_reduce(i64 rows, int filters, int parts, const float *part, float *dw, i64 dw_stride, float *db) {
  __shared__ double sums[GRAD_TURNS][GRAD_COLUMNS];
  int column = threadIdx.x % GRAD_COLUMNS, turn = threadIdx.x / GRAD_COLUMNS;
  i64 i = (i64)blockIdx.x * GRAD_COLUMNS + column, size = (rows + 1) * filters;
  double sum = 0;
  if (i < size) {
    const float *from = part + turn * size + i;
    i64 apart = GRAD_TURNS * size;
    for (int first = turn; first < parts; first += AHEAD * GRAD_TURNS) {
      float v[AHEAD];
#pragma unroll
      for (int u = 0; u < AHEAD; u++, from += apart) v[u] = first + u * GRAD_TURNS < parts ? *from : 0.0f;
#pragma unroll
      for (int u = 0; u < AHEAD; u++) sum += v[u];
    }
  }
  sums[turn][column] = sum;
  __syncthreads();
  if (turn > 0 || i >= size) return;
  for (int v = 1; v < GRAD_TURNS; v++) sum += sums[v][column];
  i64 r = i / filters;
  int f = (int)(i % filters);
  if (r < rows)
    dw[r * dw_stride + f] = (float)sum;
  else
    db[f] = (float)sum;
}
REGISTER_KERNEL(conv_grad_reduce, GRAD_COLUMNS *GRAD_TURNS)
