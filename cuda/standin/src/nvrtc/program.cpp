// The compiler: it finds the kernels of a source by name, and refuses a source whose
// brackets do not match or that includes a header that was not given.
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "core/abi.hpp"
#include "core/module.hpp"
#include "core/objects.hpp"
#include "nvrtc/options.hpp"
#include "nvrtc/scan.hpp"

namespace standin {

namespace {

enum {
  kOk = 0,
  kCreationFailure = 2,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
};

struct Program {
  std::string source, name, log, image;
  std::set<std::string> headers;
  bool ptx = false;
};

STANDIN_TABLE(programs, Program, kPrograms)

Program* find(uintptr_t h) { return programs().find(reinterpret_cast<const void*>(h)); }

int version_major() { return state().version[kNvrtc] != 0 ? state().version[kNvrtc] : standin_library.family; }

int size_of(uintptr_t h, bool ptx, uint64_t* bytes) {
  const Program* p = find(h);
  if (p == nullptr) return kInvalidProgram;
  *bytes = p->ptx == ptx ? p->image.size() : 0;
  return p->image.empty() ? kInvalidProgram : kOk;
}

int image_of(uintptr_t h, bool ptx, char* out) {
  const Program* p = find(h);
  if (p == nullptr || p->image.empty() || p->ptx != ptx) return kInvalidProgram;
  std::memcpy(out, p->image.data(), p->image.size());
  return kOk;
}

}  // namespace

}  // namespace standin

using namespace standin;

int32_t nvrtcVersion(int32_t* major, int32_t* minor) {
  ENTER(int32_t);
  *major = version_major();
  *minor = 99;  // no release has it: code that is cached by version cannot be taken for NVIDIA's
  return kOk;
}

int32_t nvrtcGetNumSupportedArchs(int32_t* n) {
  ENTER(int32_t);
  *n = static_cast<int32_t>(architectures(version_major()).size());
  return kOk;
}

int32_t nvrtcGetSupportedArchs(int32_t* archs) {
  ENTER(int32_t);
  for (int a : architectures(version_major())) *archs++ = a;
  return kOk;
}

int32_t nvrtcCreateProgram(uintptr_t* out, const char* source, const char* name, int32_t n, const char* const*, const char* const* names) {
  ENTER(int32_t);
  if (out == nullptr || source == nullptr || n < 0) return kInvalidInput;
  auto p = std::make_shared<Program>();
  p->source = source;
  p->name = name != nullptr ? name : "default_program";
  for (int32_t i = 0; i < n; i++) p->headers.insert(names[i]);
  *out = reinterpret_cast<uintptr_t>(programs().add(p));
  return kOk;
}

static int32_t destroy(uintptr_t* h) {
  if (h == nullptr || !programs().remove(reinterpret_cast<const void*>(*h))) return kInvalidProgram;
  *h = 0;
  return kOk;
}

int32_t nvrtcDestroyProgram(uintptr_t* h) { RELEASE(int32_t, destroy(h)); }

int32_t nvrtcCompileProgram(uintptr_t h, int32_t n, const char* const* options) {
  ENTER(int32_t);
  Program* p = find(h);
  if (p == nullptr) return kInvalidProgram;
  p->image.clear();
  p->log.clear();
  Target target;
  if (const char* bad = read_options(version_major(), n, options, &target)) {
    p->log = std::string("nvrtc: error: invalid value for --gpu-architecture or unknown option (") + bad + ")\n";
    return kInvalidOption;
  }
  Scan scan = scan_source(p->source, p->headers);
  if (!scan.error.empty()) {
    p->log = p->name + "(" + std::to_string(scan.line) + "): error: " + scan.error + "\n\n1 error detected in the compilation of \"" +
             p->name + "\".\n";
    return kCompilation;
  }
  Image image;
  image.arch = target.arch;
  image.ptx = target.ptx;
  image.source = fnv(p->source.data(), p->source.size());
  image.program = p->name.substr(p->name.rfind('/') + 1);
  image.kernels = scan.kernels;
  p->ptx = target.ptx;
  p->image = encode(image);
  return kOk;
}

// A program has PTX after compiling for a virtual architecture, and else a cubin.
#define STANDIN_IMAGE(name, ptx)                              \
  int32_t name##Size(uintptr_t h, uint64_t* bytes) {          \
    ENTER(int32_t);                                           \
    return size_of(h, ptx, bytes);                            \
  }                                                           \
  int32_t name(uintptr_t h, char* out) {                      \
    ENTER(int32_t);                                           \
    return image_of(h, ptx, out);                             \
  }

STANDIN_IMAGE(nvrtcGetCUBIN, false)
STANDIN_IMAGE(nvrtcGetPTX, true)

int32_t nvrtcGetProgramLogSize(uintptr_t h, uint64_t* bytes) {
  ENTER(int32_t);
  const Program* p = find(h);
  if (p == nullptr) return kInvalidProgram;
  *bytes = p->log.size() + 1;
  return kOk;
}

int32_t nvrtcGetProgramLog(uintptr_t h, char* log) {
  ENTER(int32_t);
  const Program* p = find(h);
  if (p == nullptr) return kInvalidProgram;
  std::memcpy(log, p->log.c_str(), p->log.size() + 1);
  return kOk;
}

const char* nvrtcGetErrorString(int32_t status) {
  static const char* const kNames[] = {
      "NVRTC_SUCCESS",
      "NVRTC_ERROR_OUT_OF_MEMORY",
      "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
      "NVRTC_ERROR_INVALID_INPUT",
      "NVRTC_ERROR_INVALID_PROGRAM",
      "NVRTC_ERROR_INVALID_OPTION",
      "NVRTC_ERROR_COMPILATION",
      "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
      "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
      "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
      "NVRTC_ERROR_INTERNAL_ERROR",
  };
  return status >= 0 && status <= 11 ? kNames[status] : "NVRTC_ERROR unknown";
}
