// Gradient of a convolutional layer in its input. With da zero but for
// da(the position that arg(i, j, f) names) = dy(i, j, f),
//
//   dx(i, j, c) = sum_{ky,kx,f} da(i-ky+1, j-kx+1, f) w(ky, kx, c, f),
//
// a convolution of da with the taps turned around; da is laid out in shared
// memory alone.
// Shapes: as in conv.cu; dx n by H W C.
// Launch: blocks of 128; grid (n * tiles, ceil(C / 32)), with a tile of 8 by 16
// inputs: tiles = ceil(H / 8) * ceil(W / 16). See conv.cuh.
// Shared memory: 36.2 KB, static. Determinism: each output is one thread's sum in
// a fixed order.
// Traffic: dy and arg once per 32 channels (and their border), dx once.
#include "conv.cuh"

extern "C" __global__ void __launch_bounds__(CONV_THREADS)
conv_grad_input(int height, int width, int channels, int filters, const float *w, i64 w_pitch,
                const u8 *arg, i64 arg_pitch, const float *dy, i64 dy_pitch, float *dx,
                i64 dx_pitch) {
  alignas(16) __shared__ float tile[CONV_SLAB * CONV_PLANE];
  alignas(16) __shared__ float weights[9 * CONV_SLAB * CONV_LINE];
  ConvTile at = conv_place(height, width);
  const float *grad = dy + at.image * dy_pitch;
  const u8 *which = arg + at.image * arg_pitch;
  float sum[4][CONV_EACH] = {};
  for (int first = 0; first < filters; first += CONV_SLAB) {
    int slab = min(CONV_SLAB, filters - first);
    for (int k = threadIdx.x; k < (CONV_ROWS + 2) * (CONV_COLS + 2) * slab; k += CONV_THREADS) {
      int f = k % slab, pixel = k / slab, j = pixel % (CONV_COLS + 2), i = pixel / (CONV_COLS + 2);
      int r = at.row - 1 + i, s = at.col - 1 + j;
      float v = 0;
      if (r >= 0 && r / 2 < height / 2 && s >= 0 && s / 2 < width / 2) {
        i64 from = ((i64)(r / 2) * (width / 2) + s / 2) * filters + first + f;
        if (which[from] == r % 2 * 2 + s % 2) v = grad[from];
      }
      tile[f * CONV_PLANE + i * CONV_PITCH + j] = v;
    }
    // Filters are innermost in w, so that neighbours read neighbours; channels come
    // next, so that the 32 writes of a warp go to 16 banks.
    for (int k = threadIdx.x; k < 9 * slab * CONV_WIDE; k += CONV_THREADS) {
      int f = k % slab, c = k / slab % CONV_WIDE, t = k / slab / CONV_WIDE;
      bool inside = at.channel + c < channels;
      weights[(f * 9 + t) * CONV_LINE + c] =
          inside ? w[((i64)(8 - t) * channels + at.channel + c) * w_pitch + first + f] : 0.0f;
    }
    __syncthreads();
    if (at.channel + (int)threadIdx.x / 32 * CONV_EACH < channels) conv_accumulate(tile, weights, slab, sum); // or the warp has no channel
    __syncthreads();
  }
  int lane = threadIdx.x % 32, c0 = at.channel + threadIdx.x / 32 * CONV_EACH;
  for (int q = 0; q < 4; q++) {
    int i = at.row + 2 * (lane / 8) + q / 2, j = at.col + 2 * (lane % 8) + q % 2;
    if (i >= height || j >= width) continue;
    float *out = dx + at.image * dx_pitch + ((i64)i * width + j) * channels;
    for (int c = 0; c < CONV_EACH; c++)
      if (c0 + c < channels) out[c0 + c] = sum[q][c];
  }
}
REGISTER_KERNEL(conv_grad_input, CONV_THREADS)
