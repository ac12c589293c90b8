// task_gradient: one pass over the samples of all tasks.
//
//   r_i = scale x_i'p_t + b_t - y_i,  part_s = scale sum_i r_i x_i,  part_sums_s = (sum_i r_i^2, sum_i r_i)
//
// with the sums over the samples i of chunk s, x_i the stored row, t the task;
// task_gradient_reduce adds the chunks of a task. Chunks of sources with several
// outputs or missing labels are left to task_gradient_outputs.
//
// Shapes   p: T by d float32, rows p_stride apart. offset: b, T float32, or null for
//          zeros. part: a row of 4 ceil(d / 4) float32 for each chunk's slot, 16-byte
//          aligned; the last elements of a row are zero. part_sums: two float64 per
//          slot.
// Launch   grid: one block per chunk. task_gradient_<w> takes d from the width
//          before it, exclusive, to w.
//          w <= GRADIENT_NARROW: block GRADIENT_NARROW_BLOCK, one warp per row, and
//          4 w bytes of shared memory for each warp.
//          Wider: block BLOCK, all of whose warps share a row, 4 w bytes.
// Order    fixed: a lane's rows in order, lanes by butterfly, warps in order.
// Traffic  every stored element once, 8 bytes per sample for row index and label,
//          and per chunk d floats of p (from L2) and of part.
//
// A lane keeps quads lane, lane + 32, ... of p, of the sum and of its rows in
// registers: a row is loaded once, for the dot product and for the sum. Loads
// are of four elements, so that the lanes fill up in steps of 128 columns: at
// d = 784 all except 12 % of the lanes have work (16-byte loads of uint8 would leave
// 23 % idle, and conversion and arithmetic bind a uint8 pass as much as memory does:
// 5.3 instructions per element where an H200 has time for 6.2 at 4.8 TB/s).
// Rows are requested ahead of use, the more the smaller they are: four of uint8,
// two of float16, one of float32; with three blocks on a multiprocessor and
// d = 784 that is 37 KB or more in flight on each, where 4.8 TB/s and 700 ns need
// 25 KB. Whole rows of bytes and halves are summed two at a time: each half of the warp ends
// up with one of the two sums, for 6 shuffles in place of 10. Row indices and labels are
// fetched 32 at a time, one tile ahead. All groups of warps make the same number of turns;
// some make their last turns with rows of other groups, or rows requested again, and with
// residuals of 0. If each warp had a number of turns of its own, the compiler would have each
// shuffle wait for the one before, and a pass over bytes would take 1.6 times as long.
#include "common.cuh"

// Row is a thread's part of a row. Except in WHOLE rows of bytes it is zero beyond column d.
// Its first FULL quads are within the row. WHOLE rows begin and end at quads.
template <class T, int V, int FULL, int LANES, bool WHOLE> struct Row {
  Quad<T> quad[V];

  // load requests a row. In a WHOLE row of bytes, a quad beyond column d is loaded from the row's
  // first quad and has a weight of zero (for the other types, zero times an infinity would be
  // NaN): since every row then fills all registers, no earlier values have to be kept.
  __device__ inline void load(const PoolRows &pool, int i, bool aligned, int lane, int d) {
    const T *row = (const T *)pool.data + (i64)i * pool.stride + lane * 4;
#pragma unroll
    for (int v = 0; v < V; v++) {
      const int left = d - (lane + v * LANES) * 4;
      if (WHOLE && sizeof(T) == 1) {
        quad[v].load(row + (v < FULL || left > 0 ? v * LANES * 4 : -lane * 4));
      } else if (WHOLE) {
        if (v < FULL || left > 0) quad[v].load(row + v * LANES * 4);
      } else if (aligned && left >= 4) {
        quad[v].load(row + v * LANES * 4);
      } else if (left > 0) {
        quad[v].set(row + v * LANES * 4, left);
      }
    }
  }
};

__device__ inline void add_product(float4 &sum, float4 a, float4 b) {
  sum.x = fmaf(a.x, b.x, sum.x);
  sum.y = fmaf(a.y, b.y, sum.y);
  sum.z = fmaf(a.z, b.z, sum.z);
  sum.w = fmaf(a.w, b.w, sum.w);
}

__device__ inline void add_scaled(float4 &sum, float r, float4 x) {
  sum.x = fmaf(r, x.x, sum.x);
  sum.y = fmaf(r, x.y, sum.y);
  sum.z = fmaf(r, x.z, sum.z);
  sum.w = fmaf(r, x.w, sum.w);
}

// rows_sum returns the sum over the lanes of v[r], in every lane of the r-th part of the warp.
template <int ROWS> __device__ inline float rows_sum(const float *v, int in_warp) {
  if (ROWS == 1) return warp_sum(v[0]);
  const bool upper = in_warp & 16;
  float s = upper ? v[ROWS - 1] : v[0];
  s += __shfl_xor_sync(FULL_WARP, upper ? v[0] : v[ROWS - 1], 16);
  for (int o = 8; o > 0; o >>= 1) s += __shfl_xor_sync(FULL_WARP, s, o);
  return s;
}

// chunk_gradient computes one chunk on one block. GROUP warps share a row, of at least FULL
// and at most V times GROUP * 128 elements; AHEAD is the number of rows requested before
// they are needed, ROWS (1 or 2) the number of rows summed at a time. sums and totals are static
// shared memory: two sets of ROWS for each warp of a group, and two doubles for each warp.
// shift is the task's offset.
template <class T, int V, int FULL, int WARPS, int GROUP, int AHEAD, int ROWS, bool WHOLE>
__device__ inline void chunk_gradient(const SampleChunk &c, const int *rows, const float *y, const float *p, float shift,
                                      int d, float *part, double *part_sums, float *sums, double2 *totals) {
  const int LANES = 32 * GROUP, GROUPS = WARPS / GROUP;
  DYNAMIC_SHARED(float4, stage);
  const int thread = threadIdx.x, warp = thread >> 5, in_warp = thread & 31;
  const int lane = thread % LANES, group = thread / LANES;

  // p, zero beyond d, through shared memory: coalesced whatever its alignment.
  for (int j = thread; j < V * LANES * 4; j += WARPS * 32) ((float *)stage)[j] = j < d ? __ldg(p + j) : 0;
  __syncthreads();
  float4 weight[V], sum[V];
#pragma unroll
  for (int v = 0; v < V; v++) {
    weight[v] = stage[lane + v * LANES];
    sum[v] = make_float4(0, 0, 0, 0);
  }
  __syncthreads();

  // The group's samples, lo to lo + turns - 1 of the chunk, or to its last one.
  const int turns = (c.count + GROUPS * ROWS - 1) / (GROUPS * ROWS) * ROWS, lo = group * turns, last = c.count - 1 - lo;
  rows += c.first + lo;
  y += c.labels + lo;
  const bool aligned = quads_aligned<T>(c.pool);
  const int mine = in_warp * ROWS / 32; // which of the ROWS rows this lane has the sum of
  double2 total = make_double2(0, 0);

  Row<T, V, FULL, LANES, WHOLE> ahead[AHEAD] = {};
#pragma unroll
  for (int k = 0; k < AHEAD; k++) ahead[k].load(c.pool, __ldg(rows + min(k, last)), aligned, lane, d);
  // Of 32 samples at a time, a lane holds the label of one, and the row index of the one AHEAD places after it.
  float next_label = in_warp <= last ? __ldg(y + in_warp) : 0;
  int next_row = __ldg(rows + min(in_warp + AHEAD, last));
  for (int begin = 0; begin < turns; begin += 32) {
    const float label = next_label;
    const int row = next_row, after = begin + 32 + in_warp;
    next_label = after <= last ? __ldg(y + after) : 0;
    next_row = __ldg(rows + min(after + AHEAD, last));
    for (int at = begin; at < min(turns, begin + 32); at += AHEAD) {
#pragma unroll
      for (int first = 0; first < AHEAD; first += ROWS) {
        const int i = at + first;
        if (first > 0 && i >= turns) break;
        float4 x[ROWS][V];
        float s[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
#pragma unroll
          for (int v = 0; v < V; v++) x[k][v] = ahead[first + k].quad[v].get();
          ahead[first + k].load(c.pool, __shfl_sync(FULL_WARP, row, (i + k) & 31), aligned, lane, d);
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
          float4 dot = make_float4(0, 0, 0, 0); // four chains, for latency
#pragma unroll
          for (int v = 0; v < V; v++) add_product(dot, x[k][v], weight[v]);
          s[k] = (dot.x + dot.y) + (dot.z + dot.w);
        }
        float whole = rows_sum<ROWS>(s, in_warp);
        if (GROUP > 1) {
          float *set = sums + i / ROWS % 2 * (ROWS * GROUP); // sets take turns: one barrier per turn
          if (in_warp % (32 / ROWS) == 0) set[mine * GROUP + warp] = whole;
          __syncthreads();
          whole = 0;
          for (int w = 0; w < GROUP; w++) whole += set[mine * GROUP + w];
        }
        const float given = __shfl_sync(FULL_WARP, label, (i + mine) & 31) - shift;
        const float r = i + mine <= last ? c.pool.scale * whole - given : 0;
        total.x += (double)r * r;
        total.y += r;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
          const float of = ROWS == 1 ? r : __shfl_sync(FULL_WARP, r, k * 16);
#pragma unroll
          for (int v = 0; v < V; v++) add_scaled(sum[v], of, x[k][v]);
        }
      }
    }
  }
  if (ROWS > 1) {
    total.x += __shfl_xor_sync(FULL_WARP, total.x, 16);
    total.y += __shfl_xor_sync(FULL_WARP, total.y, 16);
  }

  if (in_warp == 0) totals[warp] = total;
  if (GROUPS > 1) {
#pragma unroll
    for (int v = 0; v < V; v++) stage[group * V * LANES + lane + v * LANES] = sum[v];
  }
  __syncthreads();
  const int quads = (d + 3) / 4;
  float4 *out = (float4 *)part + (i64)c.slot * quads;
  const float scale = c.pool.scale;
  if (GROUPS > 1) {
    for (int j = thread; j < quads; j += WARPS * 32) {
      float4 t = stage[j];
      for (int g = 1; g < GROUPS; g++) {
        float4 u = stage[g * V * LANES + j];
        t = make_float4(t.x + u.x, t.y + u.y, t.z + u.z, t.w + u.w);
      }
      out[j] = make_float4(scale * t.x, scale * t.y, scale * t.z, scale * t.w);
    }
  } else {
#pragma unroll
    for (int v = 0; v < V; v++) {
      float4 t = sum[v];
      if (lane + v * LANES < quads) out[lane + v * LANES] = make_float4(scale * t.x, scale * t.y, scale * t.z, scale * t.w);
    }
  }
  if (thread == 0) {
    total = make_double2(0, 0);
    for (int g = 0; g < GROUPS; g++) {
      total.x += totals[g * GROUP].x;
      total.y += totals[g * GROUP].y;
    }
    part_sums[2 * (i64)c.slot] = total.x;
    part_sums[2 * (i64)c.slot + 1] = total.y;
  }
}

template <class T, int V, int FULL, int WARPS, int GROUP, int AHEAD, int ROWS>
__device__ inline void typed(const SampleChunk &c, const int *rows, const float *y, const float *p, float shift, int d,
                             float *part, double *part_sums, float *sums, double2 *totals) {
  if (quads_aligned<T>(c.pool) && d % 4 == 0 && d > 0) {
    chunk_gradient<T, V, FULL, WARPS, GROUP, AHEAD, ROWS, true>(c, rows, y, p, shift, d, part, part_sums, sums, totals);
  } else {
    chunk_gradient<T, V, FULL, WARPS, GROUP, (AHEAD + 1) / 2, 1, false>(c, rows, y, p, shift, d, part, part_sums, sums, totals);
  }
}

template <int V, int FULL, int WARPS, int GROUP>
__device__ inline void any_dtype(const SampleChunk *chunks, const int *rows, const float *y, const float *p, i64 p_stride,
                                 const float *offset, int d, float *part, double *part_sums, float *sums, double2 *totals) {
  const SampleChunk c = chunks[blockIdx.x];
  if (c.outputs) return;
  const float shift = offset ? offset[c.task] : 0;
  p += c.task * p_stride;
  if (c.pool.dtype == POOL_UINT8) {
    typed<u8, V, FULL, WARPS, GROUP, 4, 2>(c, rows, y, p, shift, d, part, part_sums, sums, totals);
  } else if (c.pool.dtype == POOL_FLOAT16) {
    typed<half, V, FULL, WARPS, GROUP, 2, 2>(c, rows, y, p, shift, d, part, part_sums, sums, totals);
  } else {
    typed<float, V, FULL, WARPS, GROUP, 1, 1>(c, rows, y, p, shift, d, part, part_sums, sums, totals);
  }
}

// TASK_GRADIENT defines the kernel for rows of more than `above` elements, up to width. GROUP of the WARPS share a
// row; the compiler is asked for BLOCKS on a multiprocessor.
#define TASK_GRADIENT(width, above, WARPS, GROUP, BLOCKS)                                                             \
  extern "C" __global__ void __launch_bounds__(32 * (WARPS), BLOCKS)                                                  \
      task_gradient_##width(const SampleChunk *chunks, const int *rows, const float *y, const float *p, i64 p_stride, \
                            const float *offset, int d, float *part, double *part_sums) {                             \
    __shared__ float sums[4 * (GROUP)];                                                                               \
    __shared__ double2 totals[WARPS];                                                                                 \
    any_dtype<width / (128 * (GROUP)), above / (128 * (GROUP)), WARPS, GROUP>(chunks, rows, y, p, p_stride, offset,   \
                                                                              d, part, part_sums, sums, totals);      \
  }                                                                                                                   \
  REGISTER_KERNEL(task_gradient_##width, 32 * (WARPS))

#define NARROW(width, above, BLOCKS) TASK_GRADIENT(width, above, GRADIENT_NARROW_BLOCK / 32, 1, BLOCKS)
#define WIDE(width, above, BLOCKS) TASK_GRADIENT(width, above, BLOCK / 32, BLOCK / 32, BLOCKS)

// With GRADIENT_WIDTH a compilation makes the kernel of that width alone: all of them take the compiler seconds.
#ifdef GRADIENT_WIDTH
#define WANTED(width) (GRADIENT_WIDTH == width)
#else
#define WANTED(width) 1
#endif

#if WANTED(128)
NARROW(128, 0, 8)
#endif
#if WANTED(256)
NARROW(256, 128, 6)
#endif
#if WANTED(512)
NARROW(512, 256, 4)
#endif
#if WANTED(768)
NARROW(768, 512, 3)
#endif
#if WANTED(896)
NARROW(896, 768, 3)
#endif
#if WANTED(1024)
NARROW(1024, 896, 2)
#endif
#if WANTED(2048)
WIDE(2048, GRADIENT_NARROW, 3)
#endif
#if WANTED(4096)
WIDE(4096, 2048, 2)
#endif
#if WANTED(8192)
WIDE(8192, 4096, 1)
#endif
