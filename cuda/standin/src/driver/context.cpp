#include "driver/common.hpp"

using namespace standin;

int32_t cuDevicePrimaryCtxRetain(uintptr_t* out, int32_t device) {
  ENTER_DEVICE(device);
  if (out == nullptr) return kInvalidValue;
  Context* ctx = primary(device);
  if (!ctx->alive) {
    ctx->alive = true;
    ctx->null_stream = std::make_shared<Stream>();
    ctx->null_stream->ctx = ctx;
    count(kContexts);
  }
  ctx->retained++;
  *out = handle_of(ctx);
  return kSuccess;
}

static int32_t release_primary(int32_t device) {
  NEED_DEVICE(device);
  Context* ctx = primary(device);
  if (ctx->retained == 0) return kInvalidContext;
  if (--ctx->retained == 0) end_context(ctx);
  return kSuccess;
}

int32_t cuDevicePrimaryCtxRelease_v2(int32_t device) { RELEASE(int32_t, release_primary(device)); }

int32_t cuDevicePrimaryCtxSetFlags_v2(int32_t device, uint32_t flags) {
  ENTER_DEVICE(device);
  if ((flags & 7) != 0 && (flags & 7) != 1 && (flags & 7) != 2 && (flags & 7) != 4) return kInvalidValue;
  primary(device)->flags = flags;
  return kSuccess;
}

int32_t cuDevicePrimaryCtxGetState(int32_t device, uint32_t* flags, int32_t* active) {
  ENTER_DEVICE(device);
  *flags = primary(device)->flags;
  *active = primary(device)->alive;
  return kSuccess;
}

static Context* named(uintptr_t h) {
  for (int d = 0; d < state().devices; d++)
    if (handle_of(primary(d)) == h) return primary(d);
  return nullptr;
}

// It fails if the device of the current context is lost; with 0 that context is no longer
// current all the same. An ordered fatal error ends the context that was to become current.
int32_t cuCtxSetCurrent(uintptr_t h) {
  Call call(standin_library, __func__);
  Context* ctx = named(h);
  const bool of_other = lost(current_device());
  if (h == 0) set_current(nullptr);
  if (call.code != 0) {
    if (ctx != nullptr && !of_other && sticky(call.code)) poison(ctx, call.code);
    return call.code;
  }
  if (!initialised()) return kNotInitialized;
  if (h != 0 && ctx == nullptr) return kInvalidContext;
  if (ctx != nullptr && !ctx->alive) return kContextDestroyed;
  set_current(ctx);
  return kSuccess;
}
