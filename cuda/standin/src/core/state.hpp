// Settings, counters and faults of the process, all guarded by lock().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace standin {

// Live objects, in the order of the Go package's Live.
enum Kind {
  kContexts,
  kDeviceBlocks,
  kDeviceBytes,
  kPinnedBlocks,
  kStreams,
  kEvents,
  kModules,
  kGraphs,
  kExecs,
  kBlasHandles,
  kSolverHandles,
  kPrograms,
  kKinds
};

// Mistakes that a real device forgives or does not notice, and that tests do not forgive.
enum Misuse {
  kPageableAsync,  // an asynchronous copy of memory that is not pinned
  kGuardBroken,    // a write beside a block
  kBadPointer,     // a kernel or copy accessed memory that is not the device's
  kCaptureBroken,  // a call of one thread ended the capture of another
  kMisuses
};

struct Fault {
  std::string function;  // a name, or "*" for all
  long remaining;        // calls until it strikes, 1 = the next
  int code;              // 0: the library's generic code
  bool forever;
};

struct State {
  int devices = 1;
  size_t memory = size_t(141) << 30;
  std::map<int, size_t> memories;  // by device: its memory, if not the usual one
  int driver_version = 13000;
  int cc_major = 9, cc_minor = 0;
  int version[8] = {0};  // by LibraryKind: what a library reports, 0 for its family's
  bool lost = false;
  std::map<int, long> work_left;  // by device: operations until it is lost
  std::map<int, std::string> names;  // by device: its name, if not the usual one
  bool log_calls = false;
  std::map<std::string, size_t> takes;  // by function: bytes that it takes outside of blocks

  int connections = 0;  // CUDA_DEVICE_MAX_CONNECTIONS as cuInit found it

  long calls = 0;
  const char* latest = "";  // the function called last
  std::map<std::string, long> count;
  std::vector<std::string> log;
  std::vector<Fault> faults;

  long work = 0;       // operations executed
  long work_fault = 0; // number of the operation that fails, 0 for none
  int work_code = 0;

  // Counts by Kind and by Misuse, in a file shared with the parent process if the
  // environment names one.
  int64_t* live;
  int64_t* misuse;
};

State& state();

// memory_of returns the memory of a device.
inline size_t memory_of(int device) {
  const auto it = state().memories.find(device);
  return it == state().memories.end() ? state().memory : it->second;
}
bool lost(int device);
void count(Kind kind, int64_t by = 1);
void misuse(Misuse what, const std::string& note);
int misused(const std::string& note);  // counts a kBadPointer; returns kIllegalAddress
const char* misuse_note();
void reset();  // resets settings, counters and faults; objects stay

}  // namespace standin
