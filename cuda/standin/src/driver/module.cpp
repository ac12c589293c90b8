#include <cstdio>
#include <cstring>

#include "driver/common.hpp"
#include "host.h"

using namespace standin;

namespace {

// A cubin runs on devices of its major architecture and an equal or later
// minor one; PTX on its own and all later ones.
bool runs_here(const Image& image) {
  const int device = state().cc_major * 10 + state().cc_minor;
  if (image.arch > device) return false;
  return image.ptx || image.arch / 10 == device / 10;
}

// A source defines the kernels that it spells out, and those that its macros
// make: the harness knows from which file they came.
bool defines(const Image& image, const char* name, const host_kernel* k) {
  for (const std::string& spelled : image.kernels)
    if (spelled == name) return true;
  return image.program == host_kernel_file(k);
}

int load(uintptr_t* out, const void* bytes) {
  NEED_CONTEXT(ctx);
  if (out == nullptr || bytes == nullptr) return kInvalidValue;
  if (const int e = unsafe_call()) return e;
  auto m = std::make_shared<Module>();
  m->ctx = ctx;
  if (const int e = decode(bytes, &m->image)) return e;
  if (!runs_here(m->image)) return kNoBinary;
  *out = handle_of(modules().add(m));
  return kSuccess;
}

}  // namespace

int32_t cuModuleLoadData(uintptr_t* module, const void* image) {
  ENTER(int32_t);
  return load(module, image);
}

// Options: 5 is the buffer of the log of errors, 6 its size.
int32_t cuModuleLoadDataEx(uintptr_t* module, const void* image, uint32_t n, int32_t* options, void** values) {
  ENTER(int32_t);
  if (n > 0 && (options == nullptr || values == nullptr)) return kInvalidValue;
  const int code = load(module, image);
  char* log = nullptr;
  size_t size = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (options[i] == 5) log = static_cast<char*>(values[i]);
    if (options[i] == 6) size = reinterpret_cast<uintptr_t>(values[i]) & 0xFFFFFFFF;
  }
  if (log != nullptr && size > 0)
    std::snprintf(log, size, "%s", code == kInvalidImage ? "ptxas fatal: not an image of the stand-in" : "");
  return code;
}

static int32_t unload(uintptr_t h) {
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  if (sticky == 0) {
    if (const int e = unsafe_call()) return e;
  }
  const std::shared_ptr<Module> m = modules().share(handle(h));
  if (m == nullptr) return sticky != 0 ? sticky : static_cast<int>(kInvalidHandle);
  if (sticky == 0) drain(ctx);
  m->unloaded = true;
  modules().remove(m.get());
  return sticky;
}

int32_t cuModuleUnload(uintptr_t h) { RELEASE(int32_t, unload(h)); }

int32_t cuModuleGetFunction(uintptr_t* function, uintptr_t h, const char* name) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  if (function == nullptr || name == nullptr) return kInvalidValue;
  Module* m = modules().find(handle(h));
  if (m == nullptr) return kInvalidHandle;
  for (const auto& f : m->functions)
    if (f->name == name) {
      *function = handle_of(f.get());
      return kSuccess;
    }
  const host_kernel* k = host_kernel_find(name);
  if (k == nullptr || !defines(m->image, name, k)) return kNotFound;
  auto f = std::make_shared<Function>();
  f->module = m;
  f->name = name;
  m->functions.push_back(f);
  *function = handle_of(f.get());
  return kSuccess;
}

// Kernels have no global variables.
int32_t cuModuleGetGlobal_v2(uint64_t*, uint64_t*, uintptr_t h, const char*) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  return modules().find(handle(h)) == nullptr ? kInvalidHandle : kNotFound;
}

#define NEED_FUNCTION(h, f)                \
  Function* f = find_function(handle(h));  \
  if (f == nullptr) return kInvalidHandle

int32_t cuFuncGetAttribute(int32_t* value, int32_t attribute, uintptr_t h) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_FUNCTION(h, f);
  if (value == nullptr) return kInvalidValue;
  switch (attribute) {
    case 0:  // MAX_THREADS_PER_BLOCK
      *value = static_cast<int32_t>(host_kernel_block(host_kernel_find(f->name.c_str())));
      return kSuccess;
    case 1:  // SHARED_SIZE_BYTES
    case 2:
    case 3:
      *value = 0;
      return kSuccess;
    case 4:  // NUM_REGS
      *value = 32;
      return kSuccess;
    case 5:
    case 6:  // PTX and binary version
      *value = f->module->image.arch;
      return kSuccess;
    case 8:  // MAX_DYNAMIC_SHARED_SIZE_BYTES
      *value = f->max_dynamic_shared;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

int32_t cuFuncSetAttribute(uintptr_t h, int32_t attribute, int32_t value) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_FUNCTION(h, f);
  if (attribute == 9) return value >= -1 && value <= 100 ? kSuccess : kInvalidValue;  // carve-out
  if (attribute != 8 || value < 0 || value > 232448) return kInvalidValue;
  f->max_dynamic_shared = value;
  return kSuccess;
}

int32_t cuOccupancyMaxActiveBlocksPerMultiprocessor(int32_t* blocks, uintptr_t h, int32_t block, uint64_t shared) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_FUNCTION(h, f);
  if (blocks == nullptr || block < 1) return kInvalidValue;
  if (block > static_cast<int32_t>(host_kernel_block(host_kernel_find(f->name.c_str()))) || shared > 232448) {
    *blocks = 0;
    return kSuccess;
  }
  const int32_t by_threads = 2048 / ((block + 31) / 32 * 32);
  const int32_t by_shared = static_cast<int32_t>(233472 / (shared + 1024));
  *blocks = by_threads < by_shared ? by_threads : by_shared;
  if (*blocks > 32) *blocks = 32;
  return kSuccess;
}

int32_t cuOccupancyMaxPotentialBlockSize(int32_t* min_grid, int32_t* block, uintptr_t h, uintptr_t, uint64_t, int32_t limit) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_FUNCTION(h, f);
  int32_t best = static_cast<int32_t>(host_kernel_block(host_kernel_find(f->name.c_str())));
  if (limit > 0 && limit < best) best = limit;
  *block = best;
  *min_grid = 132 * (2048 / best);
  return kSuccess;
}
