#pragma once

#include <cstdint>
#include <vector>

namespace standin {

struct Target {
  int arch = 0;
  bool ptx = true;
};

// architectures lists what a family's compiler knows, ascending.
const std::vector<int>& architectures(int family);

// read_options returns nullptr, or the first option that it refuses.
const char* read_options(int family, int32_t n, const char* const* options, Target* target);

}  // namespace standin
