#pragma once

#include <cmath>

#include "core/handle.hpp"
#include "solver/dense.hpp"

namespace standin {

enum SolverStatus {
  kSolverOk = 0,
  kSolverNotInitialized = 1,
  kSolverAllocFailed = 2,
  kSolverInvalid = 3,
  kSolverExecution = 6,
  kSolverInternal = 7
};

int solver_handle(uintptr_t h, Handle** out);

// solver_submit appends a routine to the handle's stream. It fails in a capture: the real
// routines wait for the device.
int solver_submit(Handle* h, Work run);

Matrix load(uint64_t p, int64_t rows, int64_t columns, int64_t stride);
void store(const Matrix& from, int64_t rows, int64_t columns, uint64_t p, int64_t stride);
void put_info(uint64_t p, int32_t value);
inline int foreign() { return misused("an operand of cuSOLVER is not in device memory"); }
// spoil fills a matrix that a routine leaves undefined with NaN.
void spoil(uint64_t p, int64_t rows, int64_t columns, int64_t stride);

}  // namespace standin

#define ENTER_SOLVER(handle, h)        \
  ENTER(int32_t);                      \
  standin::Handle* h = nullptr;        \
  if (const int bad_ = standin::solver_handle(handle, &h); bad_ != 0) return bad_
