#include "core/state.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/control.hpp"
#include "core/library.hpp"
#include "core/memory.hpp"

namespace standin {

std::recursive_mutex& lock() {
  static std::recursive_mutex m;
  return m;
}

namespace {

int64_t own_counters[kKinds + kMisuses];

// counters returns the counters. If AMTRL_STANDIN_COUNTERS names a file they lie in that,
// so that they survive the process however it ends.
int64_t* counters() {
  const char* path = std::getenv("AMTRL_STANDIN_COUNTERS");
  if (path == nullptr) return own_counters;
  const int fd = open(path, O_RDWR | O_CREAT, 0644);
  if (fd < 0 || ftruncate(fd, sizeof own_counters) != 0) {
    std::fprintf(stderr, "standin: %s: %s\n", path, std::strerror(errno));
    std::abort();
  }
  void* p = mmap(nullptr, sizeof own_counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (p == MAP_FAILED) std::abort();
  return static_cast<int64_t*>(p);
}

std::string last_misuse;

State* make() {
  auto* s = new State;
  s->live = counters();
  s->misuse = s->live + kKinds;
  return s;
}

}  // namespace

State& state() {
  static State* s = [] {
    State* fresh = make();
    if (const char* orders = std::getenv("AMTRL_STANDIN")) {
      if (const char* bad = configure(*fresh, orders)) {
        std::fprintf(stderr, "standin: AMTRL_STANDIN=%s: bad order at %s\n", orders, bad);
        std::abort();
      }
    }
    return fresh;
  }();
  return *s;
}

bool lost(int device) {
  const auto it = state().work_left.find(device);
  return state().lost || (it != state().work_left.end() && it->second <= 0);
}

void count(Kind kind, int64_t by) { state().live[kind] += by; }

void misuse(Misuse what, const std::string& note) {
  state().misuse[what]++;
  last_misuse = note;
}

int misused(const std::string& note) {
  misuse(kBadPointer, note);
  return kIllegalAddress;
}

const char* misuse_note() { return last_misuse.c_str(); }

void reset() {
  State& s = state();
  int64_t* const live = s.live;
  int64_t* const wrong = s.misuse;
  s = State{};
  s.live = live;
  s.misuse = wrong;
  for (int i = 0; i < kMisuses; i++) wrong[i] = 0;
  last_misuse.clear();
}

}  // namespace standin
