#include "core/state.hpp"
#include "core/stream.hpp"

namespace standin {

namespace {

void merge(std::vector<int>* into, const std::vector<int>& more) {
  for (int n : more) {
    bool have = false;
    for (int m : *into) have |= m == n;
    if (!have) into->push_back(n);
  }
}

}  // namespace

int record(Event* e, Stream* s) {
  if (s->capture != nullptr) {
    if (s->capture->invalid) return kCaptureInvalidated;
    e->capture = s->capture;
    e->nodes = s->tail;
    e->recorded = true;
    return kSuccess;
  }
  if (const int code = enqueue(s, []() { return 0; })) return code;
  e->mark = mark(s);
  e->capture = nullptr;
  e->recorded = true;
  return kSuccess;
}

int wait_event(Stream* s, Event* e) {
  if (s->capture != nullptr && s->capture->invalid) return kCaptureInvalidated;
  if (e->capture == nullptr) {
    if (s->capture != nullptr) {
      if (!e->recorded) return kSuccess;
      invalidate(s->capture.get());
      return kCaptureIsolation;
    }
    if (!e->recorded) return kSuccess;
    return enqueue(s, []() { return 0; }, {e->mark});
  }
  if (e->capture->ended) return kCapturedEvent;
  if (e->capture->invalid) return kCaptureInvalidated;
  if (s == s->ctx->null_stream.get()) {
    invalidate(e->capture.get());
    return kCaptureImplicit;
  }
  if (s->capture == nullptr) {
    s->capture = e->capture;
    s->capture->streams.insert(s->shared_from_this());
    s->tail = e->nodes;
    return kSuccess;
  }
  if (s->capture != e->capture) {
    invalidate(s->capture.get());
    invalidate(e->capture.get());
    return kCaptureMerge;
  }
  merge(&s->tail, e->nodes);
  return kSuccess;
}

}  // namespace standin
