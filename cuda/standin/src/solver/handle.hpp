#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "core/abi.hpp"
#include "core/memory.hpp"
#include "core/objects.hpp"
#include "core/stream.hpp"
#include "solver/dense.hpp"

namespace standin {

enum SolverStatus { kSolverOk = 0, kSolverNotInitialized = 1, kSolverInvalid = 3, kSolverExecution = 6, kSolverInternal = 7 };

struct SolverHandle {
  Context* ctx = nullptr;
  std::shared_ptr<Stream> stream;
};

int solver_handle(uintptr_t h, SolverHandle** out);

// solver_submit puts a routine into the handle's stream. None may be captured:
// the real ones wait for the device inside.
int solver_submit(SolverHandle* h, Work run);

inline size_t span(int64_t rows, int64_t columns, int64_t stride) {
  return rows == 0 || columns == 0 ? 0 : static_cast<size_t>((columns - 1) * stride + rows);
}

template <class T>
bool there(uint64_t p, size_t elements) {
  return elements == 0 || on_device(p, elements * sizeof(T));
}

Matrix load(uint64_t p, int64_t rows, int64_t columns, int64_t stride);
void store(const Matrix& from, int64_t rows, int64_t columns, uint64_t p, int64_t stride);
void put_info(uint64_t p, int32_t value);
// spoil fills what a routine leaves undefined with NaN.
void spoil(uint64_t p, int64_t rows, int64_t columns, int64_t stride);

}  // namespace standin

#define NEED_SOLVER(handle, h)         \
  standin::SolverHandle* h = nullptr;  \
  if (const int bad_ = standin::solver_handle(handle, &h); bad_ != 0) return bad_
