// solve_spd: A_i X_i = B_i for many small symmetric positive definite A_i, by
// Cholesky, in float64.
//
//   A = L L',  L Y = B,  L' X = Y
//
// Shapes   a: n blocks of k by k, of which the lower triangles are read and
//          overwritten with L; the strict upper triangles are kept. b: n blocks of
//          k by r, overwritten with X. info: n int32, 0, or the order of the first
//          leading minor of A_i that is not positive (a pivot that is not finite
//          counts as such); then A_i and B_i are undefined.
// Launch   grid: n, one block per system; block BLOCK. Where they fit in 48 KiB (k <= 74),
//          in_shared is set, and L and a column for each warp lie in shared memory of
//          8 (k (k | 1) + k BLOCK / 32) bytes; else they lie in a and b themselves.
// Order    fixed: each element by columns, no sums across threads.
// Traffic  a and b once in and out. A column costs two barriers: order 50 takes about
//          50 us, whatever n is up to the number of blocks that fit on the device.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    solve_spd(int k, int r, double *a, double *b, int *info, int in_shared) {
  DYNAMIC_SHARED(double, space);
  const int thread = threadIdx.x, warp = thread >> 5, lane = thread & 31, tx = thread & 15, ty = thread >> 4; // 16 across
  a += (i64)blockIdx.x * k * k;
  b += (i64)blockIdx.x * k * r;
  double *l = in_shared ? space : a;
  const i64 stride = in_shared ? k | 1 : k; // odd in shared memory: a column lies in all banks
  if (in_shared) {
    for (int i = ty; i < k; i += BLOCK / 16) {
      for (int j = tx; j <= i; j += 16) l[i * stride + j] = a[(i64)i * k + j];
    }
    __syncthreads();
  }

  for (int j = 0; j < k; j++) {
    const double pivot = l[j * stride + j];
    if (!(pivot > 0) || isinf(pivot)) { // the same in every thread
      if (thread == 0) info[blockIdx.x] = j + 1;
      return;
    }
    const double root = sqrt(pivot);
    for (int i = j + 1 + thread; i < k; i += BLOCK) l[i * stride + j] /= root;
    __syncthreads();
    if (thread == 0) l[j * stride + j] = root; // no one reads it before the next barrier
    for (int i = j + 1 + ty; i < k; i += BLOCK / 16) {
      for (int m = j + 1 + tx; m <= i; m += 16) l[i * stride + m] -= l[i * stride + j] * l[m * stride + j];
    }
    __syncthreads();
  }
  if (thread == 0) info[blockIdx.x] = 0;

  // One warp per column; element i of the column is v[i * step].
  double *v = in_shared ? space + k * stride + warp * k : b;
  for (int c = warp; c < r; c += BLOCK / 32) {
    const i64 step = in_shared ? 1 : r;
    if (in_shared) {
      for (int i = lane; i < k; i += 32) v[i] = b[(i64)i * r + c];
    } else {
      v = b + c;
    }
    __syncwarp();
    for (int j = 0; j < k; j++) {
      const double y = v[j * step] / l[j * stride + j];
      __syncwarp();
      if (lane == 0) v[j * step] = y;
      for (int i = j + 1 + lane; i < k; i += 32) v[i * step] -= l[i * stride + j] * y;
      __syncwarp();
    }
    for (int j = k - 1; j >= 0; j--) {
      const double x = v[j * step] / l[j * stride + j];
      __syncwarp();
      if (lane == 0) v[j * step] = x;
      for (int i = lane; i < j; i += 32) v[i * step] -= l[j * stride + i] * x;
      __syncwarp();
    }
    if (in_shared) {
      for (int i = lane; i < k; i += 32) b[(i64)i * r + c] = v[i];
      __syncwarp();
    }
  }
  if (in_shared) {
    for (int i = ty; i < k; i += BLOCK / 16) {
      for (int j = tx; j <= i; j += 16) a[(i64)i * k + j] = l[i * stride + j];
    }
  }
}
REGISTER_KERNEL(solve_spd, BLOCK)
