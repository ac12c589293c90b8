// The gradient of conv_grad_input.cu with the operands of its products rounded to
// TF32, on tensor cores: an option, for devices of compute capability 8.0 and later.
//
//   dx(i, j, c) = sum_{ky,kx,f} tf32(da(i-ky+1, j-kx+1, f)) tf32(w(ky, kx, c, f))
//
// Shapes, launch (grid, block) and results as in conv_grad_input.cu. Sums and
// outputs are float32.
// Shared memory: 36.2 KB, static. Determinism: fixed order on a device.
// Traffic: as conv_grad_input.cu; 16 shared loads a thread for 8 products of 16 by 8
// by 8.
#include "conv_tf32.cuh"

extern "C" __global__ void __launch_bounds__(CONV_THREADS)
conv_grad_input_tf32(int height, int width, int channels, int filters, const float *w, i64 w_pitch,
                     const u8 *arg, i64 arg_pitch, const float *dy, i64 dy_pitch, float *dx,
                     i64 dx_pitch) {
  alignas(16) __shared__ float tile[CONV_SLAB * CONV_PLANE];
  alignas(16) __shared__ float weights[9 * CONV_SLAB * CONV_LINE];
  ConvTile at = conv_place(height, width);
  float fragment[2][4][4] = {};
  for (int first = 0; first < filters; first += CONV_SLAB) {
    int slab = min(CONV_SLAB, filters - first), planes = conv_planes(slab);
    conv_unpool(at, planes, first, slab, height, width, filters, dy + at.image * dy_pitch, arg + at.image * arg_pitch,
                tile, Tf32());
    conv_turned_taps(at, planes, first, slab, channels, w, w_pitch, weights, Tf32());
    __syncthreads();
    conv_accumulate_tf32(tile, weights, planes, channels - at.channel, fragment);
    __syncthreads();
  }
  float sum[4][CONV_EACH];
  conv_rearrange(fragment, weights, sum);
  conv_spread(at, height, width, channels, sum, dx + at.image * dx_pitch);
}
REGISTER_KERNEL(conv_grad_input_tf32, CONV_THREADS)
