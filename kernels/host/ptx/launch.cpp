// The interface of host.h over PTX: it finds the kernels in the folder that AMTRL_PTX names, and runs them.
#include <dirent.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "thread.h"

namespace ptx {

Block block;
std::mutex serial;

namespace {

std::string format_list(const char *format, va_list list) {
  char text[1024];
  vsnprintf(text, sizeof text, format, list);
  return text;
}

std::string described(const char *text) {
  char head[256];
  snprintf(head, sizeof head, "%s: block (%u, %u, %u): ", block.kernel->name.c_str(), block.index[0], block.index[1], block.index[2]);
  return std::string(head) + text;
}

const Place &place(const Instruction &i) { return block.kernel->places[size_t(&i - block.kernel->code.data())]; }

} // namespace

void stop(const char *format, ...) {
  va_list list;
  va_start(list, format);
  std::string text = format_list(format, list);
  va_end(list);
  throw described(text.c_str());
}

void fail(const Thread &t, const Instruction &i, const char *format, ...) {
  va_list list;
  va_start(list, format);
  std::string text = format_list(format, list);
  va_end(list);
  stop("thread %u in %s: %s", t.number, where(i).c_str(), text.c_str());
}

std::string where(const Instruction &i) { return place(i).file + ":" + std::to_string(place(i).line) + " (" + place(i).text + ")"; }

namespace {

// Found is a kernel of the folder and its file, which is read when the kernel is first asked for.
struct Found {
  std::string name, path;
  std::unique_ptr<Kernel> kernel;
};

std::vector<Found> &found() {
  static std::vector<Found> all = [] {
    std::vector<Found> all;
    const char *folder = getenv("AMTRL_PTX");
    DIR *d = folder == nullptr ? nullptr : opendir(folder);
    if (d == nullptr) fprintf(stderr, "AMTRL_PTX names no folder\n"), exit(1);
    while (dirent *e = readdir(d)) {
      std::string name = e->d_name, path = folder + ("/" + name), end = ".ptx";
      if (name.size() < end.size() || name.substr(name.size() - end.size()) != end) continue;
      for (const std::string &kernel : list_kernels(path)) all.push_back({kernel, path, nullptr});
    }
    closedir(d);
    return all;
  }();
  return all;
}

const Kernel *read(Found &f) {
  static std::mutex reading;
  std::lock_guard<std::mutex> lock(reading);
  if (f.kernel == nullptr) {
    try {
      for (Kernel &k : read_kernels(f.path)) {
        if (k.name == f.name) f.kernel = std::make_unique<Kernel>(std::move(k));
      }
    } catch (const std::string &error) {
      fprintf(stderr, "%s\n", error.c_str()), exit(1);
    }
  }
  return f.kernel.get();
}

// stuck ends the launch, and names a thread that waits and one that does not join it.
[[noreturn]] void stuck() {
  const Thread *begin = block.threads, *end = begin + block.count;
  const Thread *waits = std::find_if(begin, end, [](const Thread &t) { return t.state == State::at_warp; });
  const bool warp = waits != end;
  if (!warp) waits = std::find_if(begin, end, [](const Thread &t) { return t.state == State::at_block; });
  const Thread *other = std::find_if(begin, end, [&](const Thread &t) {
    return (t.state != waits->state || t.at != waits->at) && (!warp || t.warp == waits->warp);
  });
  const char *what = warp ? "a warp operation" : "__syncthreads";
  if (other == end) stop("thread %u waits at %s in %s", waits->number, what, where(*waits->at).c_str());
  if (other->state == State::done) {
    stop("thread %u waits at %s in %s, thread %u has ended", waits->number, what, where(*waits->at).c_str(), other->number);
  }
  stop("thread %u waits at %s in %s, thread %u in %s", waits->number, what, where(*waits->at).c_str(), other->number,
       where(*other->at).c_str());
}

// run continues a thread until it waits or ends.
void run(Thread &t) {
  for (const Instruction *i = t.at; i != nullptr;) {
    if (i->guard != no_slot) {
      if (!t.known[i->guard]) fail(t, *i, "depends on a value that nobody wrote");
      if (get<bool>(t, i->guard) == i->unless) {
        i++;
        continue;
      }
    }
    i = i->run(t, *i);
  }
}

void shuffle(std::vector<unsigned> &order, uint64_t &seed) {
  for (size_t k = order.size(); seed != 0 && k > 1; k--) std::swap(order[k - 1], order[host::mix(seed) % k]);
}

// run_block runs the warps in an order drawn from seed, or ascending if that is 0, each for as long as one of its lanes
// can run.
void run_block(uint64_t seed) {
  block.at_barrier = block.done = 0;
  block.start = block.since = ++block.clock;
  for (unsigned k = 0; k < block.count; k++) {
    Thread &t = block.threads[k];
    t.at = block.kernel->code.data();
    t.state = State::ready;
    memcpy(t.known, block.kernel->known.data(), block.kernel->known.size());
    for (unsigned axis = 0; axis < 3; axis++) set(t, ctaid + axis, block.index[axis], true);
  }
  std::vector<unsigned> warps(block.warp_count), lanes(32);
  std::iota(warps.begin(), warps.end(), 0);
  std::iota(lanes.begin(), lanes.end(), 0);
  for (unsigned w : warps) {
    unsigned rest = block.count - w * 32;
    block.warps[w] = {};
    block.warps[w].lanes = rest >= 32 ? ~0u : (1u << rest) - 1;
  }
  for (bool moved = true; moved;) {
    moved = false;
    shuffle(warps, seed);
    for (unsigned w : warps) {
      shuffle(lanes, seed);
      for (bool any = true; any;) {
        any = false;
        for (unsigned lane : lanes) {
          Thread &t = block.threads[w * 32 + lane];
          if (!(block.warps[w].lanes >> lane & 1) || t.state != State::ready) continue;
          run(t);
          moved = any = true;
        }
      }
    }
  }
  if (block.done < block.count) stuck();
}

// run_grid runs all blocks, with the packed arguments.
void run_grid(const Kernel &k, const host_shape &shape, const unsigned char *params) {
  const unsigned *g = shape.grid, *b = shape.block;
  const uint64_t blocks = uint64_t(g[0]) * g[1] * g[2];
  block.kernel = &k;
  block.params = params;
  block.count = b[0] * b[1] * b[2];
  block.warp_count = (block.count + 31) / 32;
  static uint32_t next = 1;
  block.launch = next;
  next += uint32_t(blocks) + 1;
  std::vector<uint64_t> bits(k.bits.size() * block.count);
  std::vector<uint8_t> known(k.bits.size() * block.count);
  for (unsigned n = 0; n < block.count; n++) {
    Thread &t = block.threads[n];
    t.bits = &bits[n * k.bits.size()];
    t.known = &known[n * k.bits.size()];
    t.number = n, t.lane = n % 32, t.warp = n / 32;
    std::copy(k.bits.begin(), k.bits.end(), t.bits);
    const unsigned index[3] = {n % b[0], n / b[0] % b[1], n / b[0] / b[1]};
    for (unsigned axis = 0; axis < 3; axis++) {
      set(t, tid + axis, index[axis], true);
      set(t, ntid + axis, b[axis], true);
      set(t, nctaid + axis, g[axis], true);
    }
    set(t, laneid, t.lane, true);
  }
  start_global();
  const bool dynamic = !k.shared.empty() && k.shared.back().size == 0;
  size_t end = k.shared.empty() ? 0 : k.shared.back().at + (dynamic ? shape.shared : k.shared.back().size);
  uint64_t state = shape.order;
  const host::Order order(state, blocks);
  for (uint64_t i = 0; i < blocks; i++) {
    uint64_t n = order.at(i);
    block.stamp = uint32_t(block.launch + 1 + n);
    block.index[0] = unsigned(n % g[0]), block.index[1] = unsigned(n / g[0] % g[1]), block.index[2] = unsigned(n / g[0] / g[1]);
    start_shared(end + red_zone);
    run_block(shape.order == 0 ? 0 : host::mix(state));
  }
}

const Kernel *of(const host_kernel *k) { return reinterpret_cast<const Kernel *>(k); }
const host_kernel *handle(const Kernel *k) { return reinterpret_cast<const host_kernel *>(k); }

} // namespace

} // namespace ptx

using namespace ptx;

extern "C" {

const host_kernel *host_kernel_find(const char *name) {
  for (Found &f : found()) {
    if (f.name == name) return handle(read(f));
  }
  return nullptr;
}

size_t host_kernel_count(void) { return found().size(); }
const host_kernel *host_kernel_at(size_t i) { return handle(read(found().at(i))); }
const char *host_kernel_name(const host_kernel *k) { return of(k)->name.c_str(); }
const char *host_kernel_file(const host_kernel *k) { return of(k)->file.c_str(); }
unsigned host_kernel_block(const host_kernel *k) { return of(k)->block; }
size_t host_kernel_packed_size(const host_kernel *k) { return of(k)->packed; }

size_t host_kernel_params(const host_kernel *k, const size_t **offsets, const size_t **sizes) {
  if (offsets != nullptr) *offsets = of(k)->offsets.data();
  if (sizes != nullptr) *sizes = of(k)->sizes.data();
  return of(k)->sizes.size();
}

int host_kernel_launch_packed(const host_kernel *handle, const host_shape *shape, const void *args, size_t size,
                              char *error, size_t capacity) {
  const Kernel &k = *of(handle);
  if (size != k.packed && size != (k.packed + 7) / 8 * 8) {
    return host::refuse(error, capacity, HOST_BAD_ARGS, "%s: %zu bytes of arguments, expected %zu", k.name.c_str(), size, k.packed);
  }
  if (int code = host::check_shape(k.name.c_str(), k.block, *shape, error, capacity)) return code;
  constexpr size_t most = 48 << 10; // bytes that a launch may take if no attribute of the kernel is set
  if (k.fixed + shape->shared > most) {
    return host::refuse(error, capacity, HOST_BAD_SHAPE, "%s: %zu bytes of static and %zu of dynamic shared memory, more than %zu",
                        k.name.c_str(), k.fixed, shape->shared, most);
  }
  std::lock_guard<std::mutex> lock(serial);
  try {
    run_grid(k, *shape, static_cast<const unsigned char *>(args));
  } catch (const std::string &message) {
    return host::refuse(error, capacity, HOST_FAILED, "%s", message.c_str());
  }
  return HOST_OK;
}

int host_kernel_launch(const host_kernel *k, const host_shape *shape, void *const *args, char *error, size_t capacity) {
  std::vector<unsigned char> packed(of(k)->packed);
  for (size_t i = 0; i < of(k)->sizes.size(); i++) memcpy(&packed[of(k)->offsets[i]], args[i], of(k)->sizes[i]);
  return host_kernel_launch_packed(k, shape, packed.data(), packed.size(), error, capacity);
}

} // extern "C"
