#include "shape.h"

#include <cstdarg>
#include <cstdio>

namespace host {

namespace {

constexpr size_t max_dynamic = 99 << 10; // bytes: the smallest opt-in maximum, that of sm_86 and sm_120

uint64_t gcd(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

} // namespace

int refuse(char *error, size_t capacity, int code, const char *format, ...) {
  if (error != nullptr) {
    va_list list;
    va_start(list, format);
    vsnprintf(error, capacity, format, list);
    va_end(list);
  }
  return code;
}

int check_shape(const char *kernel, unsigned block, const host_shape &shape, char *error, size_t capacity) {
  const unsigned *g = shape.grid, *b = shape.block;
  uint64_t threads = uint64_t(b[0]) * b[1] * b[2], blocks = uint64_t(g[0]) * g[1] * g[2];
  if (blocks == 0 || g[0] > 0x7fffffffu || g[1] > 65535 || g[2] > 65535) {
    return refuse(error, capacity, HOST_BAD_SHAPE, "%s: a grid of (%u, %u, %u)", kernel, g[0], g[1], g[2]);
  }
  if (threads == 0 || b[0] > max_threads || b[1] > max_threads || b[2] > 64 || threads > block) {
    return refuse(error, capacity, HOST_BAD_SHAPE, "%s: a block of (%u, %u, %u), at most %u threads are expected", kernel,
                  b[0], b[1], b[2], block);
  }
  if (shape.shared > max_dynamic) {
    return refuse(error, capacity, HOST_BAD_SHAPE, "%s: %zu bytes of dynamic shared memory, more than %zu", kernel,
                  shape.shared, max_dynamic);
  }
  return HOST_OK;
}

uint64_t mix(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Order::Order(uint64_t &state, uint64_t blocks) : blocks(blocks) {
  if (state == 0) return;
  // Block number i is (i * step + start) mod blocks.
  do step = mix(state) % blocks | 1;
  while (gcd(step, blocks) != 1);
  start = mix(state) % blocks;
}

} // namespace host
