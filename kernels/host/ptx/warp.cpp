// What threads do together (barriers, exchanges in a warp, products on tensor cores), and branches and exits.
#include <cmath>

#include "thread.h"

namespace ptx {

namespace {

const Instruction *barrier(Thread &t, const Instruction &i) {
  if (get<uint32_t>(t, i.slot[0]) != 0) fail(t, i, "comes to a barrier other than 0");
  if (block.at_barrier++ == 0) block.barrier = &i;
  if (block.barrier != &i) {
    stop("thread %u comes to __syncthreads in %s, others wait at that in %s", t.number, where(i).c_str(), where(*block.barrier).c_str());
  }
  t.state = State::at_block;
  t.at = &i;
  if (block.at_barrier < block.count) return nullptr;
  block.at_barrier = 0;
  block.since = ++block.clock;
  for (unsigned k = 0; k < block.count; k++) {
    block.threads[k].state = State::ready;
    block.threads[k].at = &i + 1;
  }
  return nullptr;
}

// Together executes a warp operation for the lanes of a warp in mask.
using Together = void (*)(const Instruction &i, Thread *lanes, unsigned mask);

unsigned mask_of(const Thread &t, const Instruction &i, unsigned operand) {
  need(t, i, operand);
  return get<uint32_t>(t, i.slot[operand]);
}

// meet makes a lane wait until all lanes of mask have reached the instruction. The last one executes it for all.
const Instruction *meet(Thread &t, const Instruction &i, unsigned mask, Together together) {
  Warp &warp = block.warps[t.warp];
  if (!(mask >> t.lane & 1)) stop("thread %u: the mask of the warp operation in %s is %#x", t.number, where(i).c_str(), mask);
  mask &= warp.lanes;
  Meeting *m = warp.meetings, *end = m + warp.meeting_count;
  while (m != end && !(m->at == &i && m->mask == mask)) {
    if (m->arrived & mask) {
      stop("thread %u comes to the warp operation in %s, others of its warp wait at that in %s", t.number, where(i).c_str(),
           where(*m->at).c_str());
    }
    m++;
  }
  if (m == end) {
    *m = {&i, mask, 0};
    warp.meeting_count++;
  }
  m->arrived |= 1u << t.lane;
  t.state = State::at_warp;
  t.at = &i;
  if (m->arrived != mask) return nullptr;
  *m = warp.meetings[--warp.meeting_count];
  Thread *lanes = &block.threads[t.warp * 32];
  together(i, lanes, mask);
  for (unsigned k = 0; k < 32; k++) {
    if (!(mask >> k & 1)) continue;
    lanes[k].state = State::ready;
    lanes[k].at = &i + 1;
  }
  return nullptr;
}

void sync_warp(const Instruction &i, Thread *lanes, unsigned mask) {
  Warp &warp = block.warps[lanes->warp];
  if (mask != warp.lanes) fail(*lanes, i, "synchronises a part of a warp, which is not supported");
  warp.since = ++block.clock;
}

enum class Mode { up, down, butterfly, index };

// source returns the lane from which a lane reads, and sets inside to whether that is within its group; if not, it is the
// lane itself.
unsigned source(Mode mode, unsigned lane, unsigned b, unsigned c, bool &inside) {
  unsigned group = c >> 8 & 31, clamp = c & 31, first = lane & group, last = first | (clamp & ~group);
  b &= 31;
  int from = mode == Mode::up          ? int(lane) - int(b)
             : mode == Mode::down      ? int(lane + b)
             : mode == Mode::butterfly ? int(lane ^ b)
                                       : int(first | (b & ~group));
  inside = mode == Mode::up ? from >= int(last) : from <= int(last);
  return inside ? unsigned(from) : lane;
}

template <Mode mode> void shuffle(const Instruction &i, Thread *lanes, unsigned mask) {
  uint32_t values[32];
  bool known[32];
  for (unsigned k = 0; k < 32; k++) {
    known[k] = mask >> k & 1 && lanes[k].known[i.slot[2]];
    values[k] = mask >> k & 1 ? get<uint32_t>(lanes[k], i.slot[2]) : 0;
  }
  for (unsigned k = 0; k < 32; k++) {
    if (!(mask >> k & 1)) continue;
    bool inside;
    unsigned from = source(mode, k, get<uint32_t>(lanes[k], i.slot[3]), get<uint32_t>(lanes[k], i.slot[4]), inside);
    bool where_known = lanes[k].known[i.slot[3]] && lanes[k].known[i.slot[4]];
    set(lanes[k], i.slot[0], values[from], known[from] && where_known);
    set(lanes[k], i.slot[1], inside, where_known);
  }
}

void ballot(const Instruction &i, Thread *lanes, unsigned mask) {
  uint32_t votes = 0;
  for (unsigned k = 0; k < 32; k++) {
    if (!(mask >> k & 1)) continue;
    need(lanes[k], i, 1);
    votes |= uint32_t(get<bool>(lanes[k], i.slot[1])) << k;
  }
  for (unsigned k = 0; k < 32; k++) {
    if (mask >> k & 1) set(lanes[k], i.slot[0], votes, true);
  }
}

// tf32 returns an element of a factor, without its lowest 13 bits.
double tf32(const Thread &t, const Instruction &i, unsigned operand) {
  need(t, i, operand);
  uint32_t bits = get<uint32_t>(t, i.slot[operand]) & ~0x1fffu;
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

// product computes d = a b + c, where a is 16 by 8 and b 8 by 8, from the fragments of the PTX ISA. With group = lane / 4
// and number = lane % 4, a lane holds
//   - a0 and a2 in row group, a1 and a3 in row group + 8; a0 and a1 in column number, a2 and a3 in column number + 4;
//   - b0 in row number and b1 in row number + 4, both in column group;
//   - c0 and c1 in row group, c2 and c3 in row group + 8; c0 and c2 in column 2 number, c1 and c3 in column 2 number + 1.
// d has the places of c. Devices round the sums in different ways; the least exact truncate them, as is done here.
void product(const Instruction &i, Thread *lanes, unsigned mask) {
  if (mask != ~0u) fail(*lanes, i, "is executed by a part of a warp, with the mask %#x", mask);
  double a[16][8], b[8][8];
  for (unsigned lane = 0; lane < 32; lane++) {
    unsigned group = lane >> 2, number = lane & 3;
    for (unsigned k = 0; k < 4; k++) {
      a[k == 0 || k == 2 ? group : group + 8][k < 2 ? number : number + 4] = tf32(lanes[lane], i, 4 + k);
    }
    for (unsigned k = 0; k < 2; k++) b[k == 0 ? number : number + 4][group] = tf32(lanes[lane], i, 8 + k);
  }
  for (unsigned lane = 0; lane < 32; lane++) {
    unsigned group = lane >> 2, number = lane & 3;
    for (unsigned k = 0; k < 4; k++) {
      need(lanes[lane], i, 10 + k);
      unsigned row = k < 2 ? group : group + 8, column = number * 2 + (k & 1);
      double sum = get<float>(lanes[lane], i.slot[10 + k]);
      for (unsigned inner = 0; inner < 8; inner++) sum += a[row][inner] * b[inner][column];
      float cut = float(sum);
      if (std::isfinite(sum) && std::fabs(double(cut)) > std::fabs(sum)) cut = std::nextafter(cut, 0.0f);
      set(lanes[lane], i.slot[k], cut, true);
    }
  }
}

const Instruction *end(Thread &t, const Instruction &) {
  t.state = State::done;
  block.done++;
  return nullptr;
}

} // namespace

void add_warp(Operations &all) {
  all["bar.sync"] = all["barrier.sync"] = {barrier, 1};
  all["bar.warp.sync"] = {[](Thread &t, const Instruction &i) { return meet(t, i, mask_of(t, i, 0), sync_warp); }, 1};
  all["shfl.sync.up.b32"] = {[](Thread &t, const Instruction &i) { return meet(t, i, mask_of(t, i, 5), shuffle<Mode::up>); }, 6};
  all["shfl.sync.down.b32"] = {[](Thread &t, const Instruction &i) { return meet(t, i, mask_of(t, i, 5), shuffle<Mode::down>); }, 6};
  all["shfl.sync.bfly.b32"] = {[](Thread &t, const Instruction &i) { return meet(t, i, mask_of(t, i, 5), shuffle<Mode::butterfly>); }, 6};
  all["shfl.sync.idx.b32"] = {[](Thread &t, const Instruction &i) { return meet(t, i, mask_of(t, i, 5), shuffle<Mode::index>); }, 6};
  all["vote.sync.ballot.b32"] = {[](Thread &t, const Instruction &i) { return meet(t, i, mask_of(t, i, 2), ballot); }, 3};
  all["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"] = {
      [](Thread &t, const Instruction &i) { return meet(t, i, ~0u, product); }, 14};
  all["bra"] = all["bra.uni"] = {[](Thread &, const Instruction &i) { return i.target; }, 0};
  all["ret"] = all["exit"] = {end, 0};
}

} // namespace ptx
