#include "core/memory.hpp"
#include "core/state.hpp"
#include "test/test.hpp"

using namespace standin;

namespace {

struct Pinned {
  int32_t* v = nullptr;
  Pinned() { EQUAL(cuMemHostAlloc(reinterpret_cast<void**>(&v), 4, 0), 0); }
  ~Pinned() { EQUAL(cuMemFreeHost(v), 0); }
};

}  // namespace

// A copy sends the bytes that its buffer holds when it runs, and a read of its result
// before a wait sees the old bytes.
TEST(work_is_late) {
  test::Device d;
  Pinned in, out;
  uint64_t p = 0;
  EQUAL(cuMemAlloc_v2(&p, 4), 0);
  *in.v = 1;
  *out.v = -1;
  EQUAL(cuMemcpyHtoDAsync_v2(p, in.v, 4, d.stream), 0);
  EQUAL(cuMemcpyDtoHAsync_v2(out.v, p, 4, d.stream), 0);
  *in.v = 2;
  EQUAL(*out.v, -1);
  EQUAL(cuStreamQuery(d.stream), kNotReady);
  EQUAL(*out.v, -1);
  EQUAL(cuStreamQuery(d.stream), kNotReady);
  EQUAL(*out.v, 2);
  EQUAL(cuStreamQuery(d.stream), 0);
  int32_t pageable = 3;
  EQUAL(cuMemcpyHtoDAsync_v2(p, &pageable, 4, d.stream), 0);
  EQUAL(state().misuse[kPageableAsync], 1);
  EQUAL(cuStreamSynchronize(d.stream), 0);
  EQUAL(cuMemFree_v2(p), 0);
}

TEST(events_order_streams) {
  for (const bool waits : {false, true}) {
    test::Device d;
    Pinned in, out;
    uint64_t p = 0, other = 0, event = 0;
    EQUAL(cuMemAlloc_v2(&p, 4), 0);
    EQUAL(cuStreamCreate(&other, 1), 0);
    EQUAL(cuEventCreate(&event, 0), 0);
    EQUAL(cuMemsetD8Async(p, 7, 4, other), 0);
    EQUAL(cuStreamSynchronize(other), 0);
    *in.v = 9;
    EQUAL(cuMemcpyHtoDAsync_v2(p, in.v, 4, d.stream), 0);
    EQUAL(cuEventRecord(event, d.stream), 0);
    if (waits) EQUAL(cuStreamWaitEvent(other, event, 0), 0);
    EQUAL(cuMemcpyDtoHAsync_v2(out.v, p, 4, other), 0);
    EQUAL(cuStreamSynchronize(other), 0);
    EQUAL(*out.v, waits ? 9 : 0x07070707);
    EQUAL(cuEventDestroy_v2(event), 0);
    EQUAL(cuEventDestroy_v2(event), kInvalidHandle);
    EQUAL(cuStreamDestroy_v2(other), 0);
    EQUAL(cuMemFree_v2(p), 0);
  }
}

// A blocking stream and the null stream wait for one another; others do not.
TEST(null_stream_orders_blocking_ones) {
  for (const uint32_t flags : {0u, 1u}) {
    test::Device d;
    uint64_t p = 0, s = 0;
    EQUAL(cuMemAlloc_v2(&p, 4), 0);
    EQUAL(cuMemsetD8Async(p, 5, 4, 0), 0);
    EQUAL(cuStreamSynchronize(0), 0);
    EQUAL(cuStreamCreate(&s, flags), 0);
    EQUAL(cuMemsetD8Async(p, 6, 4, s), 0);
    int32_t got = 0;
    EQUAL(cuMemcpyDtoH_v2(&got, p, 4), 0);
    EQUAL(got, flags == 0 ? 0x06060606 : 0x05050505);
    EQUAL(cuStreamDestroy_v2(s), 0);
    EQUAL(cuMemFree_v2(p), 0);
  }
}

TEST(copies_of_freed_memory_are_refused) {
  test::Device d;
  Pinned out;
  uint64_t p = 0;
  EQUAL(cuMemAlloc_v2(&p, 4), 0);
  EQUAL(cuMemFree_v2(p), 0);
  EQUAL(cuMemcpyDtoHAsync_v2(out.v, p, 4, d.stream), kInvalidValue);
}
