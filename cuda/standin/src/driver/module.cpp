#include <cstdio>
#include <cstring>

#include "driver/common.hpp"
#include "host.h"

using namespace standin;

namespace {

// runs_here reports whether the device can run the image: a cubin needs its own major
// version and an equal or later minor one; PTX needs its own version or a later one.
bool runs_here(const Image& image) {
  const int device = state().cc_major * 10 + state().cc_minor;
  if (image.arch > device) return false;
  return image.ptx || image.arch / 10 == device / 10;
}

// defines reports whether the image's source defines a kernel: it spells out the name, or
// makes it by a macro, in which case the harness knows the file.
bool defines(const Image& image, const char* name, const host_kernel* k) {
  for (const std::string& spelled : image.kernels)
    if (spelled == name) return true;
  return image.program == host_kernel_file(k);
}

int load(uintptr_t* out, const void* bytes) {
  NEED_CONTEXT(ctx);
  if (out == nullptr || bytes == nullptr) return kInvalidValue;
  if (const int e = whole_context_call(ctx)) return e;
  auto m = std::make_shared<Module>();
  m->ctx = ctx;
  if (const int e = decode(bytes, &m->image)) return e;
  if (!runs_here(m->image)) return kNoBinary;
  if (!m->room.take(ctx)) return kOutOfMemory;
  *out = handle_of(modules().add(m));
  return kSuccess;
}

}  // namespace

int32_t cuModuleLoadData(uintptr_t* module, const void* image) {
  ENTER(int32_t);
  return load(module, image);
}

// Of the options it knows 5, the buffer of the error log, and 6, its size.
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
    if (const int e = whole_context_call(ctx)) return e;
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
  ENTER_CONTEXT(ctx);
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
