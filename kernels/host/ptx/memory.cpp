// Accesses to memory, and the checks that they are within allocations, aligned, and ordered with those of other threads.
#include <cstdlib>
#include <map>

#include "thread.h"

namespace ptx {

// A Stamp identifies an access: 34 bits of the clock, 20 of the instruction, 10 of the thread.
using Stamp = uint64_t;

// Word records a block's accesses to four bytes: the last write, and reads by two threads since.
struct Word {
  Stamp write, read[2];
};

// Allocation is a range of global memory. For each byte it records the block that wrote it last and the block that read it.
struct Allocation {
  uintptr_t begin;
  size_t size;
  uint32_t *writer, *reader;
  Word *words;
};

namespace {

std::map<uintptr_t, Allocation> allocations; // by address

struct {
  std::vector<unsigned char> bytes;
  std::vector<bool> inside; // whether the byte is part of a variable
  std::vector<Word> words;
} shared;

Stamp stamp(const Thread &t, const Instruction &i) {
  return block.clock << 30 | uint64_t(&i - block.kernel->code.data()) << 10 | t.number;
}
uint64_t clock_of(Stamp s) { return s >> 30; }
unsigned thread_of(Stamp s) { return s & 1023; }
const Instruction &instruction_of(Stamp s) { return block.kernel->code[s >> 10 & 0xfffff]; }

// ordered reports whether an access comes before everything that t does now, in whatever order threads run.
bool ordered(Stamp s, const Thread &t) {
  return clock_of(s) < block.since || thread_of(s) == t.number ||
         (thread_of(s) / 32 == t.warp && clock_of(s) < block.warps[t.warp].since);
}

[[noreturn]] void race(const Thread &t, const Instruction &i, const char *does, Stamp other, const char *did) {
  fail(t, i, "%s what thread %u %s, with no barrier between, in %s", does, thread_of(other), did,
       where(instruction_of(other)).c_str());
}

void note_read(const Thread &t, const Instruction &i, Word &w) {
  if (!ordered(w.write, t)) race(t, i, "reads", w.write, "wrote");
  // The two reads that are kept are by different warps if possible.
  Stamp now = stamp(t, i);
  if (thread_of(w.read[0]) == t.number || ordered(w.read[0], t)) {
    w.read[0] = now;
  } else if (thread_of(w.read[1]) == t.number || ordered(w.read[1], t) || thread_of(w.read[1]) / 32 == thread_of(w.read[0]) / 32) {
    w.read[1] = now;
  }
}

void note_write(const Thread &t, const Instruction &i, Word &w) {
  if (!ordered(w.write, t)) race(t, i, "writes", w.write, "wrote");
  for (Stamp s : w.read) {
    if (!ordered(s, t)) race(t, i, "writes", s, "read");
  }
  w.write = stamp(t, i);
}

// in_shared returns the bytes at an address of shared memory, and records the access. For a read of bytes that the block
// has not all written, it sets written to false.
unsigned char *in_shared(Thread &t, const Instruction &i, uint64_t address, unsigned size, bool write, bool &written) {
  if (address % size != 0) fail(t, i, "accesses %u bytes at %#llx of shared memory", size, (unsigned long long)address);
  if (address >= shared.bytes.size() || !shared.inside[address] || !shared.inside[address + size - 1]) {
    fail(t, i, "accesses shared memory beyond a variable, at %#llx", (unsigned long long)address);
  }
  if (size < 4) fail(t, i, "accesses less than a word of shared memory, which is not supported");
  for (uint64_t k = address / 4; k < (address + size) / 4; k++) {
    Word &w = shared.words[k];
    if (write) {
      note_write(t, i, w);
    } else {
      if (clock_of(w.write) < block.start) written = false;
      note_read(t, i, w);
    }
  }
  return &shared.bytes[address];
}

Allocation &find(const Thread &t, const Instruction &i, uint64_t address, unsigned size) {
  if (i.home != nullptr && address >= i.home->begin && address + size <= i.home->begin + i.home->size) return *i.home;
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) fail(t, i, "accesses no memory, at %#llx", (unsigned long long)address);
  Allocation &a = std::prev(next)->second;
  if (address + size > a.begin + a.size) {
    fail(t, i, "accesses %u bytes at byte %llu of a buffer of %zu", size, (unsigned long long)(address - a.begin), a.size);
  }
  i.home = &a;
  return a;
}

// in_global does the same for global memory, except for written. The blocks of a launch have no order, so that none may
// access what another writes. Within a block only accesses of whole words are checked. Atomic operations need no order.
enum class Access { read, read_only, write, atomic };
unsigned char *in_global(Thread &t, const Instruction &i, uint64_t address, unsigned size, Access access) {
  if (address % size != 0) fail(t, i, "accesses %u bytes at %#llx", size, (unsigned long long)address);
  Allocation &a = find(t, i, address, size);
  for (size_t k = address - a.begin; k < address - a.begin + size; k++) {
    uint32_t &writer = a.writer[k], &reader = a.reader[k];
    bool foreign = writer >= block.launch && writer != block.stamp;
    switch (access) {
    case Access::read_only:
      if (writer >= block.launch) fail(t, i, "reads by the read-only path what this launch wrote");
      [[fallthrough]];
    case Access::read:
      if (foreign) fail(t, i, "reads what block %u of the launch wrote", writer - block.launch - 1);
      // The number of the launch stands for reads by several blocks.
      if (reader != block.stamp) reader = reader >= block.launch ? block.launch : block.stamp;
      break;
    case Access::write:
      if (foreign) fail(t, i, "writes what block %u of the launch wrote", writer - block.launch - 1);
      if (reader >= block.launch && reader != block.stamp) fail(t, i, "writes what another block of the launch read");
      writer = block.stamp;
      break;
    case Access::atomic:
      break;
    }
  }
  for (size_t k = (address - a.begin) / 4; size >= 4 && access != Access::atomic && k < (address - a.begin + size) / 4; k++) {
    if (access == Access::write) {
      note_write(t, i, a.words[k]);
    } else {
      note_read(t, i, a.words[k]);
    }
  }
  return reinterpret_cast<unsigned char *>(address);
}

enum class Space { generic, global, shared, read_only };

template <Space space> unsigned char *reach(Thread &t, const Instruction &i, unsigned base, unsigned size, bool write, bool &written) {
  need(t, i, base);
  if (space == Space::shared) return in_shared(t, i, uint32_t(get<uint32_t>(t, i.slot[base]) + i.offset), size, write, written);
  uint64_t address = get<uint64_t>(t, i.slot[base]) + uint64_t(i.offset);
  if (space == Space::generic && address >= shared_window) return in_shared(t, i, address - shared_window, size, write, written);
  return in_global(t, i, address, size, write ? Access::write : space == Space::read_only ? Access::read_only : Access::read);
}

template <class T, Space space> const Instruction *load(Thread &t, const Instruction &i) {
  bool written = true;
  const unsigned char *from = reach<space>(t, i, i.count, sizeof(T) * i.count, false, written);
  for (unsigned k = 0; k < i.count; k++) {
    T v;
    memcpy(&v, from + k * sizeof v, sizeof v);
    set<T>(t, i.slot[k], v, written);
  }
  return &i + 1;
}

template <class T, Space space> const Instruction *store(Thread &t, const Instruction &i) {
  bool written;
  for (unsigned k = 1; k <= i.count; k++) need(t, i, k);
  unsigned char *to = reach<space>(t, i, 0, sizeof(T) * i.count, true, written);
  for (unsigned k = 0; k < i.count; k++) {
    T v = get<T>(t, i.slot[k + 1]);
    memcpy(to + k * sizeof v, &v, sizeof v);
  }
  return &i + 1;
}

template <class T> const Instruction *load_parameter(Thread &t, const Instruction &i) {
  size_t at = size_t(get<uint64_t>(t, i.slot[1]) + uint64_t(i.offset));
  if (at % sizeof(T) != 0 || at + sizeof(T) > block.kernel->packed) fail(t, i, "reads beyond the parameters");
  T v;
  memcpy(&v, block.params + at, sizeof v);
  set<T>(t, i.slot[0], v, true);
  return &i + 1;
}

template <class T> void typed(Operations &all, const std::string &type) {
  for (unsigned count : {1, 2, 4}) {
    if (count * sizeof(T) > red_zone) continue;
    std::string as = (count == 1 ? "" : ".v" + std::to_string(count)) + type;
    for (const char *kind : {"", ".volatile"}) {
      all["ld" + (kind + as)] = {load<T, Space::generic>, count + 1, count};
      all["st" + (kind + as)] = {store<T, Space::generic>, count + 1, count};
      all["ld" + (kind + (".global" + as))] = {load<T, Space::global>, count + 1, count};
      all["st" + (kind + (".global" + as))] = {store<T, Space::global>, count + 1, count};
      all["ld" + (kind + (".shared" + as))] = {load<T, Space::shared>, count + 1, count};
      all["st" + (kind + (".shared" + as))] = {store<T, Space::shared>, count + 1, count};
    }
    all["ld.global.nc" + as] = {load<T, Space::read_only>, count + 1, count};
  }
  all["ld.param" + type] = {load_parameter<T>, 2};
}

const Instruction *atomic_min(Thread &t, const Instruction &i) {
  need(t, i, 1);
  need(t, i, 2);
  unsigned char *at = in_global(t, i, get<uint64_t>(t, i.slot[1]) + uint64_t(i.offset), 8, Access::atomic);
  uint64_t old, v = get<uint64_t>(t, i.slot[2]);
  memcpy(&old, at, sizeof old);
  if (v < old) memcpy(at, &v, sizeof v);
  set(t, i.slot[0], old, true);
  return &i + 1;
}

} // namespace

void start_shared(size_t bytes) {
  shared.bytes.assign(bytes, 0xff);
  if (shared.words.size() * 4 < bytes) shared.words.resize((bytes + 3) / 4);
  shared.inside.assign(bytes + red_zone, false);
  for (const Variable &v : block.kernel->shared) {
    size_t end = v.size == 0 ? bytes - red_zone : v.at + v.size; // 0: the dynamic part
    for (size_t k = v.at; k < end; k++) shared.inside[k] = true;
  }
}

void start_global() {
  for (const Instruction &i : block.kernel->code) i.home = nullptr;
}

void add_memory(Operations &all) {
  for (const char *kind : {".b", ".u"}) {
    typed<uint8_t>(all, kind + std::string("8"));
    typed<uint16_t>(all, kind + std::string("16"));
    typed<uint32_t>(all, kind + std::string("32"));
    typed<uint64_t>(all, kind + std::string("64"));
  }
  typed<int8_t>(all, ".s8");
  typed<int16_t>(all, ".s16");
  typed<int32_t>(all, ".s32");
  typed<int64_t>(all, ".s64");
  typed<float>(all, ".f32");
  typed<double>(all, ".f64");
  all["atom.global.min.u64"] = all["atom.relaxed.gpu.global.min.u64"] = {atomic_min, 3};
  all["membar.sys"] = all["fence.acq_rel.sys"] = {[](Thread &, const Instruction &i) { return &i + 1; }, 0};
}

} // namespace ptx

// shadow returns zeros, which take no memory before they are written to.
template <class T> static T *shadow(size_t n) { return static_cast<T *>(calloc(n + 1, sizeof(T))); }

extern "C" void host_memory(void *p, size_t size) {
  std::lock_guard<std::mutex> lock(ptx::serial);
  uintptr_t begin = reinterpret_cast<uintptr_t>(p);
  ptx::allocations[begin] = {begin, size, shadow<uint32_t>(size), shadow<uint32_t>(size), shadow<ptx::Word>(size / 4)};
}

extern "C" void host_memory_ends(void *p) {
  std::lock_guard<std::mutex> lock(ptx::serial);
  auto a = ptx::allocations.find(reinterpret_cast<uintptr_t>(p));
  if (a == ptx::allocations.end()) return;
  free(a->second.writer);
  free(a->second.reader);
  free(a->second.words);
  ptx::allocations.erase(a);
}
