// conv_grad_input: gradient of a convolutional layer with respect to its input. With da
// zero except for da(the position that arg(i, j, f) names) = dy(i, j, f),
//
//   dx(i, j, c) = sum_{ky,kx,f} da(i-ky+1, j-kx+1, f) w(ky, kx, c, f),
//
// a convolution of da with the taps in reverse order; da is laid out in shared memory
// only.
//
// Shapes   as in conv.cu; dx: n by H W C.
// Launch   grid: (n tiles, ceil(C / CONV_WIDE)), a tile being CONV_ROWS by CONV_COLS
//          inputs, twice the rows for up to CONV_NARROW channels; block CONV_THREADS.
//          39.3 KB of static shared memory.
// Order    fixed: each output is one thread's sum.
// Traffic  dy and arg with their border once per CONV_WIDE channels, dx once.
#include "conv.cuh"

template <int WIDE>
__device__ inline void conv_turned(int height, int width, int channels, int filters, const float *w, i64 w_stride, const u8 *arg,
                                   i64 arg_stride, const float *dy, i64 dy_stride, float *dx, i64 dx_stride, float *tile) {
  ConvTile<WIDE> at = conv_place<WIDE>(height, width);
  float *weights = tile + CONV_SLAB * at.plane;
  const float *grad = dy + at.image * dy_stride;
  const u8 *which = arg + at.image * arg_stride;
  float sum[4][CONV_EACH] = {};
  for (int first = 0; first < filters; first += CONV_SLAB) {
    int slab = min(CONV_SLAB, filters - first);
    conv_unpool(at, slab, first, slab, height, width, filters, grad, which, tile, Exact());
    conv_turned_taps(at, slab, first, slab, channels, w, w_stride, weights, Exact());
    __syncthreads();
    if (at.busy(height, channels)) conv_accumulate(at, tile, weights, slab, sum);
    __syncthreads();
  }
  conv_spread(at, height, width, channels, sum, dx + at.image * dx_stride);
}

extern "C" __global__ void __launch_bounds__(CONV_THREADS)
    conv_grad_input(int height, int width, int channels, int filters, const float *w, i64 w_stride, const u8 *arg,
                    i64 arg_stride, const float *dy, i64 dy_stride, float *dx, i64 dx_stride) {
  alignas(16) __shared__ float room[CONV_ROOM];
  if (channels <= CONV_NARROW)
    conv_turned<CONV_NARROW>(height, width, channels, filters, w, w_stride, arg, arg_stride, dy, dy_stride, dx, dx_stride, room);
  else
    conv_turned<CONV_WIDE>(height, width, channels, filters, w, w_stride, arg, arg_stride, dy, dy_stride, dx, dx_stride, room);
}
REGISTER_KERNEL(conv_grad_input, CONV_THREADS)
