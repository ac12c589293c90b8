// common.cuh: what all kernels share: types, stored rows, sums over warps and blocks.
// The sources are plain CUDA C++ without headers of a toolkit, so that NVRTC compiles
// them for a device and g++, behind host/prelude.h, for the CPU.
#ifndef AMTRL_COMMON_CUH
#define AMTRL_COMMON_CUH

#include "sizes.cuh"

#ifndef AMTRL_ON_HOST
// Dynamic shared memory. Static shared memory must not be declared in templates or
// inline functions: the prelude for the CPU cannot place it there.
#define DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]
#define REGISTER_KERNEL(name, block)
#endif

#define FULL_WARP 0xffffffffu

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

static_assert(sizeof(i64) == 8 && sizeof(int) == 4 && sizeof(void *) == 8, "the sizes that package kernels packs");

// half is a stored float16.
struct half {
  unsigned short bits;
};
static_assert(sizeof(half) == 2, "");

// The types of stored rows.
enum { POOL_UINT8 = 0, POOL_FLOAT16 = 1, POOL_FLOAT32 = 2 };

// PoolRows describes the stored rows of a pool: element (i, j) is data[i * stride + j],
// and the feature is scale times the element. Package kernels writes it, as PoolRows.
struct PoolRows {
  const void *data;
  i64 stride;
  float scale;
  int dtype;
};
static_assert(sizeof(PoolRows) == 24 && alignof(PoolRows) == 8, "");

// SampleChunk is a run of samples of one source, first to first + count - 1, whose
// labels begin at index labels. outputs is 0 in chunks for task_gradient, of sources of
// one output without missing labels: task is the output's, and slot is the place of its
// sums. In chunks for task_gradient_outputs it is the number of outputs: output c has
// task + c, and its sums have the place slot + c * slots. Package kernels writes it, as
// SampleChunk.
struct SampleChunk {
  PoolRows pool;
  i64 first, labels;
  int count, task, slot, outputs, slots, unused;
};
static_assert(sizeof(SampleChunk) == 64 && alignof(SampleChunk) == 8, "");

// SampleSource describes a source for a minibatch: its labels begin at index labels, one
// for each output of each sample, and task is the number of its first output. Package
// kernels writes it, as SampleSource.
struct SampleSource {
  PoolRows pool;
  i64 labels;
  int outputs, task;
};
static_assert(sizeof(SampleSource) == 40 && alignof(SampleSource) == 8, "");

__device__ inline float widen(u8 v) { return (float)v; }
__device__ inline float widen(float v) { return v; }
__device__ inline double widen(double v) { return v; }

// half_value returns the exact value of a float16, by definition; a device has an
// instruction for it.
__device__ inline float half_value(unsigned short bits) {
  u32 sign = (u32)(bits & 0x8000) << 16, rest = (u32)(bits & 0x7fff) << 13;
  if (rest >= 0x0f800000u) return __uint_as_float(sign | 0x70000000u | rest); // infinity, NaN
  return __uint_as_float(sign | __float_as_uint(__uint_as_float(rest) * 0x1p112f));
}

__device__ inline float widen(half v) {
#ifdef __CUDA_ARCH__
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.bits));
  return f;
#else
  return half_value(v.bits);
#endif
}

// Quad is four consecutive stored elements. load reads them at once, from an address that
// is a multiple of their size; set reads the first n and sets the others to zero.
template <class T> struct Quad;

template <> struct Quad<u8> {
  u32 word;
  __device__ inline void load(const u8 *p) { word = __ldg((const u32 *)p); }
  __device__ inline void set(const u8 *p, int n) {
    word = (u32)__ldg(p) | (n > 1 ? (u32)__ldg(p + 1) << 8 : 0) | (n > 2 ? (u32)__ldg(p + 2) << 16 : 0) |
           (n > 3 ? (u32)__ldg(p + 3) << 24 : 0);
  }
  // inner converts one of the two inner bytes, which would otherwise take three
  // instructions: shift, mask, convert. A byte below the exponent of 2^23 is the number
  // 2^23 + byte.
  __device__ static inline float inner(u32 word, u32 selector) {
    return __uint_as_float(__byte_perm(word, 0x4b000000u, selector)) - 0x1p23f;
  }
  __device__ inline float4 get() const {
    return make_float4((float)(word & 255), inner(word, 0x7551), inner(word, 0x7552), (float)(word >> 24));
  }
};

template <> struct Quad<half> {
  uint2 words;
  __device__ inline void load(const half *p) { words = __ldg((const uint2 *)p); }
  __device__ inline void set(const half *p, int n) {
    const unsigned short *b = (const unsigned short *)p;
    words.x = (u32)__ldg(b) | (n > 1 ? (u32)__ldg(b + 1) << 16 : 0);
    words.y = (n > 2 ? (u32)__ldg(b + 2) : 0) | (n > 3 ? (u32)__ldg(b + 3) << 16 : 0);
  }
  __device__ static inline float part(u32 v) {
    half h = {(unsigned short)v};
    return widen(h);
  }
  __device__ inline float4 get() const {
    return make_float4(part(words.x & 0xffff), part(words.x >> 16), part(words.y & 0xffff), part(words.y >> 16));
  }
};

template <> struct Quad<float> {
  float4 v;
  __device__ inline void load(const float *p) { v = __ldg((const float4 *)p); }
  __device__ inline void set(const float *p, int n) {
    v = make_float4(__ldg(p), n > 1 ? __ldg(p + 1) : 0, n > 2 ? __ldg(p + 2) : 0, n > 3 ? __ldg(p + 3) : 0);
  }
  __device__ inline float4 get() const { return v; }
};

// quads_aligned reports whether every row of the pool begins where a Quad may be loaded.
template <class T> __device__ inline bool quads_aligned(const PoolRows &pool) {
  return (((u64)pool.data | (u64)pool.stride * sizeof(T)) & (4 * sizeof(T) - 1)) == 0;
}

// warp_sum returns the sum over the lanes, in every lane, by a butterfly.
template <class T> __device__ inline T warp_sum(T v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL_WARP, v, o);
  return v;
}

// block_sum returns, in thread 0, the sum over a block of whole warps: butterflies,
// then the warps in order. All threads must call it; sums has an element per
// warp and may be used again after the next barrier.
__device__ inline double block_sum(double v, double *sums) {
  int t = threadIdx.x, warps = (blockDim.x + 31) / 32;
  v = warp_sum(v);
  if ((t & 31) == 0) sums[t >> 5] = v;
  __syncthreads();
  double total = 0;
  if (t == 0) {
    for (int w = 0; w < warps; w++) total += sums[w];
  }
  return total;
}

#endif
