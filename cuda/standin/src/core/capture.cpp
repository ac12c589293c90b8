#include <algorithm>
#include <thread>

#include "core/module.hpp"
#include "core/state.hpp"
#include "core/stream.hpp"

namespace standin {

namespace {

std::vector<std::shared_ptr<Capture>>& active() {
  static auto* v = new std::vector<std::shared_ptr<Capture>>;
  return *v;
}

// joined reports whether all work of the capture precedes the origin's tail.
bool joined(const Capture& c) {
  const auto& nodes = c.graph->nodes;
  std::vector<bool> seen(nodes.size());
  std::vector<int> todo = c.origin->tail;
  while (!todo.empty()) {
    const int n = todo.back();
    todo.pop_back();
    if (seen[static_cast<size_t>(n)]) continue;
    seen[static_cast<size_t>(n)] = true;
    for (int a : nodes[static_cast<size_t>(n)].after) todo.push_back(a);
  }
  return std::all_of(seen.begin(), seen.end(), [](bool b) { return b; });
}

void finish(const std::shared_ptr<Capture>& c) {
  c->ended = true;
  for (const auto& s : c->streams) {
    s->capture = nullptr;
    s->tail.clear();
  }
  c->streams.clear();
  active().erase(std::remove(active().begin(), active().end(), c), active().end());
}

}  // namespace

uint64_t this_thread() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }

void invalidate(Capture* c) { c->invalid = true; }

int unsafe_call() {
  int refused = kSuccess;
  for (const auto& c : active()) {
    if (c->mode == kRelaxed) continue;
    if (c->thread != this_thread() && c->mode == kThreadLocal) continue;
    invalidate(c.get());
    refused = kCaptureUnsupported;
  }
  return refused;
}

void disturb(Context* ctx) {
  for (const auto& c : active()) {
    if (c->invalid || c->thread == this_thread() || c->origin->ctx != ctx) continue;
    invalidate(c.get());
    misuse(kCaptureBroken, std::string("a capture broken by ") + state().latest + " of another thread");
  }
}

int whole_context_call(Context* ctx) {
  disturb(ctx);
  return unsafe_call();
}

int sync_copy_call(Context* ctx) {
  for (const auto& c : active())
    for (const auto& s : c->streams)
      if (s->ctx == ctx && s->blocking) {
        invalidate(c.get());
        return kCaptureImplicit;
      }
  return whole_context_call(ctx);
}

int begin_capture(Stream* s, int mode) {
  if (mode < kGlobal || mode > kRelaxed) return kInvalidValue;
  if (s == s->ctx->null_stream.get()) return kCaptureUnsupported;
  if (s->capture != nullptr) return kIllegalState;
  auto c = std::make_shared<Capture>();
  c->origin = s;
  c->mode = mode;
  c->thread = this_thread();
  c->streams.insert(s->shared_from_this());
  s->capture = c;
  s->tail.clear();
  active().push_back(c);
  return kSuccess;
}

int end_capture(Stream* s, Graph** out) {
  *out = nullptr;
  const std::shared_ptr<Capture> c = s->capture;
  if (c == nullptr) return kIllegalState;
  if (c->mode != kRelaxed && c->thread != this_thread()) return kCaptureWrongThread;
  if (c->origin != s) {
    invalidate(c.get());
    return kCaptureUnmatched;
  }
  const bool whole = joined(*c);
  finish(c);
  if (c->invalid) return kCaptureInvalidated;
  if (!whole) return kCaptureUnjoined;
  *out = graphs().add(c->graph);
  return kSuccess;
}

void leave_capture(Stream* s) {
  const std::shared_ptr<Capture> c = s->capture;
  if (c == nullptr) return;
  invalidate(c.get());
  if (c->origin == s) {
    finish(c);
    return;
  }
  s->capture = nullptr;
  c->streams.erase(s->shared_from_this());
}

}  // namespace standin
