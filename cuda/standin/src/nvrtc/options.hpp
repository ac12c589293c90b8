#pragma once

#include <cstdint>
#include <vector>

namespace standin {

struct Target {
  int arch = 0;
  bool ptx = true;
};

// architectures returns the architectures that a family's compiler knows, ascending.
const std::vector<int>& architectures(int family);

// read_options sets target from the options. It returns nullptr, or the first option that
// it refuses.
const char* read_options(int family, int32_t n, const char* const* options, Target* target);

}  // namespace standin
