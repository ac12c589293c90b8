// Conversions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "thread.h"

namespace ptx {

namespace {

float half_to_float(uint16_t h) {
  int exponent = h >> 10 & 31;
  float fraction = float(h & 1023) / 1024;
  float v = exponent == 0    ? std::ldexp(fraction, -14)
            : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                             : std::ldexp(1 + fraction, exponent - 15);
  return h & 0x8000 ? -v : v;
}

// to_tf32 rounds to the nearest number of 11 significant bits, ties away from zero.
float to_tf32(float v) {
  if (!std::isfinite(v) || v == 0) return v;
  int quantum = std::max(std::ilogb(v), -126) - 10;
  return float(std::ldexp(std::round(std::ldexp(double(v), -quantum)), quantum));
}

// truncate converts a float to an integer, towards zero, and a float out of range to the nearest integer in range. NaN
// becomes 0, or only the highest bit if one of the types has 64 bits.
template <class To, class From> To truncate(From v) {
  using limits = std::numeric_limits<To>;
  constexpr bool wide = sizeof(To) == 8 || sizeof(From) == 8;
  if (v != v) return wide ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
  v = std::trunc(v);
  if (v <= From(limits::min())) return limits::min();
  if (v >= From(limits::max())) return limits::max();
  return To(v);
}

template <class To, class From> void integers(Operations &all, const std::string &to, const std::string &from) {
  COMPUTE1("cvt" + to + from, To, From, a);
}

template <class From> void from_integer(Operations &all, const std::string &from) {
  integers<int8_t, From>(all, ".s8", from);
  integers<uint8_t, From>(all, ".u8", from);
  integers<int16_t, From>(all, ".s16", from);
  integers<uint16_t, From>(all, ".u16", from);
  integers<int32_t, From>(all, ".s32", from);
  integers<uint32_t, From>(all, ".u32", from);
  integers<int64_t, From>(all, ".s64", from);
  integers<uint64_t, From>(all, ".u64", from);
  integers<float, From>(all, ".rn.f32", from);
  integers<double, From>(all, ".rn.f64", from);
  COMPUTE1("cvt.rzi" + from + ".f32", From, float, (truncate<From, float>(a)));
  COMPUTE1("cvt.rzi" + from + ".f64", From, double, (truncate<From, double>(a)));
}

} // namespace

void add_conversions(Operations &all) {
  from_integer<int8_t>(all, ".s8");
  from_integer<uint8_t>(all, ".u8");
  from_integer<int16_t>(all, ".s16");
  from_integer<uint16_t>(all, ".u16");
  from_integer<int32_t>(all, ".s32");
  from_integer<uint32_t>(all, ".u32");
  from_integer<int64_t>(all, ".s64");
  from_integer<uint64_t>(all, ".u64");
  COMPUTE1("cvt.f64.f32", double, float, a);
  COMPUTE1("cvt.rn.f32.f64", float, double, a);
  COMPUTE1("cvt.f32.f16", float, uint16_t, half_to_float(a));
  COMPUTE1("cvt.rna.tf32.f32", float, float, to_tf32(a));
  // An address of global memory is the same as a generic one.
  COMPUTE1("cvta.global.u64", uint64_t, uint64_t, a);
  COMPUTE1("cvta.to.global.u64", uint64_t, uint64_t, a);
  COMPUTE1("cvta.shared.u64", uint64_t, uint64_t, a + shared_window);
  COMPUTE1("cvta.to.shared.u64", uint64_t, uint64_t, a - shared_window);
}

} // namespace ptx
