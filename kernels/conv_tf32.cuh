// conv_tf32.cuh: the product of conv.cuh on tensor cores, with operands rounded to
// TF32: 8 bits of exponent, 10 of fraction.
//
//   out(i, j, f) = sum_{ky,kx,c} tf32(in(i+ky-1, j+kx-1, c)) tf32(w(ky, kx, c, f))
//
// Shapes   as in conv.cuh. Sums are float32.
// Launch   grid and block as conv.cuh, for the wide tile. A warp has two rows of
//          CONV_COLS outputs and all CONV_WIDE output channels: 2 by 4 fragments of 16
//          by 8.
// Order    fixed on a device: slabs, groups of eight channels, taps.
// Traffic  for a tap and eight input channels a thread reads 16 numbers for 8 products
//          of 16 by 8 by 8.
#ifndef AMTRL_CONV_TF32_CUH
#define AMTRL_CONV_TF32_CUH

#include "conv.cuh"

// Tf32 rounds to the nearest, ties away from zero.
struct Tf32 {
  __device__ inline float operator()(float v) const {
#ifdef __CUDA_ARCH__
    u32 bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
    return __uint_as_float(bits);
#else
    u32 bits = __float_as_uint(v);
    if ((bits & 0x7f800000u) == 0x7f800000u) return v;
    return __uint_as_float((bits + 0x1000u) & ~0x1fffu);
#endif
  }
};

// tf32_product adds a product of 16 by 8 by 8 to the fragment d. With lane = 4 g +
// t, a holds (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4) of the left factor, b
// (t, g), (t + 4, g) of the right one and d (g, 2 t), (g, 2 t + 1), (g + 8, 2 t),
// (g + 8, 2 t + 1) of the sum (PTX ISA, mma.m16n8k8 with .tf32). The whole warp
// calls it.
__device__ inline void tf32_product(float d[4], const float a[4], const float b[2]) {
#ifdef __CUDA_ARCH__
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
                 "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
#else
  int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (int k = 0; k < 8; k++) {
    float high = __shfl_sync(FULL_WARP, a[k / 4 * 2], 4 * g + k % 4);
    float low = __shfl_sync(FULL_WARP, a[k / 4 * 2 + 1], 4 * g + k % 4);
    float left = __shfl_sync(FULL_WARP, b[k / 4], 4 * (2 * t) + k % 4);
    float right = __shfl_sync(FULL_WARP, b[k / 4], 4 * (2 * t + 1) + k % 4);
    d[0] += high * left, d[1] += high * right, d[2] += low * left, d[3] += low * right;
  }
#endif
}

// conv_planes returns the number of planes of a slab, rounded up to whole groups of eight.
__device__ inline int conv_planes(int slab) { return (slab + 7) / 8 * 8; }

// conv_accumulate_tf32 adds the products of `planes` channels to the fragments of a warp:
// sum[i][j] holds row 2 warp + i and output channels 8 j to 8 j + 7. Groups of output
// channels from `wide` on are left out.
__device__ inline void conv_accumulate_tf32(const float *tile, const float *weights, int planes, int wide,
                                            float sum[2][4][4]) {
  int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 * 2;
  for (int c = 0; c < planes; c += 8) {
    const float *plane = tile + (c + t) * CONV_PLANE_STRIDE + row * CONV_TILE_STRIDE + g;
    const float *line = weights + (c + t) * 9 * CONV_WEIGHT_STRIDE + g;
#pragma unroll
    for (int tap = 0; tap < 9; tap++) {
      float a[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const float *p = plane + (i + tap / 3) * CONV_TILE_STRIDE + tap % 3;
        a[i][0] = p[0], a[i][1] = p[8], a[i][2] = p[4 * CONV_PLANE_STRIDE], a[i][3] = p[4 * CONV_PLANE_STRIDE + 8];
      }
#pragma unroll
      for (int j = 0; j < 4; j++) {
        if (8 * j >= wide) break;
        float b[2] = {line[tap * CONV_WEIGHT_STRIDE + 8 * j], line[(36 + tap) * CONV_WEIGHT_STRIDE + 8 * j]};
        tf32_product(sum[0][j], a[0], b);
        tf32_product(sum[1][j], a[1], b);
      }
    }
  }
}

// conv_rearrange turns the fragments of all warps into the sums that conv_accumulate leaves,
// by way of room, 128 rows CONV_WEIGHT_STRIDE apart. The whole block must call it, after a
// barrier that follows the last read of room.
__device__ inline void conv_rearrange(const float fragment[2][4][4], float *room, float sum[4][CONV_EACH]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int i = 0; i < 2; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
      for (int k = 0; k < 4; k++)
        room[((2 * warp + i) * CONV_COLS + g + k / 2 * 8) * CONV_WEIGHT_STRIDE + 8 * j + 2 * t + k % 2] = fragment[i][j][k];
    }
  }
  __syncthreads();
  for (int q = 0; q < 4; q++) {
    int pixel = (2 * (lane / 8) + q / 2) * CONV_COLS + 2 * (lane % 8) + q % 2;
    for (int f = 0; f < CONV_EACH; f++) sum[q][f] = room[pixel * CONV_WEIGHT_STRIDE + warp * CONV_EACH + f];
  }
}

#endif
