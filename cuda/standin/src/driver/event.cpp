#include "driver/common.hpp"

using namespace standin;

#define NEED_EVENT(h, e)                \
  Event* e = events().find(handle(h));  \
  if (e == nullptr) return kInvalidHandle

int32_t cuEventCreate(uintptr_t* event, uint32_t flags) {
  ENTER_CONTEXT(ctx);
  if (event == nullptr || flags > 7) return kInvalidValue;
  auto e = std::make_shared<Event>();
  e->ctx = ctx;
  *event = handle_of(events().add(e));
  return kSuccess;
}

static int32_t destroy(uintptr_t event) {
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  const bool gone = events().remove(handle(event));
  if (sticky != 0) return sticky;
  return gone ? kSuccess : kInvalidHandle;
}

int32_t cuEventDestroy_v2(uintptr_t event) { RELEASE(int32_t, destroy(event)); }

int32_t cuEventRecord(uintptr_t event, uintptr_t stream) {
  ENTER_CONTEXT(ctx);
  NEED_EVENT(event, e);
  NEED_STREAM(stream, ctx, s);
  if (e->ctx != ctx) return kInvalidHandle;
  return record(e, s);
}

int32_t cuEventSynchronize(uintptr_t event) {
  ENTER_CONTEXT(ctx);
  NEED_EVENT(event, e);
  if (!e->recorded) return kSuccess;
  if (e->capture != nullptr) {
    if (!e->capture->ended) invalidate(e->capture.get());
    return kCapturedEvent;
  }
  run_until(e->mark);
  return e->ctx->sticky;
}
