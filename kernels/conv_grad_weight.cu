// conv_grad_weight: partial sums of the gradient of a convolutional layer in its
// weights and bias. With da as in conv_grad_input.cu,
//
//   dw(ky, kx, c, f) = sum over images and i, j of x(i+ky-1, j+kx-1, c) da(i, j, f)
//   db_f             = sum over images and i, j of da(i, j, f)
//
// Shapes   as in conv.cu. part: parts split blocks of (9 C + 1) by F sums, rows as
//          those of w and the last one db: block (p, s) is the sum over the images
//          p each to (p + 1) each and every split-th window from s on. With warps =
//          BLOCK / 32 and pairs = ceil(min(C, CONV_SLAB) / 2), split = warps / pairs.
//          conv_grad_reduce adds the blocks.
// Launch   grid: (parts, ceil(C / CONV_SLAB) ceil(F / CONV_WIDE)), the channels
//          innermost; block BLOCK. Lane l has filter l of the block's; warp v has
//          window class v / pairs and channels 2 (v % pairs) and the next: 18 sums per
//          thread. 23.7 KB of static shared memory.
// Order    fixed images, windows and order.
// Traffic  x once per CONV_WIDE filters, dy and arg once per CONV_SLAB channels, part
//          once.
//
// Only one position of each window has a gradient, so that the sum runs over windows, a
// quarter of the positions. The lanes of a warp read at most four patches that begin
// one element or one row apart, in different banks.
#include "conv.cuh"

#define GRAD_WINDOWS (CONV_ROWS / 2 * CONV_COLS / 2) // of a tile

extern "C" __global__ void __launch_bounds__(BLOCK)
    conv_grad_weight(int height, int width, int channels, int filters, i64 n, int each, const float *x, i64 x_stride,
                     const u8 *arg, i64 arg_stride, const float *dy, i64 dy_stride, float *part) {
  alignas(16) __shared__ float tile[CONV_SLAB * CONV_PLANE_STRIDE];
  __shared__ float grad[GRAD_WINDOWS * CONV_WIDE];
  __shared__ int place[GRAD_WINDOWS * CONV_WIDE]; // where the patch begins in a plane
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int pairs = (min(channels, CONV_SLAB) + 1) / 2, split = BLOCK / 32 / pairs;
  int pair = warp % pairs, turn = warp / pairs;
  int slabs = (channels + CONV_SLAB - 1) / CONV_SLAB;
  int c0 = (int)blockIdx.y % slabs * CONV_SLAB, slab = min(CONV_SLAB, channels - c0);
  int f0 = (int)blockIdx.y / slabs * CONV_WIDE;
  int rows = height / 2, cols = width / 2;
  float sum[2][9] = {}, bias = 0;
  for (i64 image = (i64)blockIdx.x * each; image < min(n, ((i64)blockIdx.x + 1) * each); image++) {
    for (int row = 0; row < rows; row += CONV_ROWS / 2) {
      for (int col = 0; col < cols; col += CONV_COLS / 2) {
        __syncthreads();
        for (int k = threadIdx.x; k < (CONV_ROWS + 2) * (CONV_COLS + 2) * slab; k += BLOCK) {
          int c = k % slab, pixel = k / slab, j = pixel % (CONV_COLS + 2), i = pixel / (CONV_COLS + 2);
          int r = 2 * row - 1 + i, s = 2 * col - 1 + j;
          bool inside = r >= 0 && r < height && s >= 0 && s < width;
          tile[c * CONV_PLANE_STRIDE + i * CONV_TILE_STRIDE + j] =
              inside ? x[image * x_stride + ((i64)r * width + s) * channels + c0 + c] : 0.0f;
        }
        for (int k = threadIdx.x; k < GRAD_WINDOWS * CONV_WIDE; k += BLOCK) {
          int f = k % CONV_WIDE, i = k / CONV_WIDE / (CONV_COLS / 2), j = k / CONV_WIDE % (CONV_COLS / 2);
          float g = 0;
          int from = 0;
          if (row + i < rows && col + j < cols && f0 + f < filters) {
            i64 at = ((i64)(row + i) * cols + col + j) * filters + f0 + f;
            int which = arg[image * arg_stride + at];
            if (which < 4) {
              g = dy[image * dy_stride + at];
              from = (2 * i + which / 2) * CONV_TILE_STRIDE + 2 * j + which % 2;
            }
          }
          grad[k] = g;
          place[k] = from;
        }
        __syncthreads();
        if (turn >= split) continue;
        for (int k = turn; k < GRAD_WINDOWS; k += split) {
          float g = grad[k * CONV_WIDE + lane];
          const float *patch = tile + place[k * CONV_WIDE + lane];
          bias += g;
#pragma unroll
          for (int c = 0; c < 2; c++) {
            if (2 * pair + c >= slab) break;
            const float *plane = patch + (2 * pair + c) * CONV_PLANE_STRIDE;
#pragma unroll
            for (int t = 0; t < 9; t++) sum[c][t] += g * plane[t / 3 * CONV_TILE_STRIDE + t % 3];
          }
        }
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
