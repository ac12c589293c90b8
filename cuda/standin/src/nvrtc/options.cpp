#include "nvrtc/options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace standin {

const std::vector<int>& architectures(int family) {
  static const std::vector<int> k12 = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 120};
  static const std::vector<int> k13 = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  return family == 12 ? k12 : k13;
}

namespace {

bool starts(const char* s, const char* prefix) { return std::strncmp(s, prefix, std::strlen(prefix)) == 0; }

bool read_arch(int family, const char* value, Target* target) {
  int arch = 0, used = 0;
  target->ptx = starts(value, "compute_");
  if (std::sscanf(value, target->ptx ? "compute_%d%n" : "sm_%d%n", &arch, &used) != 1) return false;
  if (value[used] != 0 && std::strcmp(value + used, "a") != 0) return false;
  const auto& known = architectures(family);
  if (std::find(known.begin(), known.end(), arch) == known.end()) return false;
  target->arch = arch;
  return true;
}

bool known_option(const std::string& o) {
  static const char* const kExact[] = {"--minimal",    "-lineinfo",         "--generate-line-info", "-G",
                                       "--device-debug", "--use_fast_math", "-use_fast_math",       "-default-device",
                                       "--device-as-default-execution-space", "-w", "--disable-warnings", "--restrict",
                                       "-restrict", "--extra-device-vectorization"};
  static const char* const kPrefix[] = {"-D",       "-I",          "--define-macro=", "-std=",      "--std=",       "-fmad=",
                                        "--fmad=",  "--maxrregcount=", "-maxrregcount=", "--include-path=", "--ftz=", "-ftz=",
                                        "--prec-div=", "-prec-div=", "--prec-sqrt=", "-prec-sqrt=",
                                        "-diag-suppress=", "--diag-suppress=", "-split-compile="};
  for (const char* e : kExact)
    if (o == e) return true;
  for (const char* p : kPrefix)
    if (starts(o.c_str(), p)) return true;
  return false;
}

}  // namespace

const char* read_options(int family, int32_t n, const char* const* options, Target* target) {
  target->arch = architectures(family).front();
  target->ptx = true;
  for (int32_t i = 0; i < n; i++) {
    const char* o = options[i];
    const char* value = nullptr;
    for (const char* key : {"-arch=", "--gpu-architecture=", "-arch ", "--gpu-architecture "})
      if (starts(o, key)) value = o + std::strlen(key);
    if (value != nullptr ? !read_arch(family, value, target) : !known_option(o)) return o;
  }
  return nullptr;
}

}  // namespace standin
