// conv_grad_input_tf32: the gradient of conv_grad_input.cu with the operands of its
// products rounded to TF32, on tensor cores: an option, for devices of compute
// capability 8.0 and later.
//
//   dx(i, j, c) = sum_{ky,kx,f} tf32(da(i-ky+1, j-kx+1, f)) tf32(w(ky, kx, c, f))
//
// Shapes   as in conv_grad_input.cu. Sums and outputs are float32.
// Launch   grid and block as conv_grad_input.cu, for any number of channels with the tile
//          of CONV_WIDE. 36.2 KB of static shared memory.
// Order    fixed on a device.
// Traffic  as conv_grad_input.cu; 16 shared loads per thread for 8 products of 16 by
//          8 by 8.
#include "conv_tf32.cuh"

extern "C" __global__ void __launch_bounds__(CONV_THREADS)
    conv_grad_input_tf32(int height, int width, int channels, int filters, const float *w, i64 w_stride, const u8 *arg,
                         i64 arg_stride, const float *dy, i64 dy_stride, float *dx, i64 dx_stride) {
  alignas(16) __shared__ float tile[CONV_SLAB * CONV_PLANE_STRIDE];
  alignas(16) __shared__ float weights[9 * CONV_SLAB * CONV_WEIGHT_STRIDE];
  ConvTile<CONV_WIDE> at = conv_place<CONV_WIDE>(height, width);
  float fragment[2][4][4] = {};
  for (int first = 0; first < filters; first += CONV_SLAB) {
    int slab = min(CONV_SLAB, filters - first), planes = conv_planes(slab);
    conv_unpool(at, planes, first, slab, height, width, filters, dy + at.image * dy_stride, arg + at.image * arg_stride,
                tile, Tf32());
    conv_turned_taps(at, planes, first, slab, channels, w, w_stride, weights, Tf32());
    __syncthreads();
    conv_accumulate_tf32(tile, weights, planes, channels - at.channel, fragment);
    __syncthreads();
  }
  float sum[4][CONV_EACH];
  conv_rearrange(fragment, weights, sum);
  conv_spread(at, height, width, channels, sum, dx + at.image * dx_stride);
}
REGISTER_KERNEL(conv_grad_input_tf32, CONV_THREADS)
