#include "core/control.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include "core/library.hpp"
#include "core/memory.hpp"
#include "core/state.hpp"
#include "core/stream.hpp"

namespace standin {

namespace {

bool fail_order(State& s, const char* v) {
  char name[80] = "", tail[16] = "";
  long nth = 0;
  int code = 0;
  const int n = std::sscanf(v, "%79[^:]:%ld:%d:%15s", name, &nth, &code, tail);
  if (n < 3 || nth < 1 || (n == 4 && std::strcmp(tail, "forever") != 0)) return false;
  s.faults.push_back({name, nth, code, n == 4});
  return true;
}

bool obey(State& s, const std::string& order) {
  const size_t eq = order.find('=');
  const std::string key = order.substr(0, eq);
  const std::string value = eq == std::string::npos ? "" : order.substr(eq + 1);
  const char* v = value.c_str();
  long n = 0;
  int a = 0, b = 0;
  if (key == "lost" && value.empty()) return s.lost = true;
  if (key == "lost" && std::sscanf(v, "%d:%ld", &a, &n) == 2) {
    s.work_left[a] = n;
    return true;
  }
  if (key == "name" && std::sscanf(v, "%d:%n", &a, &b) == 1 && b > 0) {
    s.names[a] = v + b;
    return true;
  }
  if (key == "log" && value.empty()) return s.log_calls = true;
  if (key == "fail") return fail_order(s, v);
  if (key == "devices" && std::sscanf(v, "%d", &a) == 1 && a >= 0 && a <= 16) {
    s.devices = a;
    return true;
  }
  if (key == "memory" && std::sscanf(v, "%d:%ld", &a, &n) == 2 && n >= 0) {
    s.memories[a] = static_cast<size_t>(n);
    return true;
  }
  if (key == "memory" && std::sscanf(v, "%ld", &n) == 1 && n >= 0) {
    s.memory = static_cast<size_t>(n);
    return true;
  }
  if (key == "takes" && v[0] != ':' && std::sscanf(v, "%*[^:]:%ld", &n) == 1 && n >= 0) {
    s.takes[value.substr(0, value.find(':'))] = static_cast<size_t>(n);
    return true;
  }
  if (key == "driver" && std::sscanf(v, "%d", &a) == 1) {
    s.driver_version = a;
    return true;
  }
  if (key == "cc" && std::sscanf(v, "%d.%d", &a, &b) == 2) {
    s.cc_major = a;
    s.cc_minor = b;
    return true;
  }
  if (key == "version" && std::sscanf(v, "%d:%d", &a, &b) == 2 && a >= 0 && a < kLibraryKinds) {
    s.version[a] = b;
    return true;
  }
  if (key == "work" && std::sscanf(v, "%ld:%d", &n, &a) == 2 && n >= 1) {
    s.work_fault = s.work + n;
    s.work_code = a;
    return true;
  }
  return false;
}

}  // namespace

const char* configure(State& s, const char* orders) {
  const char* p = orders;
  while (*p != 0) {
    const char* end = std::strchr(p, ';');
    const size_t n = end != nullptr ? static_cast<size_t>(end - p) : std::strlen(p);
    if (n > 0 && !obey(s, std::string(p, n))) return p;
    p += n;
    if (*p == ';') p++;
  }
  return nullptr;
}

}  // namespace standin

using standin::state;

using Guard = std::lock_guard<std::recursive_mutex>;

// standin_order obeys orders (see configure). It returns 0, or 1 plus the offset of the
// first order that it does not understand.
STANDIN_API int standin_order(const char* orders) {
  Guard g(standin::lock());
  const char* bad = standin::configure(state(), orders);
  return bad == nullptr ? 0 : 1 + static_cast<int>(bad - orders);
}

STANDIN_API void standin_reset(void) {
  Guard g(standin::lock());
  standin::reset();
}

// standin_calls returns the number of calls of a function, or of all functions for "*".
STANDIN_API long standin_calls(const char* name) {
  Guard g(standin::lock());
  if (std::strcmp(name, "*") == 0) return state().calls;
  const auto it = state().count.find(name);
  return it == state().count.end() ? 0 : it->second;
}

// standin_function returns the i-th name, in alphabetical order, of the functions called
// so far, or nullptr.
STANDIN_API const char* standin_function(int i) {
  Guard g(standin::lock());
  for (const auto& kv : state().count)
    if (i-- == 0) return kv.first.c_str();
  return nullptr;
}

// standin_logged returns the name of the i-th call since logging was ordered, or nullptr.
STANDIN_API const char* standin_logged(int i) {
  Guard g(standin::lock());
  return static_cast<size_t>(i) < state().log.size() ? state().log[static_cast<size_t>(i)].c_str() : nullptr;
}

STANDIN_API long standin_work(void) {
  Guard g(standin::lock());
  return state().work;
}

STANDIN_API int standin_connections(void) {
  Guard g(standin::lock());
  return state().connections;
}

STANDIN_API int standin_kinds(void) { return standin::kKinds; }

STANDIN_API long long standin_live(int kind) {
  Guard g(standin::lock());
  return kind >= 0 && kind < standin::kKinds ? state().live[kind] : -1;
}

STANDIN_API int standin_misuses(void) { return standin::kMisuses; }

STANDIN_API long long standin_misuse(int what) {
  Guard g(standin::lock());
  standin::check_guards();
  return what >= 0 && what < standin::kMisuses ? state().misuse[what] : -1;
}

STANDIN_API const char* standin_misuse_note(void) {
  Guard g(standin::lock());
  return standin::misuse_note();
}

// standin_drop ends all contexts and frees all objects, which makes all handles invalid.
STANDIN_API void standin_drop(void) {
  Guard g(standin::lock());
  standin::drop_everything();
}
