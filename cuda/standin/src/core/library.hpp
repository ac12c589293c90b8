// What every entry point does first: take the lock, count and log the call, and look
// for an ordered fault.
#pragma once

#include <mutex>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace standin {

// Kinds of library, as the control functions number them.
enum LibraryKind { kDriver, kBlas, kBlasLt, kSolver, kSparse, kJitLink, kNvrtc, kLibraryKinds };

// Library describes one shared library and is compiled into it, so that the same object
// files serve both families of CUDA, and stubs.
struct Library {
  LibraryKind kind;
  int family;   // 12 or 13
  int stub;     // 1: a link-time stub, every call returns stub_code
  int generic;  // the code of a failure that was ordered without one
  int lost;     // the code when the device is lost, 0 if the library needs no device
  int stub_code;
};

std::recursive_mutex& lock();

// Call is a call in progress. It holds the lock, and counts and logs the call. code is
// the error that the call has to return, 0 for none.
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

// RELEASE is the whole body of a function that frees something. It frees even where a
// fault was ordered, as the driver does when a free reports an earlier failure; only a
// stub does nothing.
#define RELEASE(T, work)                                          \
  standin::Call call_(standin_library, __func__);                 \
  if (standin_library.stub != 0) return static_cast<T>(call_.code); \
  const T done_ = (work);                                         \
  return call_.code != 0 ? static_cast<T>(call_.code) : done_
