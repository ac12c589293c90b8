#include "driver/common.hpp"

using namespace standin;

int32_t cuMemGetInfo_v2(uint64_t* free, uint64_t* total) {
  ENTER_CONTEXT(ctx);
  *total = memory_of(ctx->device);
  *free = *total > ctx->used ? *total - ctx->used : 0;
  return kSuccess;
}

int32_t cuMemAlloc_v2(uint64_t* p, uint64_t bytes) {
  ENTER_CONTEXT(ctx);
  if (p == nullptr) return kInvalidValue;
  if (const int e = whole_context_call(ctx)) return e;
  uintptr_t at = 0;
  const int code = allocate(ctx, bytes, false, &at);
  if (code == 0) *p = at;
  return code;
}

namespace {

// free_block waits for the device first.
int32_t free_block(uintptr_t p, bool pin) {
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  if (sticky == 0) {
    if (const int e = whole_context_call(ctx)) return e;
  }
  if (p == 0 && !pin) return sticky;
  const int failed = sticky != 0 ? sticky : drain(ctx);
  const int code = release(p, pin);
  return failed != 0 ? failed : code;
}

}  // namespace

int32_t cuMemFree_v2(uint64_t p) { RELEASE(int32_t, free_block(p, false)); }

int32_t cuMemHostAlloc(void** p, uint64_t bytes, uint32_t flags) {
  ENTER_CONTEXT(ctx);
  if (p == nullptr || flags > 7) return kInvalidValue;
  if (const int e = whole_context_call(ctx)) return e;
  uintptr_t at = 0;
  const int code = allocate(ctx, bytes, true, &at);
  if (code == 0) *p = reinterpret_cast<void*>(at);
  return code;
}

int32_t cuMemFreeHost(void* p) { RELEASE(int32_t, free_block(reinterpret_cast<uintptr_t>(p), true)); }
