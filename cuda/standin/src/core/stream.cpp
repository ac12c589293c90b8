#include "core/stream.hpp"

#include "core/module.hpp"
#include "core/state.hpp"

namespace standin {

namespace {

// A stream of more operations runs its older half: a device's queue is finite too.
constexpr size_t kQueueLimit = 4096;

void run_front(Stream* s) {
  const std::shared_ptr<Stream> keep = s->shared_from_this();
  Op op = std::move(s->queue.front());
  s->queue.pop_front();
  for (const Mark& m : op.after) run_until(m);
  const auto left = state().work_left.find(s->ctx->device);
  if (left != state().work_left.end()) left->second--;
  if (s->ctx->sticky == 0 && !lost(s->ctx->device)) {
    const int code = op.run();
    if (code != 0) poison(s->ctx, code);
  }
  s->done++;
}

}  // namespace

Mark mark(Stream* s) { return {s->shared_from_this(), s->issued}; }

Work counted(Work run) {
  return [run = std::move(run)]() -> int {
    State& s = state();
    if (++s.work == s.work_fault) {
      s.work_fault = 0;
      return s.work_code;
    }
    return run();
  };
}

void run_until(const Mark& m) {
  if (m.stream == nullptr) return;
  while (m.stream->done < m.seq && !m.stream->queue.empty()) run_front(m.stream.get());
}

void run_one(Stream* s) {
  if (!s->queue.empty()) run_front(s);
}

int drain(Stream* s) {
  run_until(mark(s));
  return s->ctx->sticky;
}

int drain(Context* ctx) {
  streams().each([&](Stream& s) {
    if (s.ctx == ctx) drain(&s);
  });
  if (ctx->null_stream != nullptr) drain(ctx->null_stream.get());
  return ctx->sticky;
}

int enqueue(Stream* s, Work run, std::vector<Mark> after) {
  Context* ctx = s->ctx;
  const bool null = s == ctx->null_stream.get();
  if (null) {
    int refused = 0;
    streams().each([&](Stream& o) {
      if (o.ctx == ctx && o.blocking && o.capture != nullptr) {
        invalidate(o.capture.get());
        refused = kCaptureImplicit;
      }
    });
    if (refused != 0) return refused;
  }
  if (s->capture != nullptr) {
    if (s->capture->invalid) return kCaptureInvalidated;
    auto& nodes = s->capture->graph->nodes;
    nodes.push_back({std::move(run), s->tail});
    s->tail = {static_cast<int>(nodes.size()) - 1};
    return kSuccess;
  }
  if (null) {
    streams().each([&](Stream& o) {
      if (o.ctx == ctx && o.blocking && o.capture == nullptr) after.push_back(mark(&o));
    });
  } else if (s->blocking) {
    after.push_back(mark(ctx->null_stream.get()));
  }
  s->queue.push_back({std::move(run), std::move(after)});
  s->issued++;
  if (s->queue.size() > kQueueLimit) run_until({s->shared_from_this(), s->issued - kQueueLimit / 2});
  return kSuccess;
}

}  // namespace standin
