#include "driver/common.hpp"

using namespace standin;

int32_t cuMemGetInfo_v2(uint64_t* free, uint64_t* total) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  *total = state().memory;
  *free = state().memory > ctx->used ? state().memory - ctx->used : 0;
  return kSuccess;
}

int32_t cuMemAlloc_v2(uint64_t* p, uint64_t bytes) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  if (p == nullptr) return kInvalidValue;
  if (const int e = unsafe_call()) return e;
  uintptr_t at = 0;
  const int code = allocate(ctx, bytes, false, &at);
  if (code == 0) *p = at;
  return code;
}

namespace {

// A free waits for the device.
int32_t free_device(uint64_t p) {
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  if (sticky == 0) {
    if (const int e = unsafe_call()) return e;
  }
  if (p == 0) return sticky;
  const int failed = sticky != 0 ? sticky : drain(ctx);
  const int code = release(p, false);
  return failed != 0 ? failed : code;
}

int32_t free_pinned(void* p) {
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  if (sticky == 0) {
    if (const int e = unsafe_call()) return e;
  }
  const int failed = sticky != 0 ? sticky : drain(ctx);
  const int code = release(reinterpret_cast<uintptr_t>(p), true);
  return failed != 0 ? failed : code;
}

}  // namespace

int32_t cuMemFree_v2(uint64_t p) { RELEASE(int32_t, free_device(p)); }

int32_t cuMemHostAlloc(void** p, uint64_t bytes, uint32_t flags) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  if (p == nullptr || flags > 7) return kInvalidValue;
  if (const int e = unsafe_call()) return e;
  uintptr_t at = 0;
  const int code = allocate(ctx, bytes, true, &at);
  if (code == 0) *p = reinterpret_cast<void*>(at);
  return code;
}

int32_t cuMemFreeHost(void* p) { RELEASE(int32_t, free_pinned(p)); }

// The pool of the device: blocks come at once and go in the order of the stream.

namespace {

uint64_t threshold[16];
uint64_t held_high;

uintptr_t pool_of(int32_t device) { return 0x1000 + static_cast<uintptr_t>(device); }

int32_t free_later(uint64_t p, uintptr_t stream) {
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  if (sticky != 0) {
    release(p, false);
    return sticky;
  }
  NEED_STREAM(stream, ctx, s);
  if (s->capture != nullptr) {
    invalidate(s->capture.get());
    return kCaptureUnsupported;
  }
  if (!on_device(p, 0)) return kInvalidValue;
  return enqueue(s, [p]() { return release(p, false) == 0 ? 0 : static_cast<int>(kIllegalAddress); });
}

bool is_pool(uintptr_t pool) { return pool >= 0x1000 && pool < 0x1000 + static_cast<uintptr_t>(state().devices); }

}  // namespace

int32_t cuMemAllocAsync(uint64_t* p, uint64_t bytes, uintptr_t stream) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_STREAM(stream, ctx, s);
  if (s->capture != nullptr) {
    invalidate(s->capture.get());
    return kCaptureUnsupported;
  }
  uintptr_t at = 0;
  const int code = allocate(ctx, bytes, false, &at);
  if (code != 0) return code;
  *p = at;
  if (ctx->used > held_high) held_high = ctx->used;
  return kSuccess;
}

int32_t cuMemFreeAsync(uint64_t p, uintptr_t stream) { RELEASE(int32_t, free_later(p, stream)); }

int32_t cuDeviceGetDefaultMemPool(uintptr_t* pool, int32_t device) {
  ENTER(int32_t);
  if (!initialised()) return kNotInitialized;
  if (device < 0 || device >= state().devices) return kInvalidDevice;
  *pool = pool_of(device);
  return kSuccess;
}

int32_t cuMemPoolSetAttribute(uintptr_t pool, int32_t attribute, void* value) {
  ENTER(int32_t);
  if (!is_pool(pool) || value == nullptr) return kInvalidValue;
  if (attribute == 4) threshold[pool - 0x1000] = *static_cast<uint64_t*>(value);  // RELEASE_THRESHOLD
  return attribute >= 1 && attribute <= 8 ? kSuccess : kInvalidValue;
}

int32_t cuMemPoolGetAttribute(uintptr_t pool, int32_t attribute, void* value) {
  ENTER(int32_t);
  if (!is_pool(pool) || value == nullptr) return kInvalidValue;
  const uint64_t used = primary(static_cast<int>(pool - 0x1000))->used;
  switch (attribute) {
    case 1:
    case 2:
    case 3:
      *static_cast<int32_t*>(value) = 1;
      return kSuccess;
    case 4:
      *static_cast<uint64_t*>(value) = threshold[pool - 0x1000];
      return kSuccess;
    case 5:  // RESERVED_MEM_CURRENT
    case 7:  // USED_MEM_CURRENT
      *static_cast<uint64_t*>(value) = used;
      return kSuccess;
    case 6:
    case 8:
      *static_cast<uint64_t*>(value) = held_high;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

int32_t cuMemPoolTrimTo(uintptr_t pool, uint64_t) {
  ENTER(int32_t);
  return is_pool(pool) ? kSuccess : kInvalidValue;
}
