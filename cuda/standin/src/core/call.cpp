#include "core/library.hpp"
#include "core/state.hpp"
#include "core/stream.hpp"

namespace standin {

Call::Call(const Library& library, const char* function) : code(0), guard_(lock()) {
  State& s = state();
  s.calls++;
  s.latest = function;
  s.count[function]++;
  if (s.log_calls) s.log.emplace_back(function);
  if (library.stub != 0) {
    code = library.stub_code;
    return;
  }
  for (size_t i = 0; i < s.faults.size(); i++) {
    Fault& f = s.faults[i];
    if (f.function != "*" && f.function != function) continue;
    if (f.remaining > 1) {
      f.remaining--;
      continue;
    }
    code = f.code != 0 ? f.code : library.generic;
    if (!f.forever) s.faults.erase(s.faults.begin() + static_cast<long>(i));
    if (library.kind == kDriver && sticky(code)) poison_current(code);
    return;
  }
  if (library.lost != 0 && lost(current_device())) code = library.lost;
}

}  // namespace standin
