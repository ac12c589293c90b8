// The registry of kernels, and the running of their blocks.
#include <sys/mman.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "fibre.h"
#include "prelude.h"
#include "shape.h"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

namespace host {

Thread *current;
uint3 block_index;
dim3 block_size, grid_size;

namespace {

constexpr size_t stack_size = AMTRL_ASAN ? 256 << 10 : 64 << 10;

struct Place {
  const char *file;
  int line;
  bool is(const char *f, int l) const { return line == l && (file == f || strcmp(file, f) == 0); }
};

enum class State : unsigned char { ready, at_warp, at_block, done };

struct Fibre : Thread {
  Context context;
  State state;
  Place place; // where it waits
};

struct Warp {
  unsigned lanes;   // bits of the lanes that exist
  unsigned ready;   // bits of the lanes that may run
  unsigned arrived; // bits of the lanes at the operation in progress
  unsigned turn;    // which of the two sets of values that operation writes
  Place place;
  uint64_t values[2][32];
};

struct Run {
  const Entry *kernel;
  void *const *args;
  Fibre threads[max_threads];
  Warp warps[max_warps];
  unsigned count, warp_count, at_block, done;
  Place block_place;
  bool backwards; // the direction in which the next lane is sought
  Context origin;
  char *stacks;
  char *dynamic;
  size_t dynamic_size;
  bool failed;
  char message[1024];
};

Run run;
std::mutex serial;

std::vector<const Entry *> &entries() {
  static std::vector<const Entry *> all;
  return all;
}

const char *base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// stop ends the launch from within a fibre.
[[noreturn]] void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void stop(const char *format, ...) {
  int n = snprintf(run.message, sizeof run.message, "%s: block (%u, %u, %u): ", run.kernel->name, block_index.x,
                   block_index.y, block_index.z);
  va_list list;
  va_start(list, format);
  vsnprintf(run.message + n, sizeof run.message - size_t(n), format, list);
  va_end(list);
  run.failed = true;
  leave(static_cast<Fibre *>(current)->context, run.origin);
}

unsigned number(const Fibre &f) { return unsigned(&f - run.threads); }

// stuck ends the launch, and names a thread that waits and one that does not join it.
[[noreturn]] void stuck() {
  const Fibre *waits = nullptr, *other = nullptr;
  for (unsigned i = 0; i < run.count; i++) {
    const Fibre &f = run.threads[i];
    if (f.state == State::at_warp) {
      waits = &f;
      break;
    }
    if (f.state == State::at_block && waits == nullptr) waits = &f;
  }
  bool warp = waits->state == State::at_warp;
  for (unsigned i = 0; i < run.count && other == nullptr; i++) {
    const Fibre &f = run.threads[i];
    if (f.state != waits->state && (!warp || f.warp == waits->warp)) other = &f;
  }
  const char *what = warp ? "a warp operation" : "__syncthreads";
  if (other == nullptr || other->state == State::done) {
    stop("thread %u waits at %s in %s:%d, thread %u has ended", number(*waits), what, base(waits->place.file),
         waits->place.line, other == nullptr ? 0 : number(*other));
  }
  stop("thread %u waits at %s in %s:%d, thread %u in %s:%d", number(*waits), what, base(waits->place.file),
       waits->place.line, number(*other), base(other->place.file), other->place.line);
}

// next returns a thread that may run, the nearest in the warp if possible, or nullptr.
Fibre *next(unsigned warp, unsigned lane) {
  unsigned ready = run.warps[warp].ready;
  if (ready != 0) {
    if (run.backwards) {
      unsigned below = ready & (lane_bit(lane) - 1);
      lane = 31 - unsigned(__builtin_clz(below != 0 ? below : ready));
    } else {
      unsigned above = lane == 31 ? 0 : ready & (~0u << (lane + 1));
      lane = unsigned(__builtin_ctz(above != 0 ? above : ready));
    }
    return &run.threads[warp * 32 + lane];
  }
  for (unsigned i = 1; i < run.warp_count; i++) {
    unsigned w = (run.backwards ? warp + run.warp_count - i : warp + i) % run.warp_count;
    ready = run.warps[w].ready;
    if (ready == 0) continue;
    lane = unsigned(run.backwards ? 31 - __builtin_clz(ready) : __builtin_ctz(ready));
    return &run.threads[w * 32 + lane];
  }
  return nullptr;
}

// wait runs other threads until the current one is ready again.
void wait(Fibre &self, State state, Place place) {
  self.state = state;
  self.place = place;
  run.warps[self.warp].ready &= ~lane_bit(self.lane);
  Fibre *to = next(self.warp, self.lane);
  if (to == nullptr) stuck();
  current = to;
  change(self.context, to->context);
}

void entry() {
  Fibre &self = *static_cast<Fibre *>(current);
  entered(self.context, run.origin);
  run.kernel->call(run.args);
  self.state = State::done;
  run.warps[self.warp].ready &= ~lane_bit(self.lane);
  run.done++;
  Fibre *to = next(self.warp, self.lane);
  if (to != nullptr) {
    current = to;
    leave(self.context, to->context);
  }
  if (run.done < run.count) stuck();
  leave(self.context, run.origin);
}

// poison fills memory with NaN bits. AddressSanitizer allows no memset over its red
// zones, which lie between the variables of the section.
#if AMTRL_ASAN
__attribute__((no_sanitize_address)) void poison(char *p, size_t n) {
  volatile unsigned char *bytes = reinterpret_cast<volatile unsigned char *>(p);
  size_t i = 0;
  for (; i + 8 <= n && (reinterpret_cast<uintptr_t>(bytes + i) & 7) == 0; i += 8) {
    *reinterpret_cast<volatile uint64_t *>(bytes + i) = ~uint64_t(0);
  }
  for (; i < n; i++) bytes[i] = 0xff;
}
#else
void poison(char *p, size_t n) {
  if (n > 0) memset(p, 0xff, n);
}
#endif

void run_block(uint64_t order) {
  poison(run.dynamic, run.dynamic_size);
  poison(run.kernel->shared, size_t(run.kernel->shared_end - run.kernel->shared));
  run.at_block = run.done = 0;
  for (unsigned w = 0; w < run.warp_count; w++) {
    Warp &warp = run.warps[w];
    unsigned lanes = run.count - w * 32;
    warp.lanes = warp.ready = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    warp.arrived = warp.turn = 0;
  }
  for (unsigned i = 0; i < run.count; i++) {
    Fibre &f = run.threads[i];
    f.state = State::ready;
    prepare(f.context, run.stacks + i * stack_size, stack_size, 64 + i % 16 * 256, entry);
  }
  run.backwards = order >> 63;
  Fibre *first = &run.threads[order == 0 ? 0 : order % run.count];
  current = first;
  change(run.origin, first->context);
}

} // namespace

bool enlist(const Entry *e) {
  entries().push_back(e);
  return true;
}

void *dynamic_shared() { return run.dynamic; }

void sync_block(const char *file, int line) {
  Fibre &self = *static_cast<Fibre *>(current);
  if (run.at_block++ == 0) run.block_place = {file, line};
  if (!run.block_place.is(file, line)) {
    stop("thread %u comes to __syncthreads in %s:%d, others wait at that in %s:%d", number(self), base(file), line,
         base(run.block_place.file), run.block_place.line);
  }
  if (run.at_block < run.count) {
    wait(self, State::at_block, {file, line});
    return;
  }
  run.at_block = 0;
  for (unsigned i = 0; i < run.count; i++) run.threads[i].state = State::ready;
  for (unsigned w = 0; w < run.warp_count; w++) run.warps[w].ready = run.warps[w].lanes;
}

const uint64_t *exchange(unsigned mask, uint64_t value, const char *file, int line) {
  Fibre &self = *static_cast<Fibre *>(current);
  Warp &warp = run.warps[self.warp];
  if ((mask & warp.lanes) != warp.lanes) {
    stop("thread %u: the mask of the warp operation in %s:%d is %#x; only whole warps are supported", number(self),
         base(file), line, mask);
  }
  if (warp.arrived == 0) warp.place = {file, line};
  if (!warp.place.is(file, line)) {
    stop("thread %u comes to the warp operation in %s:%d, others of its warp wait at that in %s:%d", number(self),
         base(file), line, base(warp.place.file), warp.place.line);
  }
  uint64_t *values = warp.values[warp.turn];
  values[self.lane] = value;
  warp.arrived |= lane_bit(self.lane);
  if (warp.arrived != warp.lanes) {
    wait(self, State::at_warp, {file, line});
    return values;
  }
  warp.arrived = 0;
  warp.turn ^= 1;
  warp.ready = warp.lanes;
  for (unsigned i = 0; i < 32; i++) {
    if (warp.lanes & lane_bit(i)) run.threads[self.warp * 32 + i].state = State::ready;
  }
  return values;
}

void fail_at(const char *file, int line, const char *what) {
  stop("thread %u: %s in %s:%d", number(*static_cast<Fibre *>(current)), what, base(file), line);
}

} // namespace host

using namespace host;

// The handle that callers hold is the address of an Entry.
static const host_kernel *handle(const Entry *e) { return reinterpret_cast<const host_kernel *>(e); }
static const Entry *of(const host_kernel *k) { return reinterpret_cast<const Entry *>(k); }

extern "C" {

void host_memory(void *, size_t) {}
void host_memory_ends(void *) {}

const host_kernel *host_kernel_find(const char *name) {
  for (const Entry *e : entries()) {
    if (strcmp(e->name, name) == 0) return handle(e);
  }
  return nullptr;
}

size_t host_kernel_count(void) { return entries().size(); }
const host_kernel *host_kernel_at(size_t i) { return handle(entries().at(i)); }
const char *host_kernel_name(const host_kernel *k) { return of(k)->name; }
const char *host_kernel_file(const host_kernel *k) { return base(of(k)->file); }
unsigned host_kernel_block(const host_kernel *k) { return of(k)->block; }
size_t host_kernel_packed_size(const host_kernel *k) { return of(k)->packed; }

size_t host_kernel_params(const host_kernel *k, const size_t **offsets, const size_t **sizes) {
  if (offsets != nullptr) *offsets = of(k)->offsets;
  if (sizes != nullptr) *sizes = of(k)->sizes;
  return of(k)->params;
}

int host_kernel_launch(const host_kernel *handle, const host_shape *shape, void *const *args, char *error,
                       size_t capacity) {
  const Entry *k = of(handle);
  const unsigned *g = shape->grid, *b = shape->block;
  if (int code = check_shape(k->name, k->block, *shape, error, capacity)) return code;

  std::lock_guard<std::mutex> lock(serial);
  if (run.stacks == nullptr) {
    void *p = mmap(nullptr, max_threads * stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return refuse(error, capacity, HOST_FAILED, "%s: no memory for the stacks of fibres", k->name);
    run.stacks = static_cast<char *>(p);
  }
  if (run.failed) forget(run.stacks, max_threads * stack_size);
  run.kernel = k;
  run.args = args;
  run.count = b[0] * b[1] * b[2];
  run.warp_count = (run.count + 31) / 32;
  run.dynamic_size = shape->shared;
  run.dynamic = static_cast<char *>(malloc(shape->shared + (shape->shared == 0)));
  run.failed = false;
  run.origin = Context{};
  block_size = {b[0], b[1], b[2]};
  grid_size = {g[0], g[1], g[2]};
  for (unsigned i = 0; i < run.count; i++) {
    Fibre &f = run.threads[i];
    f.index = {i % b[0], i / b[0] % b[1], i / b[0] / b[1]};
    f.lane = i % 32;
    f.warp = i / 32;
  }

  uint64_t state = shape->order, blocks = uint64_t(g[0]) * g[1] * g[2];
  const Order order(state, blocks);
  for (uint64_t i = 0; i < blocks && !run.failed; i++) {
    uint64_t n = order.at(i);
    block_index = {unsigned(n % g[0]), unsigned(n / g[0] % g[1]), unsigned(n / g[0] / g[1])};
    run_block(shape->order == 0 ? 0 : mix(state));
  }
  free(run.dynamic);
  run.dynamic = nullptr;
  current = nullptr;
  if (run.failed) return refuse(error, capacity, HOST_FAILED, "%s", run.message);
  return HOST_OK;
}

int host_kernel_launch_packed(const host_kernel *handle, const host_shape *shape, const void *args, size_t size,
                              char *error, size_t capacity) {
  const Entry *k = of(handle);
  if (size != k->packed && size != (k->packed + 7) / 8 * 8) {
    return refuse(error, capacity, HOST_BAD_ARGS, "%s: %zu bytes of arguments, expected %zu", k->name, size, k->packed);
  }
  std::vector<void *> pointers(k->params + 1);
  for (size_t i = 0; i < k->params; i++) {
    pointers[i] = const_cast<char *>(static_cast<const char *>(args)) + k->offsets[i];
  }
  return host_kernel_launch(handle, shape, pointers.data(), error, capacity);
}

} // extern "C"
