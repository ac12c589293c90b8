#include "driver/common.hpp"

using namespace standin;

int32_t cuStreamBeginCapture_v2(uintptr_t stream, int32_t mode) {
  ENTER_STREAM(stream, ctx, s);
  return begin_capture(s, mode);
}

// If the call fails the capture ends all the same, and there is no graph.
int32_t cuStreamEndCapture(uintptr_t stream, uintptr_t* out) {
  Call call(standin_library, __func__);
  if (standin_library.stub != 0) return call.code;
  NEED_CONTEXT_TO_FREE(ctx, sticky);
  if (out == nullptr) return kInvalidValue;
  *out = 0;
  NEED_STREAM(stream, ctx, s);
  Graph* g = nullptr;
  const int code = end_capture(s, &g);
  const int failed = call.code != 0 ? call.code : sticky;
  if (failed != 0) {
    if (g != nullptr) graphs().remove(g);
    return failed;
  }
  *out = handle_of(g);
  return code;
}

int32_t cuGraphInstantiateWithFlags(uintptr_t* exec, uintptr_t graph, uint64_t flags) {
  ENTER_CONTEXT(ctx);
  if (exec == nullptr || flags > 15) return kInvalidValue;
  const std::shared_ptr<Graph> g = graphs().share(handle(graph));
  if (g == nullptr) return kInvalidHandle;
  auto e = std::make_shared<Exec>();
  if (!e->room.take(ctx)) return kOutOfMemory;
  e->ctx = ctx;
  e->graph = std::make_shared<const Graph>(*g);
  *exec = handle_of(execs().add(e));
  return kSuccess;
}

int32_t cuGraphLaunch(uintptr_t exec, uintptr_t stream) {
  ENTER_STREAM(stream, ctx, s);
  Exec* e = execs().find(handle(exec));
  if (e == nullptr || e->ctx != ctx) return kInvalidHandle;
  const std::shared_ptr<const Graph> g = e->graph;
  std::vector<Mark> after;
  if (s->capture == nullptr) after.push_back(e->last);
  const int code = enqueue(s, [g]() { return run_graph(*g); }, after);
  if (code == 0 && s->capture == nullptr) e->last = mark(s);
  return code;
}

int32_t cuGraphExecDestroy(uintptr_t exec) { RELEASE(int32_t, execs().remove(handle(exec)) ? kSuccess : kInvalidHandle); }

int32_t cuGraphDestroy(uintptr_t graph) { RELEASE(int32_t, graphs().remove(handle(graph)) ? kSuccess : kInvalidHandle); }
