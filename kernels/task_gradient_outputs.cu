// task_gradient_outputs: task_gradient for sources of several outputs or with missing labels.
//
//   r_ic = scale x_i'p_t + b_t - y_ic,  part_sc = scale sum_i r_ic x_i,  part_sums_sc = (sum_i r_ic^2, sum_i r_ic)
//
// for each output c of the chunk's source, t = task + c, with the sums over the
// samples i of the chunk whose label y_ic is not NaN.
//
// Shapes   p, offset, part, part_sums: as in task_gradient.cu; output c of chunk s has
//          the slot of the chunk + c slots. y: a label for each output, sample after
//          sample.
// Launch   grid: one block per chunk; blocks of chunks of task_gradient return at once;
//          block BLOCK. No dynamic shared memory.
// Order    fixed: one run of OUTPUT_ROWS rows after the other. Products of a row by lane,
//          lanes by butterfly; part by rows in order; part_sums by lane over rows GROUP
//          BLOCK / 32 apart, lanes by butterfly, warps in order.
// Traffic  stored elements come from DRAM once. OUTPUT_ROWS rows at a time, which stay
//          in cache, and OUTPUT_TILE outputs: first the residuals, a warp per four rows,
//          so that each conversion and each element of p serves OUTPUT_TILE and four
//          products; then the sums, a thread per four columns.
#include "common.cuh"

// GROUP is the number of rows that a warp takes at a time. In the end each lane has one of
// the products of GROUP rows with OUTPUT_TILE outputs.
#define GROUP 4
static_assert(GROUP * OUTPUT_TILE == 32, "a product per lane");

// columns_at returns elements j to j + 3 of a row of d elements, with zeros beyond. With whole it loads them at once.
template <class T> __device__ inline float4 columns_at(const T *row, int j, int d, bool whole) {
  Quad<T> q;
  if (whole) {
    q.load(row + j);
  } else {
    q.set(row + j, d - j);
  }
  return q.get();
}

__device__ inline float add_product(float sum, float4 a, float4 b) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

__device__ inline void add_scaled(float4 &sum, float r, float4 x) {
  sum.x = fmaf(r, x.x, sum.x);
  sum.y = fmaf(r, x.y, sum.y);
  sum.z = fmaf(r, x.z, sum.z);
  sum.w = fmaf(r, x.w, sum.w);
}

// fold leaves HALF of 2 HALF sums in each lane: the lanes with bit HALF set keep the upper
// half of the sums and the others the lower half, each with that of the lane HALF away added.
// HALF is a constant so that sums stay in registers.
template <int HALF> __device__ inline void fold(float (&sum)[32], int lane) {
  const bool upper = lane & HALF;
#pragma unroll
  for (int i = 0; i < HALF; i++) {
    const float keep = upper ? sum[i + HALF] : sum[i], send = upper ? sum[i] : sum[i + HALF];
    sum[i] = keep + __shfl_xor_sync(FULL_WARP, send, HALF);
  }
}

// Shared is the block's shared memory.
struct Shared {
  float residual[OUTPUT_ROWS][OUTPUT_TILE];
  double2 totals[BLOCK / 32][OUTPUT_TILE];
  i64 row[OUTPUT_ROWS]; // where each begins in the pool
};

// residuals computes the residuals of live rows for n outputs from output o on; labels
// points to those of the first row. Lane l ends with row l / OUTPUT_TILE of a group and
// output o + l % OUTPUT_TILE.
template <class T>
__device__ inline void residuals(const SampleChunk &c, const float *labels, const float *p, i64 p_stride, const float *offset,
                                 int d, int live, int o, int n, Shared &shared) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, output = lane % OUTPUT_TILE;
  const T *data = (const T *)c.pool.data;
  const bool x_whole = quads_aligned<T>(c.pool), p_whole = (((u64)p | (u64)p_stride * 4) & 15) == 0;
  double2 total = make_double2(0, 0);
  for (int k = warp * GROUP; k < live; k += BLOCK / 32 * GROUP) {
    const T *x[GROUP];
    float sum[32];
#pragma unroll
    for (int r = 0; r < GROUP; r++) x[r] = data + shared.row[min(k + r, live - 1)];
#pragma unroll
    for (int i = 0; i < 32; i++) sum[i] = 0;
    for (int j = lane * 4; j < d; j += 128) {
      const bool whole = j + 4 <= d;
      float4 v[GROUP];
#pragma unroll
      for (int r = 0; r < GROUP; r++) v[r] = columns_at(x[r], j, d, x_whole && whole);
#pragma unroll
      for (int i = 0; i < OUTPUT_TILE; i++) {
        if (i >= n) break;
        const float4 w = columns_at(p + i * p_stride, j, d, p_whole && whole);
#pragma unroll
        for (int r = 0; r < GROUP; r++) sum[r * OUTPUT_TILE + i] = add_product(sum[r * OUTPUT_TILE + i], v[r], w);
      }
    }
    fold<16>(sum, lane);
    fold<8>(sum, lane);
    fold<4>(sum, lane);
    fold<2>(sum, lane);
    fold<1>(sum, lane);
    const int i = k + lane / OUTPUT_TILE;
    float r = 0;
    if (i < live && output < n) {
      const float label = labels[(i64)i * c.outputs + o + output];
      if (label == label) r = c.pool.scale * sum[0] - (label - (offset ? offset[o + output] : 0)); // not NaN
      shared.residual[i][output] = r;
    }
    total.x += (double)r * r;
    total.y += r;
  }
  for (int apart = OUTPUT_TILE; apart < 32; apart *= 2) {
    total.x += __shfl_xor_sync(FULL_WARP, total.x, apart);
    total.y += __shfl_xor_sync(FULL_WARP, total.y, apart);
  }
  if (lane < OUTPUT_TILE) shared.totals[warp][lane] = total;
}

// add_rows adds residual times row, over live rows, to the sums of n outputs, which
// are step floats apart; without more it overwrites the sums.
template <class T>
__device__ inline void add_rows(const SampleChunk &c, int d, int live, int n, bool more, const Shared &shared, float *part,
                                i64 step) {
  const T *data = (const T *)c.pool.data;
  const bool x_whole = quads_aligned<T>(c.pool);
  const float scale = c.pool.scale;
  for (int j = threadIdx.x * 4; j < d; j += BLOCK * 4) {
    const bool whole = x_whole && j + 4 <= d;
    float4 sum[OUTPUT_TILE];
#pragma unroll
    for (int i = 0; i < OUTPUT_TILE; i++) sum[i] = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int k = 0; k < live; k++) {
      const float4 x = columns_at(data + shared.row[k], j, d, whole);
#pragma unroll
      for (int i = 0; i < OUTPUT_TILE; i++) {
        if (i >= n) break;
        add_scaled(sum[i], shared.residual[k][i], x);
      }
    }
#pragma unroll
    for (int i = 0; i < OUTPUT_TILE; i++) {
      if (i >= n) break;
      float4 *out = (float4 *)(part + i * step + j);
      const float4 before = more ? *out : make_float4(0, 0, 0, 0);
      *out = make_float4(fmaf(scale, sum[i].x, before.x), fmaf(scale, sum[i].y, before.y), fmaf(scale, sum[i].z, before.z),
                         fmaf(scale, sum[i].w, before.w));
    }
  }
}

template <class T>
__device__ inline void output_gradients(const SampleChunk &c, const int *rows, const float *y, const float *p, i64 p_stride,
                                        const float *offset, int d, float *part, double *part_sums, Shared &shared) {
  const int stride = (d + 3) / 4 * 4, thread = threadIdx.x;
  for (int begin = 0; begin < c.count; begin += OUTPUT_ROWS) {
    const int live = min(OUTPUT_ROWS, c.count - begin);
    for (int k = thread; k < live; k += BLOCK) shared.row[k] = rows[c.first + begin + k] * c.pool.stride;
    __syncthreads();
    for (int o = 0; o < c.outputs; o += OUTPUT_TILE) {
      const int n = min(OUTPUT_TILE, c.outputs - o);
      const i64 slot = c.slot + (i64)o * c.slots;
      residuals<T>(c, y + c.labels + (i64)begin * c.outputs, p + o * p_stride, p_stride, offset, d, live, o, n, shared);
      __syncthreads();
      add_rows<T>(c, d, live, n, begin > 0, shared, part + slot * stride, (i64)c.slots * stride);
      if (thread < n) {
        double *sums = part_sums + 2 * (slot + (i64)thread * c.slots);
        double2 total = begin > 0 ? make_double2(sums[0], sums[1]) : make_double2(0, 0);
        for (int w = 0; w < BLOCK / 32; w++) {
          total.x += shared.totals[w][thread].x;
          total.y += shared.totals[w][thread].y;
        }
        sums[0] = total.x;
        sums[1] = total.y;
      }
      __syncthreads();
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    task_gradient_outputs(const SampleChunk *chunks, const int *rows, const float *y, const float *p, i64 p_stride,
                          const float *offset, int d, float *part, double *part_sums) {
  __shared__ Shared shared;
  const SampleChunk c = chunks[blockIdx.x];
  if (!c.outputs) return;
  if (offset) offset += c.task;
  p += c.task * p_stride;
  if (c.pool.dtype == POOL_UINT8) {
    output_gradients<u8>(c, rows, y, p, p_stride, offset, d, part, part_sums, shared);
  } else if (c.pool.dtype == POOL_FLOAT16) {
    output_gradients<half>(c, rows, y, p, p_stride, offset, d, part, part_sums, shared);
  } else {
    output_gradients<float>(c, rows, y, p, p_stride, offset, d, part, part_sums, shared);
  }
}
REGISTER_KERNEL(task_gradient_outputs, BLOCK)
