#include "core/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "core/state.hpp"
#include "core/stream.hpp"
#include "host.h"

namespace standin {

namespace {

constexpr size_t kGuard = 256;  // also the alignment the driver promises
constexpr unsigned char kGuardByte = 0xA5;

struct Block {
  unsigned char* raw;
  size_t n;
  Context* ctx;
  bool pinned;
  bool broken = false;
};

std::map<uintptr_t, Block>& blocks() {
  static auto* m = new std::map<uintptr_t, Block>;
  return *m;
}

size_t rounded(size_t n) { return (n + kGuard - 1) / kGuard * kGuard; }

// check looks for writes to the guard zones of a block. The zone after it begins right
// at its end, so that a write of one byte too many is noticed.
void check(uintptr_t at, Block& b) {
  if (b.broken) return;
  const unsigned char* front = b.raw;
  const unsigned char* back = b.raw + kGuard + b.n;
  const size_t behind = kGuard + rounded(b.n) - b.n;
  for (size_t i = 0; i < kGuard; i++) b.broken |= front[i] != kGuardByte;
  for (size_t i = 0; i < behind; i++) b.broken |= back[i] != kGuardByte;
  if (b.broken) misuse(kGuardBroken, "a write beside the block of " + std::to_string(b.n) + " bytes at " + std::to_string(at));
}

void drop(std::map<uintptr_t, Block>::iterator it) {
  Block& b = it->second;
  check(it->first, b);
  if (b.pinned) {
    count(kPinnedBlocks, -1);
  } else {
    count(kDeviceBlocks, -1);
    count(kDeviceBytes, -static_cast<int64_t>(b.n));
    b.ctx->used -= rounded(b.n);
  }
  host_memory_ends(b.raw + kGuard);
  std::free(b.raw);
  blocks().erase(it);
}

const std::pair<const uintptr_t, Block>* find(uintptr_t p) {
  auto it = blocks().upper_bound(p);
  if (it == blocks().begin()) return nullptr;
  --it;
  return p <= it->first + it->second.n ? &*it : nullptr;
}

bool inside(uintptr_t p, size_t n, bool pin) {
  const auto* b = find(p);
  return b != nullptr && b->second.pinned == pin && n <= b->second.n && p - b->first <= b->second.n - n;
}

}  // namespace

int allocate(Context* ctx, size_t n, bool pin, uintptr_t* out) {
  if (n == 0) return kInvalidValue;
  const size_t memory = memory_of(ctx->device);
  if (!pin && (n > memory || rounded(n) > memory - ctx->used)) return kOutOfMemory;
  if (n > (size_t(1) << 46)) return kOutOfMemory;
  auto* raw = static_cast<unsigned char*>(std::aligned_alloc(kGuard, rounded(n) + 2 * kGuard));
  if (raw == nullptr) return kOutOfMemory;
  std::memset(raw, kGuardByte, kGuard);
  std::memset(raw + kGuard, 0xFF, n);
  std::memset(raw + kGuard + n, kGuardByte, rounded(n) - n + kGuard);
  *out = reinterpret_cast<uintptr_t>(raw + kGuard);
  blocks()[*out] = {raw, n, ctx, pin};
  host_memory(raw + kGuard, n);
  if (pin) {
    count(kPinnedBlocks);
  } else {
    count(kDeviceBlocks);
    count(kDeviceBytes, static_cast<int64_t>(n));
    ctx->used += rounded(n);
  }
  return kSuccess;
}

bool Room::take(Context* ctx) {
  const auto it = state().takes.find(state().latest);
  if (it == state().takes.end()) return true;
  const size_t memory = memory_of(ctx->device);
  if (ctx->used > memory || it->second > memory - ctx->used) return false;
  ctx_ = ctx;
  n_ = it->second;
  ctx->used += n_;
  return true;
}

// A context that has ended has set used to 0 already.
Room::~Room() {
  if (ctx_ != nullptr) ctx_->used -= std::min(n_, ctx_->used);
}

int release(uintptr_t p, bool pin) {
  const auto it = blocks().find(p);
  if (it == blocks().end() || it->second.pinned != pin) return kInvalidValue;
  drop(it);
  return kSuccess;
}

bool on_device(uintptr_t p, size_t n) { return inside(p, n, false); }
bool pinned(uintptr_t p, size_t n) { return inside(p, n, true); }
bool known(uintptr_t p) { return find(p) != nullptr; }

void check_guards() {
  for (auto& kv : blocks()) check(kv.first, kv.second);
}

void release_all(const Context* ctx) {
  for (auto it = blocks().begin(); it != blocks().end();) {
    const auto next = std::next(it);
    if (ctx == nullptr || it->second.ctx == ctx) drop(it);
    it = next;
  }
}

}  // namespace standin
