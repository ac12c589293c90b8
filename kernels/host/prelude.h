// The part of CUDA C++ that the kernels use, for g++. It is included before each
// .cu by -include.
#ifndef AMTRL_HOST_PRELUDE_H
#define AMTRL_HOST_PRELUDE_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "host.h"

#define AMTRL_ON_HOST 1

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
// The static shared memory of each unit, named by -DAMTRL_UNIT, lies in a section of
// its own, which is poisoned before each block of its kernels.
#define AMTRL_JOIN(a, b) AMTRL_JOIN2(a, b)
#define AMTRL_JOIN2(a, b) a##b
#define AMTRL_TEXT(a) AMTRL_TEXT2(a)
#define AMTRL_TEXT2(a) #a
#define __shared__ static __attribute__((section(AMTRL_TEXT(AMTRL_JOIN(amtrl_shared_, AMTRL_UNIT))), used))
#define AMTRL_SHARED AMTRL_JOIN(__start_amtrl_shared_, AMTRL_UNIT)
#define AMTRL_SHARED_END AMTRL_JOIN(__stop_amtrl_shared_, AMTRL_UNIT)
extern "C" {
// Both are null if the unit has no static shared memory.
extern char AMTRL_SHARED[] __attribute__((weak, visibility("hidden")));
extern char AMTRL_SHARED_END[] __attribute__((weak, visibility("hidden")));
}
#define DYNAMIC_SHARED(type, name) type *name = static_cast<type *>(host::dynamic_shared())

// Vector types with CUDA's sizes and alignments.
#define AMTRL_VECTOR_TYPES(type, name, align2, align4) \
  struct alignas(align2) name##2 { type x, y; }; \
  struct name##3 { type x, y, z; }; \
  struct alignas(align4) name##4 { type x, y, z, w; }; \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
AMTRL_VECTOR_TYPES(unsigned int, uint, 8, 16)
AMTRL_VECTOR_TYPES(float, float, 8, 16)
AMTRL_VECTOR_TYPES(double, double, 16, 16)
#undef AMTRL_VECTOR_TYPES

struct dim3 { unsigned int x, y, z; };

namespace host {

// Thread is what a kernel sees of its thread.
struct Thread {
  uint3 index;
  unsigned lane, warp;
};

extern Thread *current;
extern uint3 block_index;
extern dim3 block_size, grid_size;

void *dynamic_shared();
void sync_block(const char *file, int line);
// exchange passes the value of this lane to the warp, and returns the values of all 32
// lanes once every lane has come to the same place.
const uint64_t *exchange(unsigned mask, uint64_t value, const char *file, int line);
[[noreturn]] void fail_at(const char *file, int line, const char *what);

template <class T> uint64_t pack(T v) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "");
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}
template <class T> T unpack(uint64_t bits) {
  T v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

inline unsigned lane_bit(unsigned i) { return 1u << (i & 31); }

// Entry describes a kernel to the launcher.
struct Entry {
  const char *name, *file;
  unsigned block;
  size_t params;
  const size_t *offsets, *sizes;
  size_t packed;
  void (*call)(void *const *args);
  char *shared, *shared_end;
};
bool enlist(const Entry *e);

template <auto Kernel> struct Invoke;
template <class... A, void (*Kernel)(A...)> struct Invoke<Kernel> {
  static_assert((std::is_trivially_copyable<A>::value && ...), "a kernel's parameters are plain values");
  static constexpr size_t count = sizeof...(A);
  struct Layout {
    size_t offset[count + 1] = {}, size[count + 1] = {}, total = 0;
    constexpr Layout() {
      size_t i = 0;
      ((total = (total + alignof(A) - 1) / alignof(A) * alignof(A), offset[i] = total, size[i] = sizeof(A),
        total += sizeof(A), i++),
       ...);
    }
  };
  static constexpr Layout layout{};
  template <size_t... I> static void apply(void *const *args, std::index_sequence<I...>) {
    (void)args;
    Kernel(read<A>(args[I])...);
  }
  template <class T> static T read(const void *p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void call(void *const *args) { apply(args, std::index_sequence_for<A...>{}); }
};

} // namespace host

// REGISTER_KERNEL makes a kernel known to host_kernel_find.
#define REGISTER_KERNEL(name, block) \
  static const host::Entry amtrl_entry_##name = { \
      #name, __FILE__, block, host::Invoke<&name>::count, host::Invoke<&name>::layout.offset, \
      host::Invoke<&name>::layout.size, host::Invoke<&name>::layout.total, &host::Invoke<&name>::call, \
      AMTRL_SHARED, AMTRL_SHARED_END}; \
  [[maybe_unused]] static const bool amtrl_enlisted_##name = host::enlist(&amtrl_entry_##name);

#define threadIdx (host::current->index)
#define blockIdx (host::block_index)
#define blockDim (host::block_size)
#define gridDim (host::grid_size)

#define AMTRL_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(AMTRL_HERE) { host::sync_block(file, line); }
inline void __syncwarp(unsigned mask = ~0u, AMTRL_HERE) { host::exchange(mask, 0, file, line); }

// As in CUDA, width is the number of lanes in a group.
template <class T> T __shfl_sync(unsigned mask, T v, int src, int width = 32, AMTRL_HERE) {
  unsigned base = host::current->lane & ~unsigned(width - 1);
  return host::unpack<T>(host::exchange(mask, host::pack(v), file, line)[base | (unsigned(src) & unsigned(width - 1))]);
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int flip, int width = 32, AMTRL_HERE) {
  unsigned lane = host::current->lane, from = lane ^ unsigned(flip);
  if (from / unsigned(width) > lane / unsigned(width)) from = lane;
  return host::unpack<T>(host::exchange(mask, host::pack(v), file, line)[from & 31]);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, AMTRL_HERE) {
  const uint64_t *all = host::exchange(mask, predicate != 0, file, line);
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; i++) {
    if (mask & host::lane_bit(i)) bits |= unsigned(all[i] & 1) << i;
  }
  return bits;
}

#undef AMTRL_HERE

template <class T> T __ldg(const T *p) { return *p; }

inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// No atomic instruction is needed: the fibres of a launch never run at the same time.
template <class T> T atomicMin(T *p, T v) {
  static_assert(std::is_integral<T>::value, "atomics are on integers: sums of floats would depend on the order");
  T old = *p;
  if (v < old) *p = v;
  return old;
}

inline float __uint_as_float(unsigned v) { return host::unpack<float>(v); }
inline unsigned __float_as_uint(float v) { return unsigned(host::pack(v)); }
// Byte i of the result is byte (selector >> 4 i & 7) of the eight bytes of x and then y, lowest first.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  uint64_t both = uint64_t(y) << 32 | x;
  unsigned v = 0;
  for (unsigned i = 0; i < 4; i++) v |= unsigned(both >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
  return v;
}
inline int __ffs(int v) { return __builtin_ffs(v); }

template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }
using std::isfinite;
using std::isinf;

#endif
