// rows.cuh: rows of pools as float32 features.
//
//   dst_j = scale row_j
//
// Shapes   row: d stored elements. dst: d float32.
// Launch   one warp per row: four elements per lane at a time, and four loads before the
//          stores.
// Order    no sums.
// Traffic  every stored element once, 4 d bytes written, in whole lines.
#ifndef AMTRL_ROWS_CUH
#define AMTRL_ROWS_CUH

#include "common.cuh"

// write_features writes the d features of a stored row to dst; the whole warp calls it.
template <class T>
__device__ inline void write_features(const T *row, bool aligned, float scale, int d, float *dst) {
  const int lane = threadIdx.x & 31;
  const bool wide = ((u64)dst & 15) == 0;
  for (int begin = lane * 4; begin < d; begin += 512) {
    Quad<T> q[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int j = begin + k * 128;
      if (j < d) {
        if (aligned && j + 4 <= d) {
          q[k].load(row + j);
        } else {
          q[k].set(row + j, d - j);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int j = begin + k * 128;
      if (j >= d) continue;
      const float4 v = q[k].get();
      const float4 x = make_float4(scale * v.x, scale * v.y, scale * v.z, scale * v.w);
      if (wide && j + 4 <= d) {
        *(float4 *)(dst + j) = x;
      } else {
        dst[j] = x.x;
        if (j + 1 < d) dst[j + 1] = x.y;
        if (j + 2 < d) dst[j + 2] = x.z;
        if (j + 3 < d) dst[j + 3] = x.w;
      }
    }
  }
}

__device__ inline void write_features(const PoolRows &pool, i64 row, int d, float *dst) {
  const i64 at = row * pool.stride;
  if (pool.dtype == POOL_UINT8) {
    write_features((const u8 *)pool.data + at, quads_aligned<u8>(pool), pool.scale, d, dst);
  } else if (pool.dtype == POOL_FLOAT16) {
    write_features((const half *)pool.data + at, quads_aligned<half>(pool), pool.scale, d, dst);
  } else {
    write_features((const float *)pool.data + at, quads_aligned<float>(pool), pool.scale, d, dst);
  }
}

#endif
