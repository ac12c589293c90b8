#pragma once

#include "core/abi.hpp"
#include "core/memory.hpp"
#include "core/module.hpp"
#include "core/state.hpp"
#include "core/stream.hpp"

namespace standin {

bool initialised();  // whether cuInit was called

inline const void* handle(uintptr_t h) { return reinterpret_cast<const void*>(h); }

template <class T>
uintptr_t handle_of(const T* object) {
  return reinterpret_cast<uintptr_t>(object);
}

// find_stream finds a stream of the context, or returns an error. 0 and 1 name the null stream.
int find_stream(uintptr_t h, Context* ctx, Stream** out);

}  // namespace standin

// Most calls need a current context that works.
#define NEED_CONTEXT(ctx)                                         \
  standin::Context* ctx = nullptr;                                \
  if (const int bad_ = standin::current(&ctx); bad_ != 0) return bad_; \
  static_cast<void>(ctx)

// For calls that free: an object of a context that has failed is freed too, and the error
// is returned all the same.
#define NEED_CONTEXT_TO_FREE(ctx, sticky)                                        \
  standin::Context* ctx = nullptr;                                               \
  const int sticky = standin::current(&ctx);                                     \
  if (sticky == standin::kInvalidContext || sticky == standin::kContextDestroyed) return sticky

#define NEED_STREAM(h, ctx, s)       \
  standin::Stream* s = nullptr;      \
  if (const int bad_ = standin::find_stream(h, ctx, &s); bad_ != 0) return bad_

// ENTER followed by the checks that the call needs.
#define ENTER_CONTEXT(ctx) ENTER(int32_t); NEED_CONTEXT(ctx)
#define ENTER_STREAM(h, ctx, s) ENTER_CONTEXT(ctx); NEED_STREAM(h, ctx, s)
#define ENTER_INITIALISED() ENTER(int32_t); if (!standin::initialised()) return standin::kNotInitialized
#define ENTER_DEVICE(device) ENTER(int32_t); NEED_DEVICE(device)

#define NEED_DEVICE(device)                                     \
  if (!standin::initialised()) return standin::kNotInitialized; \
  if (device < 0 || device >= standin::state().devices) return standin::kInvalidDevice
