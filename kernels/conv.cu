// Convolution 3 by 3 with border of zeros, bias, ReLU and 2 by 2 maximum
// pooling, fused. With images x, weights w and outputs y as in backend.Convolution,
//
//   a(i, j, f) = b_f + sum_{ky,kx,c} x(i+ky-1, j+kx-1, c) w(ky, kx, c, f)
//   y(i, j, f) = max(0, the four a of window (i, j)),  arg = which of them, 4 for none
//
// Shapes: x n by H W C, w 9 C by F, b F, y and arg n by (H/2)(W/2) F, all with a
// row pitch in elements. arg may be null.
// Launch: blocks of 128; grid (n * tiles, ceil(F / 32)), with a tile of 4 by 8
// windows: tiles = ceil(H/2 / 4) * ceil(W/2 / 8). See conv.cuh.
// Shared memory: 36.2 KB, static. Determinism: each output is one thread's sum in
// a fixed order.
// Traffic: x once per 32 filters (and its border), y and arg once; arithmetic
// bound beyond one input channel: 288 multiply-adds for 26 shared loads.
#include "conv.cuh"

extern "C" __global__ void __launch_bounds__(CONV_THREADS)
conv(int height, int width, int channels, int filters, const float *x, i64 x_pitch, const float *w,
     i64 w_pitch, const float *bias, float *y, i64 y_pitch, u8 *arg, i64 arg_pitch) {
  alignas(16) __shared__ float tile[CONV_SLAB * CONV_PLANE];
  alignas(16) __shared__ float weights[9 * CONV_SLAB * CONV_LINE];
  ConvTile at = conv_place(height / 2 * 2, width / 2 * 2);
  const float *image = x + at.image * x_pitch;
  float sum[4][CONV_EACH] = {};
  for (int first = 0; first < channels; first += CONV_SLAB) {
    int slab = min(CONV_SLAB, channels - first);
    for (int k = threadIdx.x; k < (CONV_ROWS + 2) * (CONV_COLS + 2) * slab; k += CONV_THREADS) {
      int c = k % slab, pixel = k / slab, j = pixel % (CONV_COLS + 2), i = pixel / (CONV_COLS + 2);
      int r = at.row - 1 + i, s = at.col - 1 + j;
      bool inside = r >= 0 && r < height && s >= 0 && s < width;
      tile[c * CONV_PLANE + i * CONV_PITCH + j] =
          inside ? image[((i64)r * width + s) * channels + first + c] : 0.0f;
    }
    for (int k = threadIdx.x; k < 9 * slab * CONV_WIDE; k += CONV_THREADS) {
      int f = k % CONV_WIDE, t = k / CONV_WIDE % 9, c = k / CONV_WIDE / 9;
      bool inside = at.channel + f < filters;
      weights[(c * 9 + t) * CONV_LINE + f] =
          inside ? w[((i64)t * channels + first + c) * w_pitch + at.channel + f] : 0.0f;
    }
    __syncthreads();
    if (at.channel + (int)threadIdx.x / 32 * CONV_EACH < filters) conv_accumulate(tile, weights, slab, sum); // or the warp has no filter
    __syncthreads();
  }
  int lane = threadIdx.x % 32;
  int i = at.row / 2 + lane / 8, j = at.col / 2 + lane % 8, f0 = at.channel + threadIdx.x / 32 * CONV_EACH;
  if (i >= height / 2 || j >= width / 2) return;
  i64 out = ((i64)i * (width / 2) + j) * filters + f0;
  for (int f = 0; f < CONV_EACH; f++) {
    if (f0 + f >= filters) break;
    float b = bias[f0 + f], best = sum[0][f] + b;
    int which = 0;
    for (int q = 1; q < 4; q++) {
      float v = sum[q][f] + b;
      if (v > best) best = v, which = q;
    }
    if (!(best > 0)) best = 0, which = 4;
    y[at.image * y_pitch + out + f] = best;
    if (arg) arg[at.image * arg_pitch + out + f] = (u8)which;
  }
}
REGISTER_KERNEL(conv, CONV_THREADS)
