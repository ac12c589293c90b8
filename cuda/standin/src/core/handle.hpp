// What the handles of cuBLAS and cuSOLVER have in common.
#pragma once

#include <cstdint>
#include <memory>

#include "core/abi.hpp"
#include "core/memory.hpp"
#include "core/module.hpp"
#include "core/objects.hpp"
#include "core/stream.hpp"

namespace standin {

struct Handle {
  Context* ctx = nullptr;
  std::shared_ptr<Stream> stream;
  Room room;
};

// working reports whether this thread's context works and, for a handle, is the handle's.
inline bool working(Context** ctx) { return current(ctx) == 0; }
inline bool working(const Handle* h) {
  Context* ctx = nullptr;
  return working(&ctx) && ctx == h->ctx;
}

enum class Made { kDone, kNoContext, kNoMemory };

// make adds a handle of the current context, on its null stream, and writes it to *out.
template <class H>
Made make(Table<H>& handles, uintptr_t* out) {
  Context* ctx = nullptr;
  if (!working(&ctx) || whole_context_call(ctx) != 0) return Made::kNoContext;
  auto h = std::make_shared<H>();
  if (!h->room.take(ctx)) return Made::kNoMemory;
  h->ctx = ctx;
  h->stream = ctx->null_stream;
  *out = reinterpret_cast<uintptr_t>(handles.add(h));
  return Made::kDone;
}

// set_stream sets the stream of a handle. It returns false if the stream is not of the
// handle's context.
inline bool set_stream(Handle* h, uintptr_t stream) {
  std::shared_ptr<Stream> s = stream <= 1 ? h->ctx->null_stream : streams().share(reinterpret_cast<const void*>(stream));
  if (s == nullptr || s->ctx != h->ctx) return false;
  h->stream = s;
  return true;
}

inline bool submit(const Handle* h, Work run) { return enqueue(h->stream.get(), counted(std::move(run))) == 0; }

// span returns the number of elements from the first to the last one of a column-major
// matrix.
inline size_t span(int64_t rows, int64_t columns, int64_t stride) {
  return rows == 0 || columns == 0 ? 0 : static_cast<size_t>((columns - 1) * stride + rows);
}

template <class T>
bool there(uint64_t p, size_t elements) {
  return elements == 0 || on_device(p, elements * sizeof(T));
}

}  // namespace standin
