// Moves, selections, bits.
#include "thread.h"

namespace ptx {

namespace {

// permute is prmt: it picks four of the eight bytes of a and then b, lowest first. If bit 3 of a selector is set, all bits
// of the result's byte are the sign bit of the one picked.
uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned k = 0; k < 4; k++) {
    unsigned s = selector >> 4 * k & 15;
    uint8_t byte = uint8_t(both >> 8 * (s & 7));
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= uint32_t(byte) << 8 * k;
  }
  return result;
}

// insert returns b with its length bits from position on replaced by the lowest bits of a.
template <class T> T insert(T a, T b, uint32_t position, uint32_t length) {
  constexpr uint32_t width = 8 * sizeof(T);
  for (uint32_t k = 0; k < (length & 255) && k + (position & 255) < width; k++) {
    T bit = T(1) << (k + (position & 255));
    b = a >> k & 1 ? b | bit : b & ~bit;
  }
  return b;
}

uint32_t reverse(uint32_t a) {
  uint32_t v = 0;
  for (unsigned k = 0; k < 32; k++) v |= (a >> k & 1) << (31 - k);
  return v;
}

template <class T> void move(Operations &all, const std::string &type) {
  COMPUTE1("mov" + type, T, T, a);
  all["selp" + type] = {[](Thread &t, const Instruction &i) -> const Instruction * {
                          unsigned from = i.slot[get<bool>(t, i.slot[3]) ? 1 : 2];
                          set<T>(t, i.slot[0], get<T>(t, from), t.known[i.slot[3]] & t.known[from]);
                          return &i + 1;
                        }, 4};
}

template <class T> void logic(Operations &all, const std::string &type) {
  COMPUTE2("and" + type, T, T, a & b);
  COMPUTE2("or" + type, T, T, a | b);
  COMPUTE2("xor" + type, T, T, a ^ b);
}

template <class T> void bitwise(Operations &all, const std::string &type) {
  constexpr uint32_t width = 8 * sizeof(T);
  move<T>(all, type);
  logic<T>(all, type);
  COMPUTE1("not" + type, T, T, ~a);
  COMPUTE2("setp.eq" + type, bool, T, a == b);
  COMPUTE2("setp.ne" + type, bool, T, a != b);
  all["shl" + type] = {[](Thread &t, const Instruction &i) -> const Instruction * {
                         uint32_t n = get<uint32_t>(t, i.slot[2]);
                         set<T>(t, i.slot[0], n < width ? T(get<T>(t, i.slot[1]) << n) : T(0), known<2>(t, i));
                         return &i + 1;
                       }, 3};
  all["shr" + type] = {[](Thread &t, const Instruction &i) -> const Instruction * {
                         uint32_t n = get<uint32_t>(t, i.slot[2]);
                         set<T>(t, i.slot[0], n < width ? T(get<T>(t, i.slot[1]) >> n) : T(0), known<2>(t, i));
                         return &i + 1;
                       }, 3};
  all["bfi" + type] = {[](Thread &t, const Instruction &i) -> const Instruction * {
                         T v = insert(get<T>(t, i.slot[1]), get<T>(t, i.slot[2]), get<uint32_t>(t, i.slot[3]), get<uint32_t>(t, i.slot[4]));
                         set<T>(t, i.slot[0], v, known<4>(t, i));
                         return &i + 1;
                       }, 5};
}

// pack defines the move of a vector of two into a register, c = {a, b}, and the move out of it, {a, b} = c, whose slots
// are in this order.
template <class Whole, class Part> void pack(Operations &all, const std::string &type) {
  all["pack" + type] = {[](Thread &t, const Instruction &i) -> const Instruction * {
                          Whole v = Whole(Whole(get<Part>(t, i.slot[2])) << 8 * sizeof(Part) | get<Part>(t, i.slot[1]));
                          set<Whole>(t, i.slot[0], v, known<2>(t, i));
                          return &i + 1;
                        }, 3};
  all["unpack" + type] = {[](Thread &t, const Instruction &i) -> const Instruction * {
                            Whole v = get<Whole>(t, i.slot[2]);
                            bool known = t.known[i.slot[2]];
                            set<Part>(t, i.slot[0], Part(v), known);
                            set<Part>(t, i.slot[1], Part(v >> 8 * sizeof(Part)), known);
                            return &i + 1;
                          }, 3};
}

} // namespace

void add_bits(Operations &all) {
  bitwise<uint16_t>(all, ".b16");
  bitwise<uint32_t>(all, ".b32");
  bitwise<uint64_t>(all, ".b64");
  logic<bool>(all, ".pred");
  COMPUTE1("not.pred", bool, bool, !a);
  COMPUTE1("mov.pred", bool, uint64_t, a & 1); // the constant for true is -1
  for (const char *kind : {".u", ".s"}) {
    move<uint16_t>(all, kind + std::string("16"));
    move<uint32_t>(all, kind + std::string("32"));
    move<uint64_t>(all, kind + std::string("64"));
  }
  move<float>(all, ".f32");
  move<double>(all, ".f64");
  pack<uint64_t, uint32_t>(all, ".b64");
  pack<uint32_t, uint16_t>(all, ".b32");
  COMPUTE3("prmt.b32", uint32_t, uint32_t, permute(a, b, c));
  COMPUTE1("brev.b32", uint32_t, uint32_t, reverse(a));
  COMPUTE1("bfind.shiftamt.u32", uint32_t, uint32_t, a == 0 ? -1 : __builtin_clz(a));
}

} // namespace ptx
