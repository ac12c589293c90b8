// Device and pinned memory. Device pointers are addresses of the host's own
// memory, each block between guard zones and filled with NaN when new.
#pragma once

#include <cstddef>
#include <cstdint>

namespace standin {

struct Context;

// Driver results used in more than one place.
enum {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinary = 209,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kPrimaryActive = 708,
  kContextDestroyed = 709,
  kLaunchFailed = 719,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kUnknown = 999,
};

int allocate(Context* ctx, size_t n, bool pinned, uintptr_t* out);
int release(uintptr_t p, bool pinned);

// on_device reports whether [p, p+n) lies in one live block of device memory; pinned, in
// one of pinned memory.
bool on_device(uintptr_t p, size_t n);
bool pinned(uintptr_t p, size_t n);
bool known(uintptr_t p);  // inside any live block, or one past its end

// Room is device memory that an object holds outside of blocks: code, a handle's
// workspace, a graph's nodes. The order takes says how much for each function, by default none.
class Room {
 public:
  Room() = default;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room();
  // take reserves what the function called last needs. It returns false if that is not free.
  bool take(Context* ctx);

 private:
  Context* ctx_ = nullptr;
  size_t n_ = 0;
};

void check_guards();
void release_all(const Context* ctx);  // all blocks of ctx, or of every context for nullptr

}  // namespace standin
