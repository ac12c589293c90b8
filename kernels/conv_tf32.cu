// conv_tf32: the layer of conv.cu with the operands of its products rounded to TF32,
// on tensor cores: an option, for devices of compute capability 8.0 and later.
//
//   a(i, j, f) = b_f + sum_{ky,kx,c} tf32(x(i+ky-1, j+kx-1, c)) tf32(w(ky, kx, c, f))
//
// Shapes   as in conv.cu. Bias, sums and outputs are float32.
// Launch   grid and block as conv.cu, for any number of filters with the tile of CONV_WIDE.
//          36.2 KB of static shared memory.
// Order    fixed on a device.
// Traffic  as conv.cu; 16 shared loads per thread for 8 products of 16 by 8 by 8.
#include "conv_tf32.cuh"

extern "C" __global__ void __launch_bounds__(CONV_THREADS)
    conv_tf32(int height, int width, int channels, int filters, const float *x, i64 x_stride, const float *w, i64 w_stride,
              const float *bias, float *y, i64 y_stride, u8 *arg, i64 arg_stride) {
  alignas(16) __shared__ float tile[CONV_SLAB * CONV_PLANE_STRIDE];
  alignas(16) __shared__ float weights[9 * CONV_SLAB * CONV_WEIGHT_STRIDE];
  ConvTile<CONV_WIDE> at = conv_place<CONV_WIDE>(height / 2 * 2, width / 2 * 2);
  float fragment[2][4][4] = {};
  for (int first = 0; first < channels; first += CONV_SLAB) {
    int slab = min(CONV_SLAB, channels - first), planes = conv_planes(slab);
    conv_patch(at, planes, first, slab, height, width, channels, x + at.image * x_stride, tile, Tf32());
    conv_taps(at, planes, first, slab, channels, filters, w, w_stride, weights, Tf32());
    __syncthreads();
    conv_accumulate_tf32(tile, weights, planes, filters - at.channel, fragment);
    __syncthreads();
  }
  float sum[4][CONV_EACH];
  conv_rearrange(fragment, weights, sum);
  conv_pool(at, height, width, filters, sum, bias, y + at.image * y_stride, arg ? arg + at.image * arg_stride : nullptr);
}
REGISTER_KERNEL(conv_tf32, CONV_THREADS)
