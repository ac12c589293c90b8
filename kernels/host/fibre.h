// Fibres: stacks that one OS thread switches between.
#ifndef AMTRL_HOST_FIBRE_H
#define AMTRL_HOST_FIBRE_H

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define AMTRL_ASAN 1
#else
#define AMTRL_ASAN 0
#endif

namespace host {

struct Context {
  void *sp = nullptr;
  const void *bottom = nullptr; // of the stack, for AddressSanitizer
  std::size_t size = 0;
  void *fake = nullptr;
};

// prepare makes c start entry() on the stack [bottom, bottom + size) when it is
// first switched to. skew (a multiple of 64) lowers the first frame, so that the
// hot frames of many fibres do not share cache sets. The skew and the frame of an
// entry fit into 8192 bytes.
void prepare(Context &c, void *bottom, std::size_t size, std::size_t skew, void (*entry)());

// forget makes AddressSanitizer forget the frames that abandoned fibres left in a
// stack; prepare does so for the frame of an entry that left for good.
void forget(void *p, std::size_t size);

// change continues `to`; it returns when someone switches back to `from`.
void change(Context &from, Context &to);
// leave continues `to` for good: the stack of the caller is given up.
[[noreturn]] void leave(Context &from, Context &to);
// entered must be the first call of an entry. The first time, it records the bounds of
// the stack of origin, from which the entry was switched to.
void entered(Context &self, Context &origin);

} // namespace host

#endif
