// What every device refuses, and the order in which blocks run.
#ifndef AMTRL_HOST_SHAPE_H
#define AMTRL_HOST_SHAPE_H

#include "host.h"

namespace host {

// Limits of every device of compute capability 8.0 and later.
constexpr unsigned max_threads = 1024, max_warps = max_threads / 32;

// refuse writes a message and returns the code.
int refuse(char *error, size_t capacity, int code, const char *format, ...) __attribute__((format(printf, 4, 5)));

// check_shape returns HOST_OK where a device can launch the kernel, of at most so many threads per block, in that shape.
int check_shape(const char *kernel, unsigned block, const host_shape &shape, char *error, size_t capacity);

// mix is splitmix64.
uint64_t mix(uint64_t &state);

// Order is a permutation of so many blocks, drawn from state; ascending where that is 0.
class Order {
public:
  Order(uint64_t &state, uint64_t blocks);
  uint64_t at(uint64_t i) const { return uint64_t((unsigned __int128)(i) * step % blocks + start) % blocks; }

private:
  uint64_t blocks, step = 1, start = 0;
};

} // namespace host

#endif
