#include <cstring>
#include <thread>

#include "core/memory.hpp"
#include "core/state.hpp"
#include "test/test.hpp"

using namespace standin;

TEST(memory_is_checked) {
  test::Device d;
  state().memory = 1 << 20;
  uint64_t p = 0, q = 0, free = 0, total = 0;
  EQUAL(cuMemAlloc_v2(&p, 0), kInvalidValue);
  EQUAL(cuMemAlloc_v2(&p, 1 << 19), 0);
  EQUAL(p % 256, 0u);
  EQUAL(cuMemAlloc_v2(&q, (1 << 19) + 1), kOutOfMemory);
  EQUAL(cuMemAlloc_v2(&q, ~uint64_t(0) - 100), kOutOfMemory);
  EQUAL(cuMemGetInfo_v2(&free, &total), 0);
  EQUAL(free, 1u << 19);
  EQUAL(total, 1u << 20);
  std::vector<float> host(1 << 17);
  EQUAL(cuMemcpyDtoH_v2(host.data(), p, 1 << 19), 0);
  EQUAL(std::isnan(host[0]) && std::isnan(host.back()), true);
  EQUAL(cuMemcpyDtoH_v2(host.data(), p + 4, 1 << 19), kInvalidValue);
  EQUAL(cuMemcpyHtoD_v2(p - 1, host.data(), 8), kInvalidValue);
  EQUAL(cuMemcpyDtoDAsync_v2(p, reinterpret_cast<uintptr_t>(host.data()), 8, d.stream), kInvalidValue);
  EQUAL(cuMemFree_v2(p + 256), kInvalidValue);
  EQUAL(cuMemFree_v2(p), 0);
  EQUAL(cuMemFree_v2(p), kInvalidValue);
  EQUAL(cuMemFree_v2(0), 0);
  void* pin = nullptr;
  EQUAL(cuMemHostAlloc(&pin, 100, 0), 0);
  EQUAL(cuMemFree_v2(reinterpret_cast<uintptr_t>(pin)), kInvalidValue);
  EQUAL(cuMemFreeHost(pin), 0);
  EQUAL(cuMemFreeHost(pin), kInvalidValue);
}

// Handles take memory as ordered, and give it back when they are destroyed.
TEST(other_things_take_memory) {
  test::Device d;
  state().memory = 1 << 20;
  state().takes["cublasCreate_v2"] = 1 << 19;
  state().takes["cusolverDnCreate"] = 1 << 20;
  uint64_t p = 0, free = 0, total = 0;
  uintptr_t blas = 0, second = 0, solver = 0;
  EQUAL(cublasCreate_v2(&blas), 0);
  EQUAL(cuMemGetInfo_v2(&free, &total), 0);
  EQUAL(free, 1u << 19);
  EQUAL(cuMemAlloc_v2(&p, (1 << 19) + 1), kOutOfMemory);
  EQUAL(cuMemAlloc_v2(&p, 1 << 10), 0);
  EQUAL(cublasCreate_v2(&second), 3);
  EQUAL(cuMemFree_v2(p), 0);
  EQUAL(cublasCreate_v2(&second), 0);
  EQUAL(cusolverDnCreate(&solver), 2);
  EQUAL(cublasDestroy_v2(blas), 0);
  EQUAL(cublasDestroy_v2(second), 0);
  EQUAL(cusolverDnCreate(&solver), 0);
  EQUAL(cusolverDnDestroy(solver), 0);
  EQUAL(cuMemGetInfo_v2(&free, &total), 0);
  EQUAL(free, 1u << 20);
}

TEST(a_write_beside_a_block_is_found) {
  for (const int64_t at : {-1, 5}) {
    test::Device d;
    uint64_t p = 0;
    EQUAL(cuMemAlloc_v2(&p, 5), 0);
    check_guards();
    EQUAL(state().misuse[kGuardBroken], 0);
    *(reinterpret_cast<char*>(p) + at) = 0;
    EQUAL(cuMemFree_v2(p), 0);
    EQUAL(state().misuse[kGuardBroken], 1);
    state().misuse[kGuardBroken] = 0;
  }
}

TEST(contexts_belong_to_threads) {
  uint64_t p = 0, stream = 0;
  uintptr_t ctx = 0;
  EQUAL(cuInit(1), kInvalidValue);
  EQUAL(cuInit(0), 0);
  EQUAL(cuMemAlloc_v2(&p, 8), kInvalidContext);
  EQUAL(cuDevicePrimaryCtxRetain(&ctx, 1), kInvalidDevice);
  EQUAL(cuDevicePrimaryCtxRetain(&ctx, 0), 0);
  EQUAL(cuDevicePrimaryCtxRetain(&ctx, 0), 0);
  EQUAL(state().live[kContexts], 1);
  EQUAL(cuCtxSetCurrent(ctx), 0);
  EQUAL(cuStreamCreate(&stream, 1), 0);
  std::thread([&]() {
    EQUAL(cuStreamSynchronize(stream), kInvalidContext);
    EQUAL(cuStreamDestroy_v2(stream), kInvalidContext);
  }).join();
  EQUAL(cuStreamDestroy_v2(stream), 0);
  EQUAL(cuStreamDestroy_v2(stream), kInvalidHandle);
  EQUAL(cuDevicePrimaryCtxRelease_v2(0), 0);
  EQUAL(cuMemAlloc_v2(&p, 8), 0);
  EQUAL(cuMemFree_v2(p), 0);
  EQUAL(cuDevicePrimaryCtxRelease_v2(0), 0);
  EQUAL(cuMemAlloc_v2(&p, 8), kContextDestroyed);
  EQUAL(cuDevicePrimaryCtxRelease_v2(0), kInvalidContext);
  EQUAL(cuCtxSetCurrent(ctx), kContextDestroyed);
  EQUAL(cuCtxSetCurrent(0), 0);
}

// A thread can do nothing with a context that it has not made current, even if another thread has.
TEST(calls_need_a_current_context) {
  test::Device d;
  uint64_t p = 0, event = 0, free = 0, total = 0;
  uintptr_t graph = 0, exec = 0;
  void* pin = nullptr;
  EQUAL(cuMemAlloc_v2(&p, 8), 0);
  EQUAL(cuMemHostAlloc(&pin, 8, 0), 0);
  EQUAL(cuEventCreate(&event, 0), 0);
  EQUAL(cuStreamBeginCapture_v2(d.stream, 1), 0);
  EQUAL(cuStreamEndCapture(d.stream, &graph), 0);
  EQUAL(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
  std::thread([&]() {
    uint64_t q = 0;
    uintptr_t h = 0;
    int32_t v = 0;
    void* other = nullptr;
    EQUAL(cuMemGetInfo_v2(&free, &total), kInvalidContext);
    EQUAL(cuMemAlloc_v2(&q, 8), kInvalidContext);
    EQUAL(cuMemFree_v2(p), kInvalidContext);
    EQUAL(cuMemHostAlloc(&other, 8, 0), kInvalidContext);
    EQUAL(cuMemFreeHost(pin), kInvalidContext);
    EQUAL(cuMemcpyHtoD_v2(p, pin, 8), kInvalidContext);
    EQUAL(cuMemcpyDtoH_v2(pin, p, 8), kInvalidContext);
    EQUAL(cuMemcpyHtoDAsync_v2(p, pin, 8, d.stream), kInvalidContext);
    EQUAL(cuMemcpyDtoHAsync_v2(pin, p, 8, d.stream), kInvalidContext);
    EQUAL(cuMemcpyDtoDAsync_v2(p, p, 8, d.stream), kInvalidContext);
    EQUAL(cuMemsetD8Async(p, 0, 8, d.stream), kInvalidContext);
    EQUAL(cuStreamCreate(&q, 1), kInvalidContext);
    EQUAL(cuStreamSynchronize(d.stream), kInvalidContext);
    EQUAL(cuStreamQuery(d.stream), kInvalidContext);
    EQUAL(cuStreamWaitEvent(d.stream, event, 0), kInvalidContext);
    EQUAL(cuEventCreate(&q, 0), kInvalidContext);
    EQUAL(cuEventRecord(event, d.stream), kInvalidContext);
    EQUAL(cuEventSynchronize(event), kInvalidContext);
    EQUAL(cuEventDestroy_v2(event), kInvalidContext);
    EQUAL(cuModuleLoadData(&h, pin), kInvalidContext);
    EQUAL(cuModuleUnload(1), kInvalidContext);
    EQUAL(cuModuleGetFunction(&h, 1, "f"), kInvalidContext);
    EQUAL(cuFuncGetAttribute(&v, 0, 1), kInvalidContext);
    EQUAL(cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, d.stream, nullptr, nullptr), kInvalidContext);
    EQUAL(cuStreamBeginCapture_v2(d.stream, 1), kInvalidContext);
    EQUAL(cuStreamEndCapture(d.stream, &h), kInvalidContext);
    EQUAL(cuGraphInstantiateWithFlags(&h, graph, 0), kInvalidContext);
    EQUAL(cuGraphLaunch(exec, d.stream), kInvalidContext);
    EQUAL(cublasCreate_v2(&h), 1);
    EQUAL(cusolverDnCreate(&h), 1);
  }).join();
  EQUAL(cuGraphExecDestroy(exec), 0);
  EQUAL(cuGraphDestroy(graph), 0);
  EQUAL(cuEventDestroy_v2(event), 0);
  EQUAL(cuMemFreeHost(pin), 0);
  EQUAL(cuMemFree_v2(p), 0);
}

TEST(devices_are_described) {
  state().devices = 2;
  int32_t n = 0, v = 0;
  char name[64];
  EQUAL(cuDeviceGetCount(&n), 0);
  EQUAL(n, 2);
  EQUAL(cuDeviceGet(&v, 2), kInvalidDevice);
  EQUAL(cuDeviceGetName(name, sizeof name, 1), 0);
  EQUAL(std::strcmp(name, "Stand-in H200"), 0);
  EQUAL(cuDeviceGetAttribute(&v, 75, 1), 0);
  EQUAL(v, 9);
  EQUAL(cuDeviceGetAttribute(&v, 16, 1), 0);
  EQUAL(v, 132);
  EQUAL(cuDeviceGetAttribute(&v, 9999, 1), kInvalidValue);
}
