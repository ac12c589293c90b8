#include <cstring>

#include "driver/common.hpp"

using namespace standin;

namespace {

uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// copy_work returns the work of a copy. Its device ranges must still be allocated when it runs.
Work copy_work(uintptr_t dst, bool dst_device, uintptr_t src, bool src_device, size_t n) {
  return counted([=]() -> int {
    if ((dst_device && !on_device(dst, n)) || (src_device && !on_device(src, n)))
      return misused("a copy of memory that was freed before it ran");
    std::memmove(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), n);
    return kSuccess;
  });
}

// copy_now copies through the null stream and waits for it, but not for streams made with
// NON_BLOCKING.
int copy_now(Context* ctx, uintptr_t dst, bool dst_device, uintptr_t src, bool src_device, size_t n) {
  if (const int e = sync_copy_call(ctx)) return e;
  if (n == 0) return kSuccess;
  if ((dst_device && !on_device(dst, n)) || (src_device && !on_device(src, n))) return kInvalidValue;
  Stream* null = ctx->null_stream.get();
  if (const int e = enqueue(null, copy_work(dst, dst_device, src, src_device, n))) return e;
  return drain(null);
}

int copy_later(Stream* s, uintptr_t dst, bool dst_device, uintptr_t src, bool src_device, size_t n) {
  if (n == 0) return kSuccess;
  if ((dst_device && !on_device(dst, n)) || (src_device && !on_device(src, n))) return kInvalidValue;
  const bool pageable = (!dst_device && !pinned(dst, n)) || (!src_device && !pinned(src, n));
  if (pageable) {
    misuse(kPageableAsync, "an asynchronous copy of " + std::to_string(n) + " bytes of memory that is not pinned");
  }
  if (const int e = enqueue(s, copy_work(dst, dst_device, src, src_device, n))) return e;
  // As with the driver, a copy to pageable memory is done when the call returns.
  return pageable && !dst_device && s->capture == nullptr ? drain(s) : kSuccess;
}

}  // namespace

int32_t cuMemcpyHtoD_v2(uint64_t dst, const void* src, uint64_t bytes) {
  ENTER_CONTEXT(ctx);
  return copy_now(ctx, dst, true, address(src), false, bytes);
}

int32_t cuMemcpyDtoH_v2(void* dst, uint64_t src, uint64_t bytes) {
  ENTER_CONTEXT(ctx);
  return copy_now(ctx, address(dst), false, src, true, bytes);
}

int32_t cuMemcpyHtoDAsync_v2(uint64_t dst, const void* src, uint64_t bytes, uintptr_t stream) {
  ENTER_STREAM(stream, ctx, s);
  return copy_later(s, dst, true, address(src), false, bytes);
}

int32_t cuMemcpyDtoHAsync_v2(void* dst, uint64_t src, uint64_t bytes, uintptr_t stream) {
  ENTER_STREAM(stream, ctx, s);
  return copy_later(s, address(dst), false, src, true, bytes);
}

int32_t cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, uint64_t bytes, uintptr_t stream) {
  ENTER_STREAM(stream, ctx, s);
  return copy_later(s, dst, true, src, true, bytes);
}

int32_t cuMemsetD8Async(uint64_t p, uint8_t value, uint64_t n, uintptr_t stream) {
  ENTER_STREAM(stream, ctx, s);
  if (n == 0) return kSuccess;
  if (!on_device(p, n)) return kInvalidValue;
  return enqueue(s, counted([=]() -> int {
    if (!on_device(p, n)) return misused("a fill of memory that was freed before it ran");
    std::memset(reinterpret_cast<void*>(p), value, n);
    return kSuccess;
  }));
}
