#include <cstdio>

#include "driver/common.hpp"

using namespace standin;

int32_t cuStreamBeginCapture_v2(uintptr_t stream, int32_t mode) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_STREAM(stream, ctx, s);
  return begin_capture(s, mode);
}

// The capture ends also where the call fails, and then leaves no graph.
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

int32_t cuStreamIsCapturing(uintptr_t stream, int32_t* status) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_STREAM(stream, ctx, s);
  if (status == nullptr) return kInvalidValue;
  *status = s->capture == nullptr ? 0 : s->capture->invalid ? 2 : 1;
  return kSuccess;
}

int32_t cuThreadExchangeStreamCaptureMode(int32_t* mode) {
  ENTER(int32_t);
  if (mode == nullptr || *mode < kGlobal || *mode > kRelaxed) return kInvalidValue;
  *mode = exchange_mode(*mode);
  return kSuccess;
}

int32_t cuGraphInstantiateWithFlags(uintptr_t* exec, uintptr_t graph, uint64_t flags) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  if (exec == nullptr || flags > 15) return kInvalidValue;
  const std::shared_ptr<Graph> g = graphs().share(handle(graph));
  if (g == nullptr) return kInvalidHandle;
  auto e = std::make_shared<Exec>();
  e->ctx = ctx;
  e->graph = std::make_shared<const Graph>(*g);
  *exec = handle_of(execs().add(e));
  return kSuccess;
}

int32_t cuGraphLaunch(uintptr_t exec, uintptr_t stream) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_STREAM(stream, ctx, s);
  Exec* e = execs().find(handle(exec));
  if (e == nullptr || e->ctx != ctx) return kInvalidHandle;
  const std::shared_ptr<const Graph> g = e->graph;
  std::vector<Mark> after;
  if (s->capture == nullptr) after.push_back(e->last);
  const int code = enqueue(s, [g]() { return run_graph(*g); }, after);
  if (code == 0 && s->capture == nullptr) e->last = mark(s);
  return code;
}

int32_t cuGraphUpload(uintptr_t exec, uintptr_t stream) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  NEED_STREAM(stream, ctx, s);
  if (s->capture != nullptr) {
    invalidate(s->capture.get());
    return kCaptureUnsupported;
  }
  return execs().find(handle(exec)) == nullptr ? kInvalidHandle : kSuccess;
}

// An update must have as many nodes, joined in the same way.
int32_t cuGraphExecUpdate_v2(uintptr_t exec, uintptr_t graph, nv_graph_update* info) {
  ENTER(int32_t);
  NEED_CONTEXT(ctx);
  Exec* e = execs().find(handle(exec));
  const std::shared_ptr<Graph> g = graphs().share(handle(graph));
  if (e == nullptr || g == nullptr) return kInvalidHandle;
  bool same = e->graph->nodes.size() == g->nodes.size();
  for (size_t i = 0; same && i < g->nodes.size(); i++) same = g->nodes[i].after == e->graph->nodes[i].after;
  if (info != nullptr) *info = {same ? 0 : 2, 0, 0};
  if (!same) return kUpdateFailure;
  e->graph = std::make_shared<const Graph>(*g);
  return kSuccess;
}

int32_t cuGraphExecDestroy(uintptr_t exec) { RELEASE(int32_t, execs().remove(handle(exec)) ? kSuccess : kInvalidHandle); }

int32_t cuGraphDestroy(uintptr_t graph) { RELEASE(int32_t, graphs().remove(handle(graph)) ? kSuccess : kInvalidHandle); }

int32_t cuGraphDebugDotPrint(uintptr_t graph, const char* path, uint32_t) {
  ENTER(int32_t);
  const std::shared_ptr<Graph> g = graphs().share(handle(graph));
  if (g == nullptr || path == nullptr) return kInvalidValue;
  std::FILE* f = std::fopen(path, "w");
  if (f == nullptr) return kUnknown;
  std::fprintf(f, "digraph {\n");
  for (size_t i = 0; i < g->nodes.size(); i++) {
    std::fprintf(f, "n%zu;\n", i);
    for (int a : g->nodes[i].after) std::fprintf(f, "n%d -> n%zu;\n", a, i);
  }
  std::fprintf(f, "}\n");
  return std::fclose(f) == 0 ? kSuccess : kUnknown;
}
