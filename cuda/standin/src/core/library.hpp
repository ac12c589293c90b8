// What every entry point does first: take the lock, be counted, be logged, and
// ask whether a fault was ordered.
#pragma once

#include <mutex>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace standin {

// Kinds of library, as the control functions number them.
enum LibraryKind { kDriver, kBlas, kBlasLt, kSolver, kSparse, kJitLink, kNvrtc, kLibraryKinds };

// One per shared library, compiled into it: the same objects serve both
// families of CUDA, and stubs.
struct Library {
  LibraryKind kind;
  int family;   // 12 or 13
  int stub;     // 1: a link-time stub, every call returns stub_code
  int generic;  // the code of a failure that was ordered without one
  int lost;     // the code when the device is lost, 0 where it does not matter
  int stub_code;
};

std::recursive_mutex& lock();

// The n-th call of any function of any library, and per function.
class Call {
 public:
  Call(const Library& library, const char* function);
  int code;

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

}  // namespace standin

// Defined by info.cpp in each library.
extern const standin::Library standin_library;

#define ENTER(T)                                   \
  standin::Call call_(standin_library, __func__);  \
  if (call_.code != 0) return static_cast<T>(call_.code)

// RELEASE is the whole of a function that gives something back: it does so also
// where a fault was ordered, as the driver does that reports an older failure
// from a free; only a stub does nothing.
#define RELEASE(T, work)                                          \
  standin::Call call_(standin_library, __func__);                 \
  if (standin_library.stub != 0) return static_cast<T>(call_.code); \
  const T done_ = (work);                                         \
  return call_.code != 0 ? static_cast<T>(call_.code) : done_
