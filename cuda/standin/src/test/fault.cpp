#include "core/control.hpp"
#include "core/memory.hpp"
#include "core/state.hpp"
#include "test/test.hpp"

using namespace standin;

TEST(faults_strike_the_nth_call) {
  test::Device d;
  uint64_t p = 0;
  EQUAL(configure(state(), "fail=cuMemAlloc_v2:2:2") == nullptr, true);
  EQUAL(cuMemAlloc_v2(&p, 8), 0);
  EQUAL(cuMemFree_v2(p), 0);
  EQUAL(cuMemAlloc_v2(&p, 8), kOutOfMemory);
  EQUAL(cuMemAlloc_v2(&p, 8), 0);
  EQUAL(cuMemFree_v2(p), 0);
  EQUAL(configure(state(), "fail=cuStreamQuery:1:0:forever") == nullptr, true);
  EQUAL(cuStreamQuery(d.stream), 304);
  EQUAL(cuStreamQuery(d.stream), 304);
  reset();
  EQUAL(configure(state(), "fail=*:2:1") == nullptr, true);
  EQUAL(cuStreamSynchronize(d.stream), 0);
  EQUAL(cuStreamSynchronize(d.stream), 1);
  EQUAL(cuStreamSynchronize(d.stream), 0);
}

// A call that frees does so even if it fails; a fatal code ends the context.
TEST(faults_in_frees_free) {
  test::Device d;
  uint64_t p = 0, event = 0;
  uintptr_t graph = 0;
  EQUAL(cuMemAlloc_v2(&p, 8), 0);
  EQUAL(cuEventCreate(&event, 0), 0);
  EQUAL(configure(state(), "fail=cuMemFree_v2:1:0;fail=cuEventDestroy_v2:1:0;fail=cuStreamEndCapture:1:0") == nullptr, true);
  EQUAL(cuMemFree_v2(p), 304);
  EQUAL(cuEventDestroy_v2(event), 304);
  EQUAL(cuStreamBeginCapture_v2(d.stream, 1), 0);
  EQUAL(cuStreamEndCapture(d.stream, &graph), 304);
  EQUAL(graph, 0u);
  EQUAL(cuStreamSynchronize(d.stream), 0);
  for (int k = kDeviceBlocks; k < kKinds; k++) EQUAL(state().live[k], k == kStreams);
  EQUAL(configure(state(), "fail=cuStreamQuery:1:700") == nullptr, true);
  EQUAL(cuStreamQuery(d.stream), kIllegalAddress);
  EQUAL(cuStreamSynchronize(d.stream), kIllegalAddress);
}

TEST(orders_are_checked) {
  for (const char* bad : {"fail=x", "fail=x:0:1", "fail=x:1:1:always", "devices=-1", "work=0:1", "cc=9", "lost=1", "nonsense"})
    EQUAL(configure(state(), bad) != nullptr, true);
  EQUAL(configure(state(), "devices=3;;memory=1000;driver=12020;cc=8.6;version=1:11;log") == nullptr, true);
  EQUAL(state().devices, 3);
  EQUAL(state().cc_minor, 6);
  int32_t v = 0;
  EQUAL(cuDriverGetVersion(&v), 0);
  EQUAL(v, 12020);
  EQUAL(cublasGetProperty(0, &v), 0);
  EQUAL(v, 11);
  EQUAL(state().log.size(), 2u);
}

// A failed operation surfaces when something waits, and ends the context for good.
TEST(late_failures_end_the_context) {
  {
    test::Device d;
    uint64_t p = 0, q = 0, blas = 0;
    EQUAL(cuMemAlloc_v2(&p, 8), 0);
    EQUAL(cuMemAlloc_v2(&q, 8), 0);
    EQUAL(cublasCreate_v2(&blas), 0);
    EQUAL(configure(state(), "work=2:719") == nullptr, true);
    EQUAL(cuMemsetD8Async(p, 1, 8, d.stream), 0);
    EQUAL(cuMemsetD8Async(p, 2, 8, d.stream), 0);
    EQUAL(cuMemsetD8Async(p, 3, 8, d.stream), 0);
    EQUAL(cuStreamSynchronize(d.stream), kLaunchFailed);
    EQUAL(*reinterpret_cast<char*>(p), 1);
    EQUAL(cuStreamSynchronize(d.stream), kLaunchFailed);
    EQUAL(cuMemAlloc_v2(&p, 8), kLaunchFailed);
    EQUAL(cuMemFree_v2(p), kLaunchFailed);
    EQUAL(state().live[kDeviceBlocks], 1);
    EQUAL(cublasDestroy_v2(blas) != 0, true);
  }
  EQUAL(state().live[kDeviceBlocks], 0);
  EQUAL(state().live[kBlasHandles], 0);
  test::Device again;
  uint64_t p = 0;
  EQUAL(cuMemAlloc_v2(&p, 8), 0);
  EQUAL(cuMemFree_v2(p), 0);
}

TEST(a_lost_device_answers_nothing) {
  test::Device d;
  uint64_t p = 0, q = 0;
  EQUAL(cuMemAlloc_v2(&p, 8), 0);
  EQUAL(cuMemAlloc_v2(&q, 8), 0);
  state().lost = true;
  EQUAL(cuMemAlloc_v2(&p, 8), kUnknown);
  EQUAL(cuStreamSynchronize(d.stream), kUnknown);
  EQUAL(cuMemFree_v2(p), kUnknown);
  EQUAL(state().live[kDeviceBlocks], 1);  // q, which is freed with the context
  EQUAL(cuDevicePrimaryCtxRelease_v2(0), kUnknown);
  EQUAL(state().live[kDeviceBlocks], 0);
  state().lost = false;
  uintptr_t ctx = 0;
  EQUAL(cuDevicePrimaryCtxRetain(&ctx, 0), 0);  // released by the destructor of d
}
