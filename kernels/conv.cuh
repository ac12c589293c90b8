// The product that convolutions and their input gradients share.
//
// A block computes a tile of 8 by 16 outputs of a 3 by 3 convolution for 32
// output channels, from an input tile with its border in shared memory and for a
// slab of up to 16 input channels at a time. Lane l of a warp has the 2 by 2
// outputs at rows 2 (l / 8) and columns 2 (l % 8) of the tile, warp v the 8
// output channels from 8 v on: 32 sums in registers. For one input channel a
// thread reads its 4 by 4 patch once, as pairs without bank conflicts, and then
// 9 rows of 8 weights that the whole warp shares: 288 multiply-adds for 26 loads.
#ifndef AMTRL_CONV_CUH
#define AMTRL_CONV_CUH

#include "common.cuh"

#define CONV_ROWS 8      // of a tile of outputs
#define CONV_COLS 16
#define CONV_SLAB 16     // input channels at a time
#define CONV_WIDE 32     // output channels of a block
#define CONV_EACH 8      // output channels of a thread
#define CONV_THREADS 128 // CONV_WIDE / CONV_EACH warps
// Row and plane pitch of the input tile: 2 by 8 pairs of one warp's load lie in
// 32 different banks, and 16 planes begin in 16 different ones.
#define CONV_PITCH 24
#define CONV_PLANE 242
// Row pitch of the weights: rows begin at quads, and of 16 rows that are 9 apart no
// more than two begin in one bank.
#define CONV_LINE 36

// ConvTile is the place of a block: its tile of outputs and its channels.
struct ConvTile {
  int row, col;      // first output of the tile
  i64 image;
  int channel;       // first output channel
};

// conv_place divides the grid: x over images times tiles (tiles innermost), y
// over output channels.
__device__ inline ConvTile conv_place(int rows, int cols) {
  int down = (rows + CONV_ROWS - 1) / CONV_ROWS, across = (cols + CONV_COLS - 1) / CONV_COLS;
  i64 block = blockIdx.x;
  int tile = (int)(block % (down * across));
  ConvTile t;
  t.row = tile / across * CONV_ROWS;
  t.col = tile % across * CONV_COLS;
  t.image = block / (down * across);
  t.channel = (int)blockIdx.y * CONV_WIDE;
  return t;
}

// conv_accumulate adds the products of a slab to the sums of a thread. tile
// holds `slab` planes, of which element (i, j) is input (row - 1 + i, col - 1 + j);
// weights are rows of CONV_WIDE, CONV_LINE apart, the row of channel c and tap t =
// 3 ky + kx being 9 c + t. sum[q] is output (q / 2, q % 2) of the thread's four.
__device__ inline void conv_accumulate(const float *tile, const float *weights, int slab,
                                                float sum[4][CONV_EACH]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float *patch = tile + 2 * (lane / 8) * CONV_PITCH + 2 * (lane % 8);
  weights += warp * CONV_EACH;
  for (int c = 0; c < slab; c++) {
    float x[4][4];
    for (int i = 0; i < 4; i++) {
      float2 left = *(const float2 *)(patch + i * CONV_PITCH);
      float2 right = *(const float2 *)(patch + i * CONV_PITCH + 2);
      x[i][0] = left.x, x[i][1] = left.y, x[i][2] = right.x, x[i][3] = right.y;
    }
#pragma unroll
    for (int t = 0; t < 9; t++) {
      float4 low = *(const float4 *)(weights + t * CONV_LINE);
      float4 high = *(const float4 *)(weights + t * CONV_LINE + 4);
      float w[CONV_EACH] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int q = 0; q < 4; q++) {
        float v = x[q / 2 + t / 3][q % 2 + t % 3];
#pragma unroll
        for (int f = 0; f < CONV_EACH; f++) sum[q][f] += v * w[f];
      }
    }
    patch += CONV_PLANE;
    weights += 9 * CONV_LINE;
  }
}

#endif
