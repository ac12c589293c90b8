#include <algorithm>

#include "core/module.hpp"
#include "core/state.hpp"
#include "core/stream.hpp"

namespace standin {

namespace {

thread_local Context* tls_current = nullptr;

constexpr int kMaxDevices = 16;

}  // namespace

bool sticky(int code) {
  return code == kIllegalAddress || (code >= 714 && code <= kLaunchFailed) || code == kUnknown || code == 214;
}

void poison(Context* ctx, int code) {
  if (ctx->sticky == 0) ctx->sticky = code;
}

void poison_current(int code) {
  if (tls_current != nullptr) poison(tls_current, code);
}

Context* primary(int device) {
  static auto* all = new std::vector<Context>(kMaxDevices);
  Context* ctx = &(*all)[static_cast<size_t>(device)];
  ctx->device = device;
  return ctx;
}

void set_current(Context* ctx) { tls_current = ctx; }

int current_device() { return tls_current == nullptr ? -1 : tls_current->device; }

int current(Context** ctx) {
  *ctx = tls_current;
  if (tls_current == nullptr) return kInvalidContext;
  if (!tls_current->alive) return kContextDestroyed;
  return tls_current->sticky;
}

void end_context(Context* ctx) {
  if (!ctx->alive) return;
  // Objects that are still alive were leaked and stay counted, except after a fatal
  // error: then nothing can be freed but by the end of the context.
  const bool failed = ctx->sticky != 0 || lost(ctx->device);
  if (!failed) drain(ctx);
  ctx->alive = false;
  count(kContexts, -1);
  if (failed) {
    release_context_objects(ctx);
    release_all(ctx);
  }
  ctx->null_stream = nullptr;
  ctx->sticky = 0;
  ctx->used = 0;
}

void drop_everything() {
  for (int d = 0; d < kMaxDevices; d++) {
    Context* ctx = primary(d);
    release_context_objects(ctx);
    if (ctx->alive) count(kContexts, -1);
    release_all(ctx);
    *ctx = Context{};
  }
  graphs().remove_if([](const Graph&) { return true; });
}

}  // namespace standin
