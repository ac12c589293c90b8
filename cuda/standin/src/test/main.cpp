#include <cstdlib>
#include <cstring>

#include "core/state.hpp"
#include "core/stream.hpp"
#include "test/test.hpp"

namespace test {

namespace {
int failures = 0;
const char* running = "";
uint64_t used = 0;  // the stream of the last Device
}  // namespace

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

void fail(const char* file, int line, const char* what, double got, double want) {
  failures++;
  std::printf("%s: %s:%d: %s = %.17g, expected %.17g\n", running, file, line, what, got, want);
}

std::mt19937_64& random() {
  static std::mt19937_64 r;
  return r;
}

double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random()); }

Device::Device() {
  uintptr_t ctx = 0;
  EQUAL(cuInit(0), 0);
  EQUAL(cuDevicePrimaryCtxRetain(&ctx, 0), 0);
  EQUAL(cuCtxSetCurrent(ctx), 0);
  EQUAL(cuStreamCreate(&stream, 1), 0);
  used = stream;
}

Device::~Device() {
  cuStreamDestroy_v2(stream);
  EQUAL(cuDevicePrimaryCtxRelease_v2(0), 0);
  EQUAL(cuCtxSetCurrent(0), 0);
}

template <class T>
uint64_t put(const std::vector<T>& v) {
  uint64_t p = 0;
  EQUAL(cuMemAlloc_v2(&p, (v.size() + 1) * sizeof(T)), 0);
  EQUAL(cuMemcpyHtoD_v2(p, v.data(), v.size() * sizeof(T)), 0);
  return p;
}

uint64_t upload(const std::vector<double>& v) { return put(v); }
uint64_t upload(const std::vector<float>& v) { return put(v); }
uint64_t upload(const std::vector<int32_t>& v) { return put(v); }

template <class T>
std::vector<T> download(uint64_t p, size_t n) {
  std::vector<T> v(n);
  EQUAL(cuStreamSynchronize(used), 0);
  EQUAL(cuMemcpyDtoH_v2(v.data(), p, n * sizeof(T)), 0);
  return v;
}

template std::vector<double> download(uint64_t, size_t);
template std::vector<float> download(uint64_t, size_t);
template std::vector<int32_t> download(uint64_t, size_t);

}  // namespace test

// usage: program SEED
int main(int argc, char** argv) {
  if (argc > 1) test::random().seed(std::strtoull(argv[1], nullptr, 10));
  for (const test::Case& c : test::cases()) {
    test::running = c.name;
    standin::reset();
    c.run();
    standin::reset();
    for (int k = 0; k < standin::kKinds; k++)
      if (standin::state().live[k] != 0)
        test::fail(c.name, k, "objects left of the kind in place of the line", double(standin::state().live[k]), 0);
    standin::drop_everything();
    for (int k = 0; k < standin::kKinds; k++) standin::state().live[k] = 0;
  }
  std::printf("%zu cases, %d failures\n", test::cases().size(), test::failures);
  return test::failures != 0;
}
