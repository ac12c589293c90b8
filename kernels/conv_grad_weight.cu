// conv_grad_weight: partial sums of the gradient of a convolutional layer with respect to
// its weights and bias. With da as in conv_grad_input.cu,
//
//   dw(ky, kx, c, f) = sum over images and i, j of x(i+ky-1, j+kx-1, c) da(i, j, f)
//   db_f             = sum over images and i, j of da(i, j, f)
//
// Shapes   as in conv.cu. part: parts split blocks of (9 C + 1) by F sums, with the rows
//          of w and, as the last row, db. Block (p, s) is the sum over the images p each
//          to (p + 1) each - 1 and over every split-th window of a tile from s on. With
//          warps = BLOCK / 32 and pairs = ceil(min(C, CONV_SLAB) / 2), split = warps /
//          pairs. conv_grad_reduce adds the blocks.
// Launch   grid: (parts, ceil(C / CONV_SLAB) ceil(F / CONV_WIDE)), the channels
//          innermost; block BLOCK. Lane l takes filter l of the block's; warp v takes
//          window class v / pairs and channels 2 (v % pairs) and the next: 18 sums per
//          thread. 23.7 KB of static shared memory.
// Order    fixed: each sum has the same images and windows in the same order.
// Traffic  x once per CONV_WIDE filters, dy and arg once per CONV_SLAB channels, part
//          once.
//
// Only one position of each window has a gradient, so that the sum runs over windows, a
// quarter of the positions. The lanes of a warp read at most four patches that begin
// one element or one row apart, in different banks. Two channels of an element lie side by
// side and are one load.
#include "conv.cuh"

#define GRAD_WINDOWS (CONV_ROWS / 2 * CONV_COLS / 2) // windows of a tile
static_assert(CONV_WIDE == 32 && BLOCK / 32 == CONV_COLS / 2, "a warp lays out a column of windows, a lane a filter");

struct GradTile : ConvTile<CONV_WIDE> {
  enum { threads = BLOCK, together = 2 };
};

// grad_windows adds the products of every split-th window from turn on, up to end.
// window holds the gradient's bits and where the patch begins, in elements.
template <int CHANNELS>
__device__ inline void grad_windows(const float *tile, const uint2 *window, int turn, int split, int end, float sum[2][9], float &bias) {
  for (int k = turn; k < end; k += split) {
    uint2 own = window[k * CONV_WIDE];
    float g = __uint_as_float(own.x);
    const float *patch = tile + own.y * 2;
    bias += g;
#pragma unroll
    for (int t = 0; t < 9; t++) {
      const float *x = patch + (t / 3 * CONV_TILE_STRIDE + t % 3) * 2;
      if (CHANNELS == 2) {
        float2 both = *(const float2 *)x;
        sum[0][t] += g * both.x;
        sum[1][t] += g * both.y;
      } else {
        sum[0][t] += g * *x;
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    conv_grad_weight(int height, int width, int channels, int filters, i64 n, int each, const float *x, i64 x_stride,
                     const u8 *arg, i64 arg_stride, const float *dy, i64 dy_stride, float *part) {
  alignas(16) __shared__ float tile[CONV_SLAB * CONV_PLANE_STRIDE];
  __shared__ uint2 windows[GRAD_WINDOWS * CONV_WIDE];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int pairs = (min(channels, CONV_SLAB) + 1) / 2, split = BLOCK / 32 / pairs;
  int pair = warp % pairs, turn = warp / pairs;
  int slabs = (channels + CONV_SLAB - 1) / CONV_SLAB;
  int c0 = (int)blockIdx.y % slabs * CONV_SLAB, slab = min(CONV_SLAB, channels - c0);
  int f0 = (int)blockIdx.y / slabs * CONV_WIDE;
  int rows = height / 2, cols = width / 2;
  const float *own = tile + pair * 2 * CONV_PLANE_STRIDE;
  float sum[2][9] = {}, bias = 0;
  for (i64 image = (i64)blockIdx.x * each; image < min(n, ((i64)blockIdx.x + 1) * each); image++) {
    const u8 *which = arg + image * arg_stride;
    const float *grad = dy + image * dy_stride;
    GradTile at;
    for (int row = 0; row < rows; row += CONV_ROWS / 2) {
      for (int col = 0; col < cols; col += CONV_COLS / 2) {
        at.row = 2 * row, at.col = 2 * col;
        __syncthreads();
        conv_patch(at, slab, c0, slab, height, width, channels, x + image * x_stride, tile, Exact());
#pragma unroll
        for (int i = 0; i < CONV_ROWS / 2; i++) {
          bool inside = row + i < rows && col + warp < cols && f0 + lane < filters;
          int from = inside ? ((row + i) * cols + col + warp) * filters + f0 + lane : 0;
          int place = inside ? which[from] : 4;
          uint2 window;
          window.x = __float_as_uint(grad[from]) & (u32)((place - 4) >> 31); // with a condition this load would wait for that of place
          window.y = (2 * i + place / 2 % 2) * CONV_TILE_STRIDE + 2 * warp + place % 2;
          windows[(i * CONV_COLS / 2 + warp) * CONV_WIDE + lane] = window;
        }
        __syncthreads();
        int end = turn < split ? min(CONV_ROWS / 2, rows - row) * CONV_COLS / 2 : 0;
        if (2 * pair + 1 < slab)
          grad_windows<2>(own, windows + lane, turn, split, end, sum, bias);
        else if (2 * pair < slab)
          grad_windows<1>(own, windows + lane, turn, split, end, sum, bias);
      }
    }
  }
  if (turn >= split || f0 + lane >= filters) return;
  part += ((i64)blockIdx.x * split + turn) * ((i64)9 * channels + 1) * filters + f0 + lane;
  for (int c = 0; c < 2; c++)
    for (int t = 0; t < 9; t++)
      if (2 * pair + c < slab) part[((i64)t * channels + c0 + 2 * pair + c) * filters] = sum[c][t];
  if (c0 == 0 && pair == 0) part[(i64)9 * channels * filters] = bias;
}
REGISTER_KERNEL(conv_grad_weight, BLOCK)
