// conv.cuh: the product that convolutions and their gradients with respect to the input
// share, and the functions that fill its operands and write its sums.
//
//   out(i, j, f) = sum_{ky,kx,c} in(i+ky-1, j+kx-1, c) w(ky, kx, c, f)
//
// Shapes   of a block: CONV_ROWS by CONV_COLS outputs of CONV_WIDE output channels, or
//          twice the rows of CONV_NARROW channels, from an input tile with its border,
//          both in shared memory, for a slab of up to CONV_SLAB input channels at a
//          time.
// Launch   grid: (n tiles, ceil(output channels / CONV_WIDE)), tiles innermost; block
//          CONV_THREADS. A warp computes CONV_ROWS rows of CONV_EACH output channels, its
//          lane l the 2 by 2 outputs at rows 2 (l / 8) and columns 2 (l % 8): 32 sums
//          in registers. Warps next to each other have neighbouring channels.
// Order    fixed: slabs, channels and taps in order.
// Traffic  for one input channel a thread reads its 4 by 4 patch once, as pairs
//          without bank conflicts, and then 9 rows of 8 weights that the whole warp
//          shares: 288 multiply-adds for 26 loads.
#ifndef AMTRL_CONV_CUH
#define AMTRL_CONV_CUH

#include "common.cuh"

#define CONV_EACH 8 // output channels of a thread
static_assert(CONV_ROWS == 8 && CONV_COLS == 16 && CONV_WIDE == CONV_EACH * CONV_THREADS / 32 && CONV_WIDE == 2 * CONV_NARROW,
              "the division among lanes and warps, and the loads, below");
#define CONV_TILE_STRIDE 24 // of rows of the input tile
#define CONV_AHEAD 4        // loads of a thread before it waits for the first

// ConvTile says which outputs a block computes: a tile of rows and columns, and WIDE
// channels. In the input tile, the 2 by 8 pairs that a warp loads at once lie in 32
// different banks, and 16 planes begin in 16 different banks. The rows of weights begin at
// quads, and of 16 rows that are 9 apart no more than two begin in the same bank.
template <int WIDE> struct ConvTile {
  enum {
    wide = WIDE,
    rows = CONV_ROWS * CONV_WIDE / WIDE,
    threads = CONV_THREADS, // that fill the input tile
    together = 1,           // channels of a pixel side by side
    plane = (rows + 2) * CONV_TILE_STRIDE + 2,
    line = WIDE + 4,                       // stride of the weights' rows
    room = CONV_SLAB * (plane + 9 * line), // floats of the input tile with the weights behind it
  };

  int row, col; // first output of the tile
  i64 image;
  int channel; // first output channel

  // A warp's first row and channel in the tile, and a thread's first row and column.
  __device__ static inline int warp_row() { return threadIdx.x / 32 / (WIDE / CONV_EACH) * CONV_ROWS; }
  __device__ static inline int warp_channel() { return threadIdx.x / 32 % (WIDE / CONV_EACH) * CONV_EACH; }
  __device__ static inline int lane_row() { return warp_row() + threadIdx.x % 32 / 8 * 2; }
  __device__ static inline int lane_col() { return threadIdx.x % 8 * 2; }

  // busy reports whether the warp has outputs, given the numbers of rows and channels of the whole output.
  __device__ inline bool busy(int rows, int channels) const { return row + warp_row() < rows && channel + warp_channel() < channels; }
};

// Strides of the wide tile, and room for either.
#define CONV_PLANE_STRIDE ConvTile<CONV_WIDE>::plane
#define CONV_WEIGHT_STRIDE ConvTile<CONV_WIDE>::line
#define CONV_ROOM ConvTile<CONV_NARROW>::room
static_assert(CONV_ROOM >= (int)ConvTile<CONV_WIDE>::room, "");

// conv_place returns the place of a block in the grid: x runs over images times tiles
// (tiles innermost), y over output channels.
template <int WIDE> __device__ inline ConvTile<WIDE> conv_place(int rows, int cols) {
  typedef ConvTile<WIDE> Tile;
  int down = (rows + Tile::rows - 1) / Tile::rows, across = (cols + CONV_COLS - 1) / CONV_COLS;
  int block = blockIdx.x, tile = block % (down * across);
  Tile t;
  t.row = tile / across * Tile::rows;
  t.col = tile % across * CONV_COLS;
  t.image = block / (down * across);
  t.channel = (int)blockIdx.y * WIDE;
  return t;
}

// conv_accumulate adds the products of a slab to the sums of a thread. tile
// holds `slab` planes, of which element (i, j) is input (row - 1 + i, col - 1 + j);
// weights are rows of the tile's channels, the row of channel c and tap t = 3 ky + kx being
// 9 c + t. sum[q] is output (q / 2, q % 2) of the thread's four.
template <class Tile>
__device__ inline void conv_accumulate(const Tile &at, const float *tile, const float *weights, int slab, float sum[4][CONV_EACH]) {
  const float *patch = tile + at.lane_row() * CONV_TILE_STRIDE + at.lane_col();
  weights += at.warp_channel();
  for (int c = 0; c < slab; c++) {
    float x[4][4];
    for (int i = 0; i < 4; i++) {
      float2 left = *(const float2 *)(patch + i * CONV_TILE_STRIDE);
      float2 right = *(const float2 *)(patch + i * CONV_TILE_STRIDE + 2);
      x[i][0] = left.x, x[i][1] = left.y, x[i][2] = right.x, x[i][3] = right.y;
    }
#pragma unroll
    for (int t = 0; t < 9; t++) {
      float4 low = *(const float4 *)(weights + t * Tile::line);
      float4 high = *(const float4 *)(weights + t * Tile::line + 4);
      float w[CONV_EACH] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int q = 0; q < 4; q++) {
        float v = x[q / 2 + t / 3][q % 2 + t % 3];
#pragma unroll
        for (int f = 0; f < CONV_EACH; f++) sum[q][f] += v * w[f];
      }
    }
    patch += Tile::plane;
    weights += 9 * Tile::line;
  }
}

// In the functions below that fill shared memory, a thread takes one plane, or filter, and
// walks along the other dimensions, so that it divides once, and neighbouring threads read
// neighbouring elements. Where the number of planes of a slab does not divide the number of
// threads, the threads left over do nothing.

// conv_patch fills `planes` planes of a tile from an image, with zeros outside of
// it and beyond the slab's channels. use is applied to each value and maps 0 to 0.
template <class Tile, class Use>
__device__ inline void conv_patch(const Tile &at, int planes, int first, int slab, int height, int width,
                                  int channels, const float *image, float *tile, Use use) {
  int c = threadIdx.x % planes, start = threadIdx.x / planes, step = Tile::threads / planes;
  if (start >= step) return;
  image += first + min(c, slab - 1);
  tile += c / Tile::together * Tile::together * Tile::plane + c % Tile::together;
  const int pixels = (Tile::rows + 2) * (CONV_COLS + 2);
  for (int k = start; k < pixels; k += CONV_AHEAD * step) {
    float v[CONV_AHEAD];
#pragma unroll
    for (int u = 0; u < CONV_AHEAD; u++) {
      int i = (k + u * step) / (CONV_COLS + 2), r = at.row - 1 + i, s = at.col - 1 + (k + u * step) % (CONV_COLS + 2);
      bool inside = c < slab && k + u * step < pixels && (u32)r < (u32)height && (u32)s < (u32)width;
      v[u] = inside ? image[(r * width + s) * channels] : 0.0f;
    }
#pragma unroll
    for (int u = 0; u < CONV_AHEAD; u++) {
      int i = (k + u * step) / (CONV_COLS + 2), j = (k + u * step) % (CONV_COLS + 2);
      if (k + u * step < pixels) tile[(i * CONV_TILE_STRIDE + j) * Tile::together] = use(v[u]);
    }
  }
}

// conv_taps fills the weights of `planes` channels from channel `first` on.
template <class Tile, class Use>
__device__ inline void conv_taps(const Tile &at, int planes, int first, int slab, int channels, int filters,
                                 const float *w, i64 w_stride, float *weights, Use use) {
  int f = threadIdx.x % Tile::wide;
  i64 tap = channels * w_stride;
  for (int c = threadIdx.x / Tile::wide; c < planes; c += CONV_THREADS / Tile::wide) {
    bool inside = c < slab && at.channel + f < filters;
    const float *from = inside ? w + (first + c) * w_stride + at.channel + f : w;
    float *to = weights + c * 9 * Tile::line + f;
#pragma unroll
    for (int t = 0; t < 9; t++, from += tap) to[t * Tile::line] = use(inside ? *from : 0.0f);
  }
}

// conv_unpool fills a tile with da, for `planes` filters from filter `first` on. The
// windows reach one row and one column beyond the tile on each side.
template <class Tile, class Use>
__device__ inline void conv_unpool(const Tile &at, int planes, int first, int slab, int height, int width,
                                   int filters, const float *grad, const u8 *which, float *tile, Use use) {
  const int down = Tile::rows / 2 + 2, across = CONV_COLS / 2 + 2;
  int f = threadIdx.x % planes, start = threadIdx.x / planes, step = CONV_THREADS / planes;
  if (start >= step) return;
  grad += first + min(f, slab - 1);
  which += first + min(f, slab - 1);
  tile += f * Tile::plane;
  for (int k = start; k < down * across; k += CONV_AHEAD * step) {
    float v[CONV_AHEAD];
    int place[CONV_AHEAD];
#pragma unroll
    for (int u = 0; u < CONV_AHEAD; u++) {
      int m = (k + u * step) / across, r = at.row / 2 - 1 + m, s = at.col / 2 - 1 + (k + u * step) % across;
      bool inside = f < slab && m < down && (u32)r < (u32)height / 2 && (u32)s < (u32)width / 2;
      int from = inside ? (r * (width / 2) + s) * filters : 0;
      v[u] = grad[from];
      place[u] = inside ? which[from] : 4;
    }
#pragma unroll
    for (int u = 0; u < CONV_AHEAD; u++) {
      int m = (k + u * step) / across, n = (k + u * step) % across;
      float own = use(v[u]), *to = tile + (2 * m - 1) * CONV_TILE_STRIDE + 2 * n - 1;
#pragma unroll
      for (int q = 0; q < 4; q++) {
        bool within = m < down && (q < 2 ? m > 0 : m < down - 1) && (q % 2 == 0 ? n > 0 : n < across - 1);
        if (within) to[q / 2 * CONV_TILE_STRIDE + q % 2] = place[u] == q ? own : 0.0f;
      }
    }
  }
}

// conv_turned_taps fills the weights of `planes` filters from filter `first` on, with the
// taps in reverse order. Filters are innermost in w; channels come next, so that the 32
// writes of a warp go to 16 banks.
template <class Tile, class Use>
__device__ inline void conv_turned_taps(const Tile &at, int planes, int first, int slab, int channels,
                                        const float *w, i64 w_stride, float *weights, Use use) {
  int f = threadIdx.x % planes, start = threadIdx.x / planes, step = CONV_THREADS / planes;
  if (start >= step) return;
  i64 tap = channels * w_stride;
  for (int c = start; c < Tile::wide; c += step) {
    bool inside = f < slab && at.channel + c < channels;
    const float *from = inside ? w + (at.channel + c) * w_stride + first + f : w;
    float *to = weights + f * 9 * Tile::line + c;
#pragma unroll
    for (int t = 8; t >= 0; t--, from += tap) to[t * Tile::line] = use(inside ? *from : 0.0f);
  }
}

// conv_store writes the first n of a thread's output channels. It writes all of them at
// once where they lie in whole sectors: one by one, the lanes of a warp would write to 32
// sectors each time.
__device__ inline void conv_store(const float v[CONV_EACH], int n, float *out) {
  if (n >= CONV_EACH && (u64)out % 16 == 0) {
    *(float4 *)out = make_float4(v[0], v[1], v[2], v[3]);
    *(float4 *)(out + 4) = make_float4(v[4], v[5], v[6], v[7]);
    return;
  }
#pragma unroll
  for (int f = 0; f < CONV_EACH; f++)
    if (f < n) out[f] = v[f];
}

// conv_pool writes a thread's windows: bias, ReLU and the largest of four.
template <class Tile>
__device__ inline void conv_pool(const Tile &at, int height, int width, int filters, const float sum[4][CONV_EACH],
                                 const float *bias, float *y, u8 *arg) {
  int i = (at.row + at.lane_row()) / 2, j = (at.col + at.lane_col()) / 2, f0 = at.channel + at.warp_channel(), n = filters - f0;
  if (i >= height / 2 || j >= width / 2) return;
  i64 out = ((i64)i * (width / 2) + j) * filters + f0;
  float best[CONV_EACH];
  u32 which[CONV_EACH];
#pragma unroll
  for (int f = 0; f < CONV_EACH; f++) {
    float b = f < n ? bias[f0 + f] : 0.0f;
    best[f] = sum[0][f] + b, which[f] = 0;
    for (int q = 1; q < 4; q++) {
      float v = sum[q][f] + b;
      if (v > best[f]) best[f] = v, which[f] = q;
    }
    if (!(best[f] > 0)) best[f] = 0, which[f] = 4;
  }
  conv_store(best, n, y + out);
  if (!arg) return;
  arg += out;
  if (n >= CONV_EACH && (u64)arg % 8 == 0) {
    uint2 all;
    all.x = which[0] | which[1] << 8 | which[2] << 16 | which[3] << 24;
    all.y = which[4] | which[5] << 8 | which[6] << 16 | which[7] << 24;
    *(uint2 *)arg = all;
    return;
  }
#pragma unroll
  for (int f = 0; f < CONV_EACH; f++)
    if (f < n) arg[f] = (u8)which[f];
}

// conv_spread writes a thread's sums as they are.
template <class Tile>
__device__ inline void conv_spread(const Tile &at, int height, int width, int channels,
                                   const float sum[4][CONV_EACH], float *dx) {
  int c0 = at.channel + at.warp_channel();
#pragma unroll
  for (int q = 0; q < 4; q++) {
    int i = at.row + at.lane_row() + q / 2, j = at.col + at.lane_col() + q % 2;
    if (i < height && j < width) conv_store(sum[q], channels - c0, dx + ((i64)i * width + j) * channels + c0);
  }
}

// Exact keeps a value as it is.
struct Exact {
  __device__ inline float operator()(float v) const { return v; }
};

#endif
