#include <thread>

#include "core/memory.hpp"
#include "core/state.hpp"
#include "core/stream.hpp"
#include "test/test.hpp"

using namespace standin;

namespace {

// Capturing is a capture in progress, with memory, another stream and an event.
struct Capturing : test::Device {
  uint64_t p = 0, other = 0, event = 0;
  uintptr_t graph = 0;
  explicit Capturing(int mode = kThreadLocal) {
    EQUAL(cuMemAlloc_v2(&p, 64), 0);
    EQUAL(cuStreamCreate(&other, 1), 0);
    EQUAL(cuEventCreate(&event, 2), 0);
    EQUAL(cuMemsetD8Async(p, 0, 64, stream), 0);
    EQUAL(cuStreamSynchronize(stream), 0);
    EQUAL(cuStreamBeginCapture_v2(stream, mode), 0);
  }
  // end ends the capture and expects this code.
  void end(int code) {
    EQUAL(cuStreamEndCapture(stream, &graph), code);
    EQUAL(graph == 0, code != 0);
    if (graph != 0) EQUAL(cuGraphDestroy(graph), 0);
  }
  ~Capturing() {
    EQUAL(cuEventDestroy_v2(event), 0);
    EQUAL(cuStreamDestroy_v2(other), 0);
    EQUAL(cuMemFree_v2(p), 0);
  }
};

}  // namespace

TEST(capture_forbids_waiting_and_allocating) {
  const auto each = [](auto call, int code, int mode = kThreadLocal) {
    Capturing c(mode);
    EQUAL(call(c), code);
    const bool refused = code != 0;
    if (refused) EQUAL(cuMemsetD8Async(c.p, 1, 4, c.stream), kCaptureInvalidated);
    c.end(refused ? kCaptureInvalidated : 0);
  };
  each([](Capturing& c) { return cuStreamSynchronize(c.stream); }, kCaptureUnsupported);
  each([](Capturing& c) { return cuStreamQuery(c.stream); }, kCaptureUnsupported);
  each([](Capturing& c) { return cuStreamSynchronize(c.other); }, 0);
  each([](Capturing& c) { return cuMemFree_v2(c.p); }, kCaptureUnsupported);
  each([](Capturing&) { uint64_t q; return cuMemAlloc_v2(&q, 8); }, kCaptureUnsupported);
  each([](Capturing& c) { const char v = 1; return cuMemcpyHtoD_v2(c.p, &v, 1); }, kCaptureUnsupported);
  each([](Capturing& c) { const char v = 1; return cuMemcpyHtoD_v2(c.p, &v, 1); }, 0, kRelaxed);
  each([](Capturing& c) { uint64_t q; const int e = cuMemAlloc_v2(&q, 8); if (e == 0) cuMemFree_v2(q); return e + 0 * c.p; }, 0, kRelaxed);
  each([](Capturing& c) { EQUAL(cuEventRecord(c.event, c.stream), 0); return cuEventSynchronize(c.event); }, kCapturedEvent);
  each([](Capturing& c) { EQUAL(cuEventRecord(c.event, c.other), 0); return cuStreamWaitEvent(c.stream, c.event, 0); }, kCaptureIsolation);
}

TEST(capture_is_ended_by_its_own) {
  {
    Capturing c;
    EQUAL(cuStreamBeginCapture_v2(c.stream, kRelaxed), kIllegalState);
    EQUAL(cuStreamEndCapture(c.other, &c.graph), kIllegalState);
    std::thread([&]() {
      uintptr_t ctx = 0;
      EQUAL(cuDevicePrimaryCtxRetain(&ctx, 0), 0);
      EQUAL(cuCtxSetCurrent(ctx), 0);
      EQUAL(cuStreamEndCapture(c.stream, &c.graph), kCaptureWrongThread);
      EQUAL(cuDevicePrimaryCtxRelease_v2(0), 0);
    }).join();
    c.end(0);
    EQUAL(cuStreamEndCapture(c.stream, &c.graph), kIllegalState);
  }
  {
    Capturing c;
    EQUAL(cuEventRecord(c.event, c.stream), 0);
    EQUAL(cuStreamWaitEvent(c.other, c.event, 0), 0);
    EQUAL(cuMemsetD8Async(c.p, 1, 4, c.other), 0);
    c.end(kCaptureUnjoined);
    EQUAL(cuStreamSynchronize(c.other), 0);  // it left the capture too
  }
  test::Device d;
  EQUAL(cuStreamBeginCapture_v2(0, kThreadLocal), kCaptureUnsupported);
}

// A call that may wait for the whole context ends the captures of all other threads, whatever their mode.
TEST(captures_end_by_calls_that_concern_the_context) {
  const auto each = [](auto call, bool ends = true) {
    for (const int mode : {kThreadLocal, kRelaxed}) {
      Capturing c(mode);
      std::thread([&]() {
        uintptr_t ctx = 0;
        EQUAL(cuDevicePrimaryCtxRetain(&ctx, 0), 0);
        EQUAL(cuCtxSetCurrent(ctx), 0);
        call(c);
        EQUAL(cuDevicePrimaryCtxRelease_v2(0), 0);
      }).join();
      EQUAL(state().misuse[kCaptureBroken] > 0, ends);
      c.end(ends ? kCaptureInvalidated : 0);
      state().misuse[kCaptureBroken] = 0;
    }
  };
  each([](Capturing& c) { EQUAL(cuStreamSynchronize(c.other), 0); }, false);
  each([](Capturing& c) { EQUAL(cuMemsetD8Async(c.p, 0, 4, c.other), 0); }, false);
  each([](Capturing&) {
    uint64_t q = 0;
    EQUAL(cuMemAlloc_v2(&q, 8), 0);
    EQUAL(cuMemFree_v2(q), 0);
  });
  each([](Capturing&) {
    void* q = nullptr;
    EQUAL(cuMemHostAlloc(&q, 8, 0), 0);
    EQUAL(cuMemFreeHost(q), 0);
  });
  each([](Capturing&) {
    uintptr_t h = 0;
    EQUAL(cublasCreate_v2(&h), 0);
    EQUAL(cublasDestroy_v2(h), 0);
  });
  each([](Capturing&) {
    uintptr_t h = 0;
    EQUAL(cusolverDnCreate(&h), 0);
    EQUAL(cusolverDnDestroy(h), 0);
  });
  each([](Capturing& c) {
    const char v = 1;
    EQUAL(cuMemcpyHtoD_v2(c.p, &v, 1), 0);
  });
}

TEST(legacy_stream_is_refused_beside_a_blocking_capture) {
  test::Device d;
  uint64_t s = 0, p = 0;
  uintptr_t g = 0;
  EQUAL(cuMemAlloc_v2(&p, 4), 0);
  EQUAL(cuStreamCreate(&s, 0), 0);
  EQUAL(cuStreamBeginCapture_v2(s, kRelaxed), 0);
  EQUAL(cuMemsetD8Async(p, 0, 4, 0), kCaptureImplicit);
  EQUAL(cuStreamEndCapture(s, &g), kCaptureInvalidated);
  EQUAL(cuStreamDestroy_v2(s), 0);
  EQUAL(cuMemFree_v2(p), 0);
}

// Every node runs once, after all nodes that it depends on; of two that may run, the later goes first.
TEST(graphs_keep_their_order) {
  Graph g;
  g.nodes.resize(6);
  g.nodes[1].after = {0};
  g.nodes[2].after = {0};
  g.nodes[3].after = {1, 2};
  g.nodes[5].after = {4, 3};
  const std::vector<int> want = {4, 0, 2, 1, 3, 5}, got = execution_order(g);
  EQUAL(got.size(), want.size());
  for (size_t i = 0; i < got.size(); i++) EQUAL(got[i], want[i]);
}

// a = *in; on another stream b = a; then c = b and *out = c. The graph runs twice, with another *in.
TEST(graphs_run_as_captured) {
  test::Device d;
  uint64_t p = 0, other = 0, fork = 0, join = 0;
  uintptr_t graph = 0, exec = 0;
  int32_t *in = nullptr, *out = nullptr;
  EQUAL(cuMemHostAlloc(reinterpret_cast<void**>(&in), 4, 0), 0);
  EQUAL(cuMemHostAlloc(reinterpret_cast<void**>(&out), 4, 0), 0);
  EQUAL(cuMemAlloc_v2(&p, 12), 0);
  EQUAL(cuStreamCreate(&other, 1), 0);
  EQUAL(cuEventCreate(&fork, 2), 0);
  EQUAL(cuEventCreate(&join, 2), 0);
  EQUAL(cuStreamBeginCapture_v2(d.stream, kThreadLocal), 0);
  EQUAL(cuMemcpyHtoDAsync_v2(p, in, 4, d.stream), 0);
  EQUAL(cuEventRecord(fork, d.stream), 0);
  EQUAL(cuStreamWaitEvent(other, fork, 0), 0);
  EQUAL(cuMemcpyDtoDAsync_v2(p + 4, p, 4, other), 0);
  EQUAL(cuEventRecord(join, other), 0);
  EQUAL(cuStreamWaitEvent(d.stream, join, 0), 0);
  EQUAL(cuMemcpyDtoDAsync_v2(p + 8, p + 4, 4, d.stream), 0);
  EQUAL(cuMemcpyDtoHAsync_v2(out, p + 8, 4, d.stream), 0);
  EQUAL(cuStreamEndCapture(d.stream, &graph), 0);
  EQUAL(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
  EQUAL(cuGraphDestroy(graph), 0);
  for (const int32_t v : {41, 42}) {
    *in = v;
    *out = 0;
    EQUAL(cuGraphLaunch(exec, d.stream), 0);
    EQUAL(*out, 0);
    EQUAL(cuStreamSynchronize(d.stream), 0);
    EQUAL(*out, v);
  }
  EQUAL(state().live[kExecs], 1);
  EQUAL(state().live[kGraphs], 0);
  EQUAL(cuMemFree_v2(p), 0);
  EQUAL(cuGraphLaunch(exec, d.stream), 0);  // its memory is gone
  EQUAL(cuStreamSynchronize(d.stream), kIllegalAddress);
  EQUAL(state().misuse[kBadPointer], 1);
  EQUAL(cuGraphExecDestroy(exec), 0);
  EQUAL(cuMemFreeHost(in), kIllegalAddress);
  EQUAL(cuMemFreeHost(out), kIllegalAddress);
  EQUAL(cuStreamDestroy_v2(other), kIllegalAddress);
  EQUAL(cuEventDestroy_v2(fork), kIllegalAddress);
  EQUAL(cuEventDestroy_v2(join), kIllegalAddress);
}
