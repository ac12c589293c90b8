// The block that is running, and its threads.
#ifndef AMTRL_PTX_THREAD_H
#define AMTRL_PTX_THREAD_H

#include <cstring>
#include <mutex>
#include <type_traits>

#include "../shape.h"
#include "program.h"

namespace ptx {

enum class State : uint8_t { ready, at_warp, at_block, done };

struct Thread {
  uint64_t *bits;  // of its slots
  uint8_t *known;  // whether a slot was written, by values that were written too
  const Instruction *at; // the next one, or the one at which it waits
  State state;
  unsigned number, lane, warp;
};

// Meeting is a warp operation that some lanes of its mask have reached.
struct Meeting {
  const Instruction *at;
  unsigned mask, arrived;
};

struct Warp {
  unsigned lanes; // bits of the lanes that exist
  uint64_t since; // the clock when it was last synchronised
  Meeting meetings[32];
  unsigned meeting_count;
};

// Block is the block that is running. Its clock advances by one when threads are synchronised, and is never reset.
struct Block {
  const Kernel *kernel;
  const unsigned char *params;
  unsigned index[3];
  uint64_t clock = 1, start, since; // now, when the block began, when all threads were last synchronised
  uint32_t launch, stamp; // number of the launch, and that of the block, which is greater
  Thread threads[host::max_threads];
  Warp warps[host::max_warps];
  unsigned count, warp_count, at_barrier, done;
  const Instruction *barrier; // the one at which threads wait
};
extern Block block;
extern std::mutex serial; // held during a launch, and while memory is added or removed

// stop ends the launch: it throws the message as a std::string.
[[noreturn]] void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
// fail is stop with the thread and the place of the instruction before the message.
[[noreturn]] void fail(const Thread &t, const Instruction &i, const char *format, ...) __attribute__((format(printf, 3, 4)));
// where returns the place of an instruction in the source, and its text.
std::string where(const Instruction &i);
// start_shared prepares shared memory for a block; start_global forgets, before a launch, which memory instructions accessed.
void start_shared(size_t bytes);
void start_global();

template <class T> T get(const Thread &t, unsigned slot) {
  T v;
  memcpy(&v, &t.bits[slot], sizeof v);
  return v;
}

// set writes to a slot, and extends an integer to the whole slot so that it can be read as any type.
template <class T> void set(Thread &t, unsigned slot, T v, bool known) {
  if constexpr (std::is_signed<T>::value && std::is_integral<T>::value) {
    t.bits[slot] = uint64_t(int64_t(v));
  } else {
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    t.bits[slot] = bits;
  }
  t.known[slot] = known;
}

// known reports whether operands 1 to n have values.
template <unsigned n> bool known(const Thread &t, const Instruction &i) {
  uint8_t all = 1;
  for (unsigned k = 1; k <= n; k++) all &= t.known[i.slot[k]];
  return all;
}

// need ends the launch if an operand was never given a value. It is for operands on which a branch or a result depends.
inline void need(const Thread &t, const Instruction &i, unsigned operand) {
  if (!t.known[i.slot[operand]]) fail(t, i, "uses a value that nobody wrote");
}

// COMPUTE1 to COMPUTE3 define an operation on 1 to 3 operands, a, b and c, of one type.
#define COMPUTE1(key, Result, Type, expression) \
  all[key] = {[](Thread &t, const Instruction &i) -> const Instruction * { \
                const Type a = get<Type>(t, i.slot[1]); \
                set<Result>(t, i.slot[0], Result(expression), known<1>(t, i)); \
                return &i + 1; \
              }, 2}
#define COMPUTE2(key, Result, Type, expression) \
  all[key] = {[](Thread &t, const Instruction &i) -> const Instruction * { \
                const Type a = get<Type>(t, i.slot[1]), b = get<Type>(t, i.slot[2]); \
                set<Result>(t, i.slot[0], Result(expression), known<2>(t, i)); \
                return &i + 1; \
              }, 3}
#define COMPUTE3(key, Result, Type, expression) \
  all[key] = {[](Thread &t, const Instruction &i) -> const Instruction * { \
                const Type a = get<Type>(t, i.slot[1]), b = get<Type>(t, i.slot[2]), c = get<Type>(t, i.slot[3]); \
                set<Result>(t, i.slot[0], Result(expression), known<3>(t, i)); \
                return &i + 1; \
              }, 4}

} // namespace ptx

#endif
