// Sums, products, comparisons.
#include <cmath>

#include "thread.h"

namespace ptx {

namespace {

// compare defines the comparisons that integers and floats share. They are false if an operand is NaN.
template <class T> void compare(Operations &all, const std::string &type) {
  COMPUTE2("setp.eq" + type, bool, T, a == b);
  COMPUTE2("setp.lt" + type, bool, T, a < b);
  COMPUTE2("setp.le" + type, bool, T, a <= b);
  COMPUTE2("setp.gt" + type, bool, T, a > b);
  COMPUTE2("setp.ge" + type, bool, T, a >= b);
}

template <class T> T divide(const Thread &t, const Instruction &i, T a, T b) {
  if (b == 0) fail(t, i, "divides by zero");
  if (std::is_signed<T>::value && b == T(-1)) return T(0 - std::make_unsigned_t<T>(a)); // the lowest number is its own negative
  return T(a / b);
}

// integer defines the operations on T. U is the unsigned type of the same width, W is twice as wide.
template <class T, class U, class W> void integer(Operations &all, const std::string &type) {
  constexpr unsigned width = 8 * sizeof(T);
  compare<T>(all, type);
  COMPUTE2("setp.ne" + type, bool, T, a != b);
  COMPUTE2("add" + type, T, T, W(a) + W(b));
  COMPUTE2("sub" + type, T, T, W(a) - W(b));
  COMPUTE1("neg" + type, T, T, W(0) - W(a));
  COMPUTE2("min" + type, T, T, b < a ? b : a);
  COMPUTE2("max" + type, T, T, a < b ? b : a);
  COMPUTE2("mul.lo" + type, T, T, W(a) * W(b));
  COMPUTE2("mul.hi" + type, T, T, W(a) * W(b) >> width);
  COMPUTE3("mad.lo" + type, T, T, U(W(a) * W(b)) + U(c));
  COMPUTE2("div" + type, T, T, divide(t, i, a, b));
  if constexpr (width < 64) COMPUTE2("mul.wide" + type, W, T, W(a) * W(b));
  // A shift by the width or more shifts out all bits.
  all["shr" + type] = {[](Thread &t, const Instruction &i) -> const Instruction * {
                         uint32_t n = get<uint32_t>(t, i.slot[2]);
                         T a = get<T>(t, i.slot[1]);
                         set<T>(t, i.slot[0], T(W(a) >> (n < width ? n : width)), known<2>(t, i));
                         return &i + 1;
                       }, 3};
}

template <class T> void floating(Operations &all, const std::string &type) {
  compare<T>(all, type);
  COMPUTE2("setp.ne" + type, bool, T, a < b || a > b);
  COMPUTE2("setp.equ" + type, bool, T, !(a < b || a > b));
  COMPUTE2("setp.neu" + type, bool, T, !(a == b));
  COMPUTE2("setp.ltu" + type, bool, T, !(a >= b));
  COMPUTE2("setp.leu" + type, bool, T, !(a > b));
  COMPUTE2("setp.gtu" + type, bool, T, !(a <= b));
  COMPUTE2("setp.geu" + type, bool, T, !(a < b));
  COMPUTE2("setp.num" + type, bool, T, a == a && b == b);
  COMPUTE2("setp.nan" + type, bool, T, a != a || b != b);
  for (const char *round : {"", ".rn"}) {
    COMPUTE2("add" + (round + type), T, T, a + b);
    COMPUTE2("sub" + (round + type), T, T, a - b);
    COMPUTE2("mul" + (round + type), T, T, a * b);
  }
  COMPUTE3("fma.rn" + type, T, T, std::fma(a, b, c));
  COMPUTE2("div.rn" + type, T, T, a / b);
  COMPUTE1("sqrt.rn" + type, T, T, std::sqrt(a));
  COMPUTE1("abs" + type, T, T, std::fabs(a));
  COMPUTE1("neg" + type, T, T, -a);
  COMPUTE2("min" + type, T, T, std::fmin(a, b));
  COMPUTE2("max" + type, T, T, std::fmax(a, b));
}

} // namespace

void add_arithmetic(Operations &all) {
  integer<int16_t, uint16_t, int32_t>(all, ".s16");
  integer<uint16_t, uint16_t, uint32_t>(all, ".u16");
  integer<int32_t, uint32_t, int64_t>(all, ".s32");
  integer<uint32_t, uint32_t, uint64_t>(all, ".u32");
  integer<int64_t, uint64_t, __int128>(all, ".s64");
  integer<uint64_t, uint64_t, unsigned __int128>(all, ".u64");
  floating<float>(all, ".f32");
  floating<double>(all, ".f64");
  COMPUTE2("min.relu.s32", int32_t, int32_t, std::fmax(std::fmin(a, b), 0));
}

} // namespace ptx
