#include "driver/common.hpp"

using namespace standin;

namespace {

// refuse_capture returns an error for a stream under capture, which cannot be waited for or
// queried.
int refuse_capture(Stream* s) {
  if (s->capture == nullptr) return kSuccess;
  if (s->capture->invalid) return kCaptureInvalidated;
  invalidate(s->capture.get());
  return kCaptureUnsupported;
}

}  // namespace

int32_t cuStreamCreate(uintptr_t* stream, uint32_t flags) {
  ENTER_CONTEXT(ctx);
  if (stream == nullptr || flags > 1) return kInvalidValue;
  auto s = std::make_shared<Stream>();
  s->ctx = ctx;
  s->blocking = flags == 0;
  *stream = handle_of(streams().add(s));
  return kSuccess;
}

static int32_t destroy(uintptr_t h) {
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  const std::shared_ptr<Stream> s = streams().share(handle(h));
  if (s == nullptr || s->ctx != ctx) return sticky != 0 ? sticky : static_cast<int>(kInvalidHandle);
  leave_capture(s.get());
  drain(s.get());
  streams().remove(s.get());
  return sticky;
}

int32_t cuStreamDestroy_v2(uintptr_t h) { RELEASE(int32_t, destroy(h)); }

int32_t cuStreamSynchronize(uintptr_t stream) {
  ENTER_STREAM(stream, ctx, s);
  if (const int e = refuse_capture(s)) return e;
  return drain(s);
}

// Each query runs one operation, so that a loop of queries ends.
int32_t cuStreamQuery(uintptr_t stream) {
  ENTER_STREAM(stream, ctx, s);
  if (const int e = refuse_capture(s)) return e;
  if (s->queue.empty()) return kSuccess;
  run_one(s);
  return ctx->sticky != 0 ? ctx->sticky : static_cast<int>(kNotReady);
}

int32_t cuStreamWaitEvent(uintptr_t stream, uintptr_t event, uint32_t flags) {
  ENTER_STREAM(stream, ctx, s);
  if (flags > 1) return kInvalidValue;
  Event* e = events().find(handle(event));
  if (e == nullptr) return kInvalidHandle;
  return wait_event(s, e);
}
