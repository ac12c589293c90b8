// The check of a launch's shape, and the order in which blocks run.
#ifndef AMTRL_HOST_SHAPE_H
#define AMTRL_HOST_SHAPE_H

#include "host.h"

namespace host {

// Limits of every device of compute capability 8.0 and later.
constexpr unsigned max_threads = 1024, max_warps = max_threads / 32;

// refuse writes a message and returns the code.
int refuse(char *error, size_t capacity, int code, const char *format, ...) __attribute__((format(printf, 4, 5)));

// check_shape returns HOST_OK if every device can launch the kernel in that shape; block is the kernel's largest number of
// threads per block. Otherwise it writes a message and returns HOST_BAD_SHAPE.
int check_shape(const char *kernel, unsigned block, const host_shape &shape, char *error, size_t capacity);

// mix returns the next number of splitmix64.
uint64_t mix(uint64_t &state);

// Order is a permutation of the block numbers, drawn from state, or ascending if state is 0.
class Order {
public:
  Order(uint64_t &state, uint64_t blocks);
  uint64_t at(uint64_t i) const { return uint64_t((unsigned __int128)(i) * step % blocks + start) % blocks; }

private:
  uint64_t blocks, step = 1, start = 0;
};

} // namespace host

#endif
