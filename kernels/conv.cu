// conv: a convolutional layer: 3 by 3 convolution with a border of zeros, bias, ReLU and
// 2 by 2 maximum pooling, fused (backend.Convolution).
//
//   a(i, j, f) = b_f + sum_{ky,kx,c} x(i+ky-1, j+kx-1, c) w(ky, kx, c, f)
//   y(i, j, f) = max(0, the four a of window (i, j)),  arg = which of the four, 4 for none
//
// Shapes   x: n by H W C. w: 9 C by F. bias: F. y, arg: n by (H/2)(W/2) F; arg may be
//          null. Rows of each are its stride apart, in elements.
// Launch   grid: (n tiles, ceil(F / CONV_WIDE)), a tile being CONV_ROWS / 2 by
//          CONV_COLS / 2 windows, twice the rows for up to CONV_NARROW filters; block
//          CONV_THREADS. 39.3 KB of static shared memory.
// Order    fixed: each output is one thread's sum.
// Traffic  x with its border once per CONV_WIDE filters, y and arg once; bound by
//          arithmetic beyond one input channel: 288 multiply-adds for 26 shared loads.
#include "conv.cuh"

template <int WIDE>
__device__ inline void conv_layer(int height, int width, int channels, int filters, const float *x, i64 x_stride, const float *w,
                                  i64 w_stride, const float *bias, float *y, i64 y_stride, u8 *arg, i64 arg_stride, float *tile) {
  ConvTile<WIDE> at = conv_place<WIDE>(height / 2 * 2, width / 2 * 2);
  float *weights = tile + CONV_SLAB * at.plane;
  const float *image = x + at.image * x_stride;
  float sum[4][CONV_EACH] = {};
  for (int first = 0; first < channels; first += CONV_SLAB) {
    int slab = min(CONV_SLAB, channels - first);
    conv_patch(at, slab, first, slab, height, width, channels, image, tile, Exact());
    conv_taps(at, slab, first, slab, channels, filters, w, w_stride, weights, Exact());
    __syncthreads();
    if (at.busy(height, filters)) conv_accumulate(at, tile, weights, slab, sum);
    __syncthreads();
  }
  conv_pool(at, height, width, filters, sum, bias, y + at.image * y_stride, arg ? arg + at.image * arg_stride : nullptr);
}

extern "C" __global__ void __launch_bounds__(CONV_THREADS)
    conv(int height, int width, int channels, int filters, const float *x, i64 x_stride, const float *w, i64 w_stride,
         const float *bias, float *y, i64 y_stride, u8 *arg, i64 arg_stride) {
  alignas(16) __shared__ float room[CONV_ROOM];
  if (filters <= CONV_NARROW)
    conv_layer<CONV_NARROW>(height, width, channels, filters, x, x_stride, w, w_stride, bias, y, y_stride, arg, arg_stride, room);
  else
    conv_layer<CONV_WIDE>(height, width, channels, filters, x, x_stride, w, w_stride, bias, y, y_stride, arg, arg_stride, room);
}
REGISTER_KERNEL(conv, CONV_THREADS)
