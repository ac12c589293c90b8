// A minimal test framework: cases register themselves, and checks that fail print.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "core/abi.hpp"

namespace test {

struct Case {
  const char* name;
  void (*run)();
};

std::vector<Case>& cases();
void fail(const char* file, int line, const char* what, double got, double want);
std::mt19937_64& random();  // seeded by the first argument of the program

struct Register {
  Register(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

// Device makes the context of device 0 current and creates a stream, while it lives.
struct Device {
  uint64_t stream = 0;
  Device();
  ~Device();
};

uint64_t upload(const std::vector<double>& v);
uint64_t upload(const std::vector<float>& v);
uint64_t upload(const std::vector<int32_t>& v);

template <class T>
std::vector<T> download(uint64_t p, size_t n);

double uniform();

}  // namespace test

#define TEST(name)                                          \
  static void test_##name();                                \
  static const test::Register register_##name(#name, test_##name); \
  static void test_##name()

#define EQUAL(got, want)                                                                                           \
  do {                                                                                                             \
    auto g_ = (got);                                                                                          \
    auto w_ = (want);                                                                                         \
    if (!(g_ == static_cast<decltype(g_)>(w_))) test::fail(__FILE__, __LINE__, #got, double(g_), double(w_)); \
  } while (0)

#define NEAR(got, want, tolerance)                                                             \
  do {                                                                                         \
    const double g_ = (got), w_ = (want);                                                      \
    if (!(std::fabs(g_ - w_) <= (tolerance))) test::fail(__FILE__, __LINE__, #got, g_, w_);    \
  } while (0)
