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
    conv_patch(at, slab, first, slab, height, width, channels, image, tile, Exact());
    conv_taps(at, slab, first, slab, channels, filters, w, w_pitch, weights, Exact());
    __syncthreads();
    if (at.channel + (int)threadIdx.x / 32 * CONV_EACH < filters) conv_accumulate(tile, weights, slab, sum); // or the warp has no filter
    __syncthreads();
  }
  conv_pool(at, height, width, filters, sum, bias, y + at.image * y_pitch, arg ? arg + at.image * arg_pitch : nullptr);
}
REGISTER_KERNEL(conv, CONV_THREADS)
