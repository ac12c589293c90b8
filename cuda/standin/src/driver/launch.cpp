#include <cstdio>
#include <cstring>

#include "driver/common.hpp"
#include "host.h"

using namespace standin;

namespace {

// An argument of 8 bytes in this range can only be an address: no size, stride or double
// in use here has these bits.
constexpr uint64_t kLow = uint64_t(1) << 39, kHigh = uint64_t(1) << 47;

// foreign returns the first argument that is an address outside all blocks, or 0.
uint64_t foreign(const std::vector<unsigned char>& packed, const host_kernel* k) {
  const size_t *offsets = nullptr, *sizes = nullptr;
  const size_t n = host_kernel_params(k, &offsets, &sizes);
  for (size_t i = 0; i < n; i++) {
    if (sizes[i] != 8) continue;
    uint64_t word = 0;
    std::memcpy(&word, &packed[offsets[i]], 8);
    if (word >= kLow && word < kHigh && !known(word)) return word;
  }
  return 0;
}

int run(const std::weak_ptr<Module>& module, const host_kernel* k, const host_shape& shape, const std::vector<unsigned char>& packed) {
  const std::shared_ptr<Module> m = module.lock();
  if (m == nullptr || m->unloaded) return misused(std::string("a launch of ") + host_kernel_name(k) + " after its module was unloaded");
  if (const uint64_t word = foreign(packed, k)) {
    char hex[32];
    std::snprintf(hex, sizeof hex, "%#llx", static_cast<unsigned long long>(word));
    return misused(std::string("an argument of ") + host_kernel_name(k) + " is " + hex + ", which is not in device memory");
  }
  char error[512] = "";
  // Blocks and threads run in another order each time: no result may depend on it.
  host_shape shuffled = shape;
  shuffled.order = static_cast<uint64_t>(state().work);
  const int code = host_kernel_launch_packed(k, &shuffled, packed.data(), packed.size(), error, sizeof error);
  if (code == HOST_OK) return kSuccess;
  std::fprintf(stderr, "standin: %s: %s\n", host_kernel_name(k), error);
  misuse(kBadPointer, error);
  return kLaunchFailed;
}

// pack copies the arguments when the call is made, as the driver does.
int pack(const host_kernel* k, void** params, void** extra, std::vector<unsigned char>* out) {
  const size_t *offsets = nullptr, *sizes = nullptr;
  const size_t n = host_kernel_params(k, &offsets, &sizes);
  const size_t whole = host_kernel_packed_size(k);
  out->assign(whole, 0);
  if (params != nullptr && extra != nullptr) return kInvalidValue;
  if (params != nullptr) {
    for (size_t i = 0; i < n; i++) {
      if (params[i] == nullptr) return kInvalidValue;
      std::memcpy(&(*out)[offsets[i]], params[i], sizes[i]);
    }
    return kSuccess;
  }
  if (extra == nullptr) return n == 0 ? kSuccess : kInvalidValue;
  const void* buffer = nullptr;
  size_t size = 0;
  for (void** e = extra; *e != nullptr; e += 2) {
    const auto key = reinterpret_cast<uintptr_t>(e[0]);
    if (key == 1) buffer = e[1];
    else if (key == 2) size = *static_cast<const size_t*>(e[1]);
    else return kInvalidValue;
  }
  if (size != whole && size != (whole + 7) / 8 * 8) return kInvalidValue;
  if (whole > 0) {
    if (buffer == nullptr) return kInvalidValue;
    std::memcpy(out->data(), buffer, whole);
  }
  return kSuccess;
}

}  // namespace

// A module's code is loaded when it is first needed, which may wait for all streams.
static void load_function(Context* ctx, Function* f) {
  if (!f->loaded) disturb(ctx);
  f->loaded = true;
}

// It knows one attribute: 0, MAX_THREADS_PER_BLOCK.
int32_t cuFuncGetAttribute(int32_t* value, int32_t attribute, uintptr_t function) {
  ENTER_CONTEXT(ctx);
  Function* f = find_function(handle(function));
  if (f == nullptr) return kInvalidHandle;
  if (value == nullptr || attribute != 0) return kInvalidValue;
  if (const int e = whole_context_call(ctx)) return e;
  load_function(ctx, f);
  *value = static_cast<int32_t>(host_kernel_block(host_kernel_find(f->name.c_str())));
  return kSuccess;
}

int32_t cuLaunchKernel(uintptr_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
                       uintptr_t stream, void** params, void** extra) {
  ENTER_STREAM(stream, ctx, s);
  Function* f = find_function(handle(function));
  if (f == nullptr) return kInvalidHandle;
  if (gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0) return kInvalidValue;
  if (gx > 2147483647u || gy > 65535 || gz > 65535) return kInvalidValue;
  if (bx > 1024 || by > 1024 || bz > 64 || uint64_t(bx) * by * bz > 1024) return kInvalidValue;
  if (shared > 48 << 10) return kInvalidValue;
  load_function(ctx, f);
  const host_kernel* k = host_kernel_find(f->name.c_str());
  if (bx * by * bz > host_kernel_block(k)) return kOutOfResources;
  std::vector<unsigned char> packed;
  if (const int e = pack(k, params, extra, &packed)) return e;
  host_shape shape = {};
  shape.grid[0] = gx, shape.grid[1] = gy, shape.grid[2] = gz;
  shape.block[0] = bx, shape.block[1] = by, shape.block[2] = bz;
  shape.shared = shared;
  const std::weak_ptr<Module> module = modules().share(f->module);
  return enqueue(s, counted([module, k, shape, packed = std::move(packed)]() { return run(module, k, shape, packed); }));
}
