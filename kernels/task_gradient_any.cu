// task_gradient_any: task_gradient for rows wider than its widest kernel takes.
//
//   r_i = scale x_i'p_t + b_t - y_i,  part_s = scale sum_i r_i x_i,  part_sums_s = (sum_i r_i^2, sum_i r_i)
//
// Shapes   as in task_gradient.cu.
// Launch   grid: one block per chunk; block BLOCK. No dynamic shared memory.
// Order    fixed: one group of BLOCK / 32 rows after the other, in each the rows in
//          order; products of a row by lane, lanes by butterfly; warps in order.
// Traffic  BLOCK / 32 rows at a time, one per warp for the dot products, then all
//          threads add them, column by column, to part. The second read of the rows and
//          the sums in part are found in L2: eight rows of 8193 float32 are 256 KiB per
//          block. Stored elements come from DRAM once.
#include "common.cuh"

template <class T>
__device__ inline void wide_gradient(const SampleChunk &c, const int *rows, const float *y, const float *p, float shift,
                                     int d, float *part, double *part_sums, float *residual, double2 *totals) {
  const int group = BLOCK / 32; // rows at a time
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, stride = (d + 3) / 4 * 4;
  const T *data = (const T *)c.pool.data;
  float *out = part + (i64)c.slot * stride;
  double2 total = make_double2(0, 0);
  for (int j = threadIdx.x; j < stride; j += BLOCK) out[j] = 0;
  for (int begin = 0; begin < c.count; begin += group) {
    const int live = min(group, c.count - begin);
    if (warp < live) {
      const T *x = data + (i64)rows[c.first + begin + warp] * c.pool.stride;
      float s = 0;
      for (int j = lane; j < d; j += 32) s = fmaf(widen(x[j]), p[j], s);
      s = warp_sum(s);
      const float r = c.pool.scale * s - (y[c.labels + begin + warp] - shift);
      total.x += (double)r * r;
      total.y += r;
      if (lane == 0) residual[warp] = r;
    }
    __syncthreads();
    const T *x[group];
#pragma unroll
    for (int k = 0; k < group; k++) x[k] = data + (i64)rows[c.first + begin + min(k, live - 1)] * c.pool.stride;
    for (int j = threadIdx.x; j < d; j += BLOCK) {
      float s = 0;
#pragma unroll
      for (int k = 0; k < group; k++) {
        if (k < live) s = fmaf(residual[k], widen(x[k][j]), s);
      }
      out[j] += c.pool.scale * s;
    }
    __syncthreads();
  }
  if (lane == 0) totals[warp] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    total = make_double2(0, 0);
    for (int w = 0; w < group; w++) {
      total.x += totals[w].x;
      total.y += totals[w].y;
    }
    part_sums[2 * (i64)c.slot] = total.x;
    part_sums[2 * (i64)c.slot + 1] = total.y;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    task_gradient_any(const SampleChunk *chunks, const int *rows, const float *y, const float *p, i64 p_stride,
                      const float *offset, int d, float *part, double *part_sums) {
  __shared__ float residual[BLOCK / 32];
  __shared__ double2 totals[BLOCK / 32];
  const SampleChunk c = chunks[blockIdx.x];
  if (c.outputs) return;
  const float shift = offset ? offset[c.task] : 0;
  p += c.task * p_stride;
  if (c.pool.dtype == POOL_UINT8) {
    wide_gradient<u8>(c, rows, y, p, shift, d, part, part_sums, residual, totals);
  } else if (c.pool.dtype == POOL_FLOAT16) {
    wide_gradient<half>(c, rows, y, p, shift, d, part, part_sums, residual, totals);
  } else {
    wide_gradient<float>(c, rows, y, p, shift, d, part, part_sums, residual, totals);
  }
}
REGISTER_KERNEL(task_gradient_any, BLOCK)
